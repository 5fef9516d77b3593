// Package fleet is the wing of podd that shares pods among the podd of one database: who is there, which node has a pod, calls
// that one node sends on to another, and moves of pods.
//
// A pod belongs to one node, which alone claims, changes and deletes it; the others read the database and send calls there, by
// one table (routes). Its workspace, commands and trust are on one machine, and one owner keeps streams, approvals and budgets
// in one process. The lease of a node says whether others may expect an answer; what guards a pod is the epoch of its claim.
// There is no proxy before all podd: it would need to know their pods.
//
// A nil Fleet is a podd that has its store alone: it sends nothing on, and its methods do nothing. Who may append to a log is
// not decided here: the store refuses a node that has lost the lease or the pod (internal/fleet/postgres).
//
// A pod is movable if all its directories lie below one shared directory, which has a random id
// in a file: nodes with the same id at the same path can take it over. The share of a pod follows
// from its directories, so that the two cannot contradict each other. A family moves as one. A
// node that finds another away fences it by emptying its nodes.start in one UPDATE, if lease and
// beat are those that it saw. The transaction locks the row, so that a restart of that node comes
// before or after. A node without movable pods is not fenced: no other could own its pods.
//
// A notice between nodes says only that something changed, and the last alert. Whoever follows a
// pod of another node reads on after each notice, and at least once a second.
//
// A node trusts a certificate of the configured authority that names a node of the database.
// Calls travel over TLS 1.3 as they came in; the node where a client entered has checked its
// user and token.
package fleet
