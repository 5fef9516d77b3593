// Package filelimit knows the limit of open files that this process began with. Go raises the soft limit to the
// hard one while package syscall is initialised, and os/exec gives commands the earlier one. Package enter starts
// commands without os/exec.
//
// It imports nothing, so it is initialised before package syscall: Go initialises packages in the order of their
// import paths, each once all that it imports is (https://go.dev/ref/spec#Program_initialization).
//
// Rank 0: it imports nothing of podd.
package filelimit
