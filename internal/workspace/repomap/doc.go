// Package repomap makes a map of a repository: its definitions, the important ones first,
// within a budget.
//
// For Go a file's definitions come from go/parser, for each other language from one
// regular expression. Its references are the words in it that another file of the
// language defines. A file that uses a name votes for the file that defines it, and
// PageRank over these votes says which files matter. A definition's value is that of the
// votes for its name. Test files vote and receive no votes.
//
// So a map needs no build, no index and no grammar, and it makes mistakes: it does not
// tell apart two things with the same name, and outside of Go a word in a comment is a
// use. podd parses files that it does not trust, without cgo: tree-sitter needs cgo, and its
// port to Go can take gigabytes for a small file.
//
// The package is pure: the same files in the same order give the same map. It reads no
// files itself. A [Map] is for one goroutine.
package repomap
