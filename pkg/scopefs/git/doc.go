// Package git has what podd knows about git without running it: where the repositories of
// a directory are, what git executes or obeys there, and what a git command changes.
//
// podd reads repositories that anyone may have written. It follows no pipe and no device,
// and reads a bounded part of each file. It uses the result as a list of paths to
// protect, never as a permission.
//
// Rank 0: it imports nothing of podd.
package git
