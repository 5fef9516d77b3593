// Package store keeps what podd may not forget: pod records, the append-only log
// of each pod, its inbox, the request ids that were admitted, and the alerts of
// all pods. Store is the contract, package storetest its conformance suite, Bolt
// the implementation on one bbolt file.
//
// # Concurrency
//
// Any method may be called from any goroutine. One goroutine writes: it drains a
// queue into one transaction, so that pods share a sync. It writes at once when it
// is idle and collects while a sync is under way. Encoding and checksums are the
// caller's work. Readers copy a bounded page inside a read transaction, end it and
// return; no transaction is held over I/O, or across two calls.
//
// # What it refuses to do
//
// It never changes an entry of a log, deletes one only with its pod or by Purge, never repairs a damaged record,
// never deletes a damaged file, and answers nothing after a commit of unknown
// outcome.
//
// # Schema
//
// Version 3. Keys are text or 8-byte big-endian numbers (SEQ); POD is a pod's id,
// · one zero byte. Everything that an append changes lies in few, shared pages:
// one leaf of the pod's log, one leaf each of logs and heads.
//
//	podd.db
//	├── meta
//	│   ├── format            "podd"
//	│   ├── version           the schema's version, 4 bytes
//	│   └── id                the database's id, as podd.id beside the file has it
//	├── names
//	│   └── NAME              POD
//	├── pods
//	│   └── POD               sealed podd.v1.Pod: id, name, spec, time of creation
//	├── heads
//	│   └── POD               sealed head: epoch 8, first 8, last 8, queued 4,
//	│                         requests 4, last activity 8+4, then a podd.v1.Pod
//	│                         that holds the status alone
//	├── logs
//	│   └── POD               a bucket for each pod
//	│       └── SEQ           record: checksum 4, podd.v1.Entry
//	├── inbox
//	│   └── POD·SEQ           nothing; the entry lies in the log
//	├── requests
//	│   └── POD·REQUEST       sealed request: digest 32, seq 8, queued 1
//	├── admitted
//	│   └── POD·SEQ           REQUEST; the order in which requests are forgotten
//	├── alerts                the bucket's sequence is the last alert's
//	│   └── SEQ               sealed podd.v1.Alert
//	├── podalerts
//	│   └── POD·SEQ           nothing; the alert lies in alerts
//	├── chains
//	│   └── NAME              SEQ of the newest of equal alerts; NAME is 16 bytes of the
//	│                         SHA-256 of what is equal
//	├── moved
//	│   └── SEQ               the next SEQ of an alert that was raised again
//	├── lineages
//	│   └── POD               sealed lineage of a fork, oldest first: for each part of
//	│                         its log that it shares the last SEQ, the length (varint)
//	│                         and the id of the pod whose log has it
//	├── sharers
//	│   └── POD·FORK          sealed last SEQ of POD's own records that FORK needs
//	├── purges
//	│   └── POD               record of the mark that stands in the first place of a
//	│                         purged log
//	└── bases
//	    └── POD               sealed base: last SEQ that it folds, 8, then the fold
//
// Each log is a tree of its own, though one tree for all would write fewer pages: a
// damaged page then harms one pod. podalerts is an index, not a scan, because
// deleting a pod and listing its alerts must not cost a walk over the alerts of all
// others.
//
// # Forks
//
// A fork's bucket in logs has its own records alone; those before lie where they were
// written. The bucket of a deleted pod stays, cut to what is needed, while it has
// sharers. sharers repeats what the lineages say, by owner, so that deleting a pod
// must not read all lineages.
//
// # Purges
//
// A purge moves the first sequence of a log in one transaction and then removes what
// nobody needs any more, step by step; records below the first that a fork needs, or
// that a crash left, are not the log's any more. The mark lies apart because the slot
// of its sequence may hold what a fork shares.
//
// # Bases
//
// A base is what a pod's log folds into up to an entry: a shorter way to what the log says,
// which never says anything else. What would make it untrue, a rewind that reaches
// behind it or a purge, removes it in its own transaction. Who finds none reads the log.
//
// # Checksums
//
// All are CRC32-C, 4 bytes, big-endian, in front of what they guard; a log's
// record and each value called sealed have one. They cover the place as well as
// the bytes, so that a value that is found under another key is damaged too.
//
//	sealed  bucket · key · body
//	record  POD · entry without its sequence, then SEQ
//
// A record's sequence is covered last because it is known last: the caller sums
// the entry, the writer adds eight bytes.
//
// A wrong checksum is KindDataLoss, reason DAMAGED, for what it guards and nothing
// else. bbolt itself guards its two meta pages only: a damaged page of its tree is
// caught as a panic or a fault and reported in the same way.
//
// # Versions
//
// The version counts changes of this tree: 2 brought chains and moved,
// lineages and sharers, and purges, 3 bases. A file of an older version is migrated
// when it is opened, one transaction for each step; one of a newer version is
// refused. A new field of a stored message is no new version.
package store
