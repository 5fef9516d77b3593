// Package web serves the page: files, and calls to podd. It adds no rights to a call, which
// carries the bearer of a device, which podd checks on its second socket. The package checks
// each request before, so that no other page of the browser reaches podd.
//
// Rank 5. Its goroutines are those of net/http and gRPC; Serve waits for them.
package web
