// Package exchange sends requests of models over HTTP and reads the answers as streams,
// for every adapter: connections, server-sent events, time limits, classes of errors, how
// long to wait, and the default model. It knows no wire format: an adapter sends through
// its SDK and decodes messages.
//
// # Time
//
// An endpoint has FirstByteTimeout to begin and IdleTimeout between two reads of an
// answer that streams; any byte counts, a comment too.
package exchange
