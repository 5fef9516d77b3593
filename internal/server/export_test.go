package server

import "google.golang.org/grpc/metadata"

// NewFor is a server for the user with the id owner that accepts the given number of
// connections.
func NewFor(c Config, owner, conns int) *Server {
	return newServer(c, admission{owner: owner, token: c.Token}, conns)
}

// Listed says in which of the two lists of calls a method is.
func Listed(method string) (open, token bool) { return openCalls[method], tokenCalls[method] }

// EmptyTokenOpens says whether a server without a token accepts the empty one.
func EmptyTokenOpens() bool {
	return admission{}.checkToken(metadata.Pairs("authorization", "Bearer ")) == nil
}

// AnsweredBy is the recorded name of a client that answers under this name.
func AnsweredBy(client string) string { return answeredBy(client, localUser()) }

// Routed says whether a call is sent to another node, and the pod that a request names.
func Routed(method string, req any) (routed bool, pod string) {
	to, ok := routes[method]
	return ok && to != here, podOf(req)
}

// Scarce is scarce.
var Scarce = scarce
