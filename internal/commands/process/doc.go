// Package process owns trees of processes: a command and all that it started, held,
// measured, and ended as one.
//
// A command leads a session of its own. On Linux what left that session (setsid, a
// double fork) is found too, by a mark in the environment, and what cleared that as well
// once it was seen: below the leader, or before it left. Not found is what lost its
// session, mark and parents before; elsewhere than on Linux, what left the process group.
// What runs as another user is found and cannot be ended.
//
// Start starts one goroutine a tree, which ends with the tree's leader. The methods of
// a Tree may be called from any goroutine.
package process
