// Package wire is the one conversion between podd's vocabulary (pkg/item) and its
// messages (proto/podd/v1), and between errors and gRPC status. The same messages
// are stored and sent: an entry's stored bytes are what a stream forwards.
//
// Text may come from a model, a tool or a file and need not be valid UTF-8, which
// protobuf refuses. Each string on its way to a message has its invalid bytes
// replaced by U+FFFD; nothing else changes, except that an empty list comes back as
// nil and a time in UTC.
//
// All functions are pure and safe for concurrent use.
package wire
