// Package extern makes interceptors and hooks of commands: [[interceptor]] and
// [[hook]] in config.toml. A command gets an event as one JSON object on standard
// input, in the workspace of the pod; an interceptor answers with a verdict as one
// JSON object on standard output, or with its exit status. docs/extensions.md has the
// schema, whose version is Version.
//
// A command runs for one event, with an environment that is listed, for at most its
// timeout. It is ended with all that it started. Whatever else goes wrong, a podd that
// asks it gets a verdict: the one that on_failure names.
//
// A Runner and what it makes may be used from any goroutine. It owns the commands and
// nothing of what they decide.
package extern
