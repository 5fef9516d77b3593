// Package fleet is the wing of podd that shares pods among the podd of one database: who is there, which node has a pod, calls
// that one node sends on to another, and moves of pods.
//
// A nil Fleet is a podd that has its store alone: it sends nothing on, and its methods do nothing. Who may append to a log is
// not decided here: the store refuses a node that has lost the lease or the pod (internal/fleet/postgres).
//
// A node trusts a certificate of the configured authority that names a node of the database.
// Calls travel over TLS 1.3 as they came in; the node where a client entered has checked its
// user and token.
package fleet
