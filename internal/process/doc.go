// Package process owns trees of processes: a command and all that it started, held,
// measured, and ended as one.
//
// A command leads a session of its own. On Linux what left that session (setsid, a
// double fork) is found too, by a mark in the environment. Not found is what left the
// session and also changed its environment, and what runs as another user; elsewhere
// than on Linux, what left the process group.
//
// Start starts one goroutine a tree, which ends with the tree's leader. The methods of
// a Tree may be called from any goroutine.
package process
