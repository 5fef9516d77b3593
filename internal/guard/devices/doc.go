// Package devices decides what browsers may do: which are paired, with which scope, and which
// bearer is theirs.
//
// Rank 2. It starts no goroutine.
package devices
