// Package policy decides whether a tool call may run, must ask a person or must
// not run: by the mode, by rules over tools, paths and commands, and by what the
// caller says of the call. Each verdict has a sentence that names the rule.
//
// Among the rules that match, deny goes before ask and ask before allow, wherever
// they stand and whoever wrote them; without one the mode decides. The three look
// at a shell line from different sides. A rule that allows takes the line
// literally: every command of it must be plain words, the same to bash and to a
// POSIX shell, and each must match. A rule that denies or asks matches a command that
// stands in the line. Where the line names that command in other words, or hides what
// runs, podd cannot tell, and the call asks. What fails to parse is never allowed by a
// command rule.
//
// Rules are about words, not about what programs do with them, and no confinement:
// that is the sandbox's and the scope's business. Nor does the package know a
// file system: paths come as they are named and as they resolve.
//
// Rank 1: pure, it imports pkg/item for its errors; it is the home of mvdan.cc/sh.
// A Policy does not change after New and is safe for concurrent use.
package policy
