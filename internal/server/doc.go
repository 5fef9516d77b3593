// Package server serves podd's gRPC API over a Unix socket. Its handlers translate between
// the wire and pkg/pod and decide nothing. auth.go authenticates calls; intercept.go handles
// panics and translates errors.
package server
