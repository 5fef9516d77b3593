package server

import "google.golang.org/grpc/metadata"

// NewFor is a server for the user with the id owner and with room for so many
// connections.
func NewFor(c Config, owner, conns int) *Server {
	return newServer(c, admission{owner: owner, token: c.Token}, conns)
}

// Listed says in which of the two lists of calls a method stands.
func Listed(method string) (open, token bool) { return openCalls[method], tokenCalls[method] }

// EmptyTokenOpens says whether a server that was given no token accepts the empty
// one.
func EmptyTokenOpens() bool {
	return admission{}.checkToken(metadata.Pairs("authorization", "Bearer ")) == nil
}

// AnsweredBy is how a client that calls itself so is named as the one who answered.
func AnsweredBy(client string) string { return answeredBy(client, localUser()) }
