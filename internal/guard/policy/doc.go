// Package policy decides whether a tool call may run, must ask a person or must not run:
// by the mode, by rules about tools, paths and commands, and by the caller's description
// of the call. Each verdict has a sentence that names the rule.
//
// Among the matching rules deny precedes ask and ask precedes allow, whatever their order
// and origin; without a match the mode decides. The three read a shell line differently.
// A rule that allows reads the line literally: every command of it must be plain words,
// the same to bash and to a POSIX shell, and each must match. A rule that denies or asks
// matches a command anywhere in the line. If the line names that command in other words,
// or hides what runs, podd cannot be sure, and the call asks. A command rule never allows
// a line that fails to parse.
//
// A rule that denies is advice, because hundreds of programs run another program. The lists of
// this package name harmless programs, and an unlisted one asks, so that a gap fails safely. The
// cost: a line that quotes a denied command for an unlisted program asks once more than needed.
//
// Rules are about words, not about what programs do with them. They do not confine: the
// sandbox and the scope do. The package does not know the file system either: it gets
// paths as they are named and as they resolve.
//
// Rank 1: pure, it imports pkg/item for its errors; it is the home of mvdan.cc/sh. A
// Policy does not change after New and is safe for concurrent use.
package policy
