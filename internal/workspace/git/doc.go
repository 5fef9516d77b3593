// Package git holds what podd knows of git without running it: where the repositories of
// a directory are, what git executes or obeys there, and what a git command changes.
//
// podd reads repositories that anyone may have written. It follows no pipe and no device,
// reads a bounded part of each file, and takes what it finds as a list of paths to hold
// back, never as a permission.
//
// Rank 0: it imports nothing of podd.
package git
