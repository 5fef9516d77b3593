// Package server serves podd's gRPC API over a Unix socket. Its handlers translate
// between the wire and pkg/pod and decide nothing; what a connection must show is
// in auth.go, what becomes of a panic and of an error in intercept.go.
package server
