// Package postgres is a store.Store in a PostgreSQL database.
//
// # What is written when a call returns
//
// A call that writes returns once PostgreSQL has said that the transaction is committed. Open
// refuses a server on which that would not mean "on disk": one with fsync, full_page_writes
// or synchronous_commit off. If a standby becomes the primary, it may lack the newest
// transactions unless replication is synchronous.
//
// # One writer
//
// The row of a pod in heads orders its writers. A change of a log names the epoch and the last
// sequence that it continues, and changes nothing if the row has others. What concerns
// several pods (a fork, a purge, the trash, a deletion) takes one lock that all podd of the
// database share.
//
// # Unknown outcomes
//
// If the connection breaks between a commit and its answer, Append waits until the database
// answers again. It then raises the fence of the pod in heads, which keeps a
// transaction that is still on its way from being written, reads from the head which batch was
// the last, and writes its own again if that is another. A call that could not send anything fails with the reason STORE_AWAY.
//
// # Schema
//
// The tables are in schema.sql. Records of entries, pods and alerts have the form that package
// store describes, with the same checksums.
package postgres
