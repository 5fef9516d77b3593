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
func AnsweredBy(client string) string { return answeredBy(client, LocalUser()) }

// Scarce is scarce.
var Scarce = scarce
