// Package repomap makes a map of a repository: its definitions, the important ones
// first, within a budget.
//
// A file's definitions come from go/parser for Go and from one regular expression a
// language elsewhere; its references are the words in it that another file of the
// language defines. A file that uses a name votes for the file that defines it, and
// PageRank over these votes says which files matter; a definition is worth what the
// votes for its name bring. Files for tests vote and are not voted for.
//
// So a map needs no build, no index and no grammar, and it errs: two things of one
// name count as one, and outside of Go a word in a comment counts as a use.
//
// The package is pure: same files in the same order, same map. It reads nothing
// itself. A [Map] is for one goroutine.
package repomap
