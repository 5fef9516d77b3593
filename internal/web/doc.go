// Package web serves the page: files, and calls to podd. A Parent keeps the listener and starts
// a confined Child, which alone reads what browsers send. It adds no rights to a call, which
// carries the bearer of a device, which podd checks on its second socket. The child checks
// each request before, so that no other page of the browser reaches podd.
//
// The child gets its connection to podd from the parent, as a descriptor, and the parent starts
// another child when one ends. The filter of system calls lists what answering needs and answers
// the rest with an error, so that a new version of Go that tries another call goes on. There are
// no namespaces around the child, because many systems forbid them.
//
// Rank 5. Its goroutines are those of net/http and gRPC, and those that wait for a child; Serve
// waits for them.
package web
