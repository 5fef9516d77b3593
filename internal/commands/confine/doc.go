// Package confine lets a process confine itself and become a command: by Landlock, a feature
// of the kernel that refuses what is not allowed, and by a filter of system calls.
// Answer confines a process that goes on.
//
// It imports little, because a helper starts for each command in a Landlock sandbox: what a package does before
// main runs would be part of every command's time.
//
// Rank 0: it imports nothing of podd.
package confine
