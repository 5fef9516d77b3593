// Package bridge relays podd's API over two pipes: each line of JSON is a request, an
// answer or an event. It is for editors and other programs that can start a process more
// easily than speak gRPC. docs/clients.md describes the protocol.
//
// It translates and keeps connections open; it stores nothing about pods. The methods are
// the calls of podd.v1; their parameters and results are the messages in protobuf's JSON.
// It adds streams that outlive podd, whether podd is up, what a pod is doing and which of
// its calls wait, and the pod of a directory.
//
// Rank 6. One goroutine reads, one writes, and each request and each stream has its own.
// Each of these holds at most one line and there is no queue, so a slow reader delays
// requests and streams but costs no memory.
package bridge
