// Package exchange sends requests of models over HTTP and reads the answers as streams,
// for every adapter: connections, server-sent events, time limits, classes of errors, how
// long to wait, and the default model. It knows no wire format: an adapter names the
// path and the headers, and decodes messages.
//
// # Time
//
// An endpoint has FirstByteTimeout to begin and IdleTimeout between two reads of an
// answer that streams; any byte counts, a comment too. Behind a complete answer it has five
// seconds, whatever it sends.
//
// # What arrives
//
// Headers are often wrong, so the bytes decide: whether a body is compressed, and whether it is a
// stream, JSON or a page. A message outside the answer keeps the connection alive, or
// states an error, which has many shapes.
package exchange
