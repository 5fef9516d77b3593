// Package store keeps what podd must not lose: pod records, the append-only log of each
// pod, its inbox, the admitted request ids, and the alerts of all pods. Store is the
// contract, package storetest its conformance suite, Bolt the implementation on one bbolt
// file.
//
// # Concurrency
//
// Any method may be called from any goroutine. One goroutine writes: it drains a
// queue into one transaction, so that pods share a sync. It writes at once when it
// is idle and collects while a sync is in progress. The caller encodes and computes
// checksums. Readers copy a bounded page inside a read transaction, end it and return; no
// transaction stays open during I/O or between two calls.
//
// # Entries
//
// An entry is the same bytes on disk and on the wire: a stream forwards them without
// decoding them. The caller encodes an entry without its sequence, so that encoding delays no
// other pod, and the writer, which alone knows the sequence, prepends it. Entries with an
// alert are encoded in the transaction, which alone knows the alert's number. So the log is
// the API: stored entries stay readable forever, and make generate-check compares the
// protocol with a baseline.
//
// # What it refuses to do
//
// It never changes an entry of a log, deletes one only with its pod or by Purge, never
// repairs a damaged record, never deletes a damaged file, and answers no call after a commit
// of unknown outcome.
//
// # Schema
//
// Version 5. Keys are text or 8-byte big-endian numbers (SEQ); POD is a pod's id,
// · one zero byte. Everything that an append changes is in a few shared pages: one leaf of
// the pod's log, one leaf each of logs and heads.
//
//	podd.db
//	├── meta
//	│   ├── format            "podd"
//	│   ├── version           the schema's version, 4 bytes
//	│   ├── id                the database's id, the same as in podd.id
//	│   └── left              where its pods were migrated to; no podd opens it any more
//	├── names
//	│   └── NAME              POD
//	├── pods
//	│   └── POD               sealed podd.v1.Pod: id, name, spec, time of creation
//	├── heads
//	│   └── POD               sealed head: epoch 8, first 8, last 8, queued 4,
//	│                         requests 4, last activity 8+4, then a podd.v1.Pod
//	│                         with only the status
//	├── trash
//	│   └── POD               sealed: time of deletion 8+4, then the id of the pod that it
//	│                         was deleted with, often its own
//	├── trashheads
//	│   └── POD               what heads had
//	├── logs
//	│   └── POD               a bucket for each pod
//	│       └── SEQ           record: checksum 4, podd.v1.Entry
//	├── inbox
//	│   └── POD·SEQ           nothing; the entry is in the log
//	├── requests
//	│   └── POD·REQUEST       sealed request: digest 32, seq 8, queued 1
//	├── admitted
//	│   └── POD·SEQ           REQUEST; the order in which requests are forgotten
//	├── alerts                the bucket's sequence is the last alert's
//	│   └── SEQ               sealed podd.v1.Alert
//	├── podalerts
//	│   └── POD·SEQ           nothing; the alert is in alerts
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
//	│   └── POD               record of the mark that is the first entry of a purged
//	│                         log
//	├── bases
//	│   └── POD               sealed base: last SEQ that it folds, 8, then the fold
//	├── images
//	│   └── DIGEST            the bytes of an image; DIGEST is their SHA-256
//	└── imageuses
//	    └── POD·SEQ DIGEST    nothing; the record SEQ in the log of POD refers to the image
//
// Each log is a tree of its own, although one tree for all would write fewer pages, so that
// a damaged page affects only one pod. podalerts is an index because deleting a pod and
// listing its alerts must not scan the alerts of all others.
//
// # Forks
//
// A fork's bucket in logs has only its own records; earlier ones stay where they were
// written. The bucket of a deleted pod stays, trimmed to the needed records, while it has
// sharers. sharers repeats the lineages by owner, so that deleting a pod need not read all
// lineages.
//
// # Trash
//
// A pod in the trash has no head and no name, so that nothing finds it, and everything else
// that it had, except for its base. A head in trashheads needs its records as one in heads.
//
// # Purges
//
// A purge moves the first sequence of a log in one transaction and then removes unneeded
// records step by step. Records below the first sequence, which a fork needs or a crash left
// behind, are no longer part of the log. The mark is stored separately because a fork may
// share the record with its sequence.
//
// # Bases
//
// A base is the fold of a pod's log up to an entry: a shortcut that never differs from the
// log. A rewind to before its end, or a purge, would make it wrong and removes it in the same
// transaction. Without a base, the log is read.
//
// # Images
//
// Images are stored once for all pods. A record and its uses of images are written in one
// transaction and removed in one, and with the last use of an image its bytes. imageuses names
// the log that has the record, so that forks need no uses of their own.
//
// # Checksums
//
// All are CRC32-C, 4 bytes, big-endian, in front of the data that they protect; a log's
// record and each value called sealed have one. They cover the key as well as the bytes,
// so that a value under a wrong key is damaged too.
//
//	sealed  bucket · key · body
//	record  POD · entry without its sequence, then SEQ
//
// A record's sequence is covered last because it is known last: the caller sums
// the entry, the writer adds eight bytes.
//
// A wrong checksum is KindDataLoss, reason DAMAGED, only for the data that it protects.
// bbolt itself protects only its two meta pages: a damaged page of its tree is caught as a
// panic or a fault and reported in the same way.
//
// # Versions
//
// The version counts changes of this tree: 2 brought chains and moved,
// lineages and sharers, and purges, 3 bases, 4 images. A file of an older version is migrated
// when it is opened, one transaction for each step; one of a newer version is
// refused. A new field of a stored message does not need a new version.
package store
