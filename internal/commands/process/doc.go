// Package process owns trees of processes: a command and everything that it started,
// tracked, measured and ended as one.
//
// A command leads its own session. On Linux the package also finds processes that left
// that session (setsid, a double fork), by a mark in the environment. It finds those that
// cleared the mark as well if it saw them earlier: below the leader, or before they left.
// It does not find a process that lost its session, mark and parents before that; on
// other systems, one that left the process group. It finds processes of another user but
// cannot end them.
//
// Start starts one goroutine per tree, which ends with the tree's leader. The methods of
// a Tree may be called from any goroutine.
package process
