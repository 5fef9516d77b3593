// Package web serves the page: files, and calls to podd. A Parent keeps the listener and starts
// a confined Child, which alone reads what browsers send. It adds no rights to a call, which
// carries the bearer of a device, which podd checks on its second socket. The child checks
// each request before, so that no other page of the browser reaches podd.
//
// The page is a process of its own because the code that parses what strangers send is taken
// over first. With the client token or the checks there, one mistake would give all of podd.
// podd checks bearer, scope and call in one table, and refuses a call that the table does not
// have. There are no cookies, which a browser sends for any page that asks, and no password,
// which can be guessed. A browser is paired on loopback too: any page and program reaches a
// port there. No scope creates pods or adds rules: a tap on a stolen phone would outlive its
// revocation.
//
// The child gets its connection to podd from the parent, as a descriptor, and the parent starts
// another child when one ends. The filter of system calls lists what answering needs and answers
// the rest with an error, so that a new version of Go that tries another call goes on. There are
// no namespaces around the child, because many systems forbid them.
//
// Rank 5. Its goroutines are those of net/http and gRPC, and those that wait for a child; Serve
// waits for them.
package web
