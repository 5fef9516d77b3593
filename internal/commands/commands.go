// Package commands has the source of the packages below it, by which podd and podd-launch
// know that they were built from the same.
//
// Rank 0: it imports nothing of podd.
package commands

import "embed"

// Source has the source files of the packages below this one.
//
//go:embed */*.go
var Source embed.FS
