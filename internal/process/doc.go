// Package process owns trees of processes: a command and all that it started, held,
// measured, and ended as one.
//
// A command leads a session of its own. On Linux what left that session (setsid, a
// double fork) is found too, by a mark in the environment, and what cleared that as well
// by its parents, once it was seen below them. Not found is what lost all three before it
// was seen, and what runs as another user; elsewhere than on Linux, what left the process
// group.
//
// Start starts one goroutine a tree, which ends with the tree's leader. The methods of
// a Tree may be called from any goroutine.
package process
