// Package extern runs commands as interceptors and hooks: [[interceptor]] and [[hook]] in
// config.toml. A command runs in the pod's workspace and gets an event as one JSON object on
// standard input. An interceptor answers with a verdict as one JSON object on standard
// output, or with its exit status. docs/extensions.md has the schema, whose version is
// Version.
//
// A command runs for one event, with an explicit environment, for at most its timeout, and
// is ended with everything that it started. If it gives no verdict, on_failure decides.
//
// A Runner and its interceptors and hooks may be used from any goroutine. It owns the
// commands, but decides nothing itself.
package extern
