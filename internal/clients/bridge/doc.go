// Package bridge speaks for podd on two pipes: a line of JSON is a request, an answer or
// something that happened. Editors and other programs that start processes more easily
// than they speak gRPC talk to podd through it. docs/bridge.md is the protocol.
//
// It translates and holds connections; it keeps nothing of pods. The methods are the
// calls of podd.v1, their parameters and results protobuf's JSON of the messages. What
// it adds: streams that outlive podd, whether podd is there, what a pod does and which of
// its calls wait, and the pod of a directory.
//
// Rank 6. One goroutine reads, one writes, each request and each stream has one of its
// own; nothing is queued but what these hold in their hands, so that a reader who is slow
// holds up the requests and streams, and costs no memory.
package bridge
