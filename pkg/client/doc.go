// Package client is podd's Go client: it connects to podd's Unix socket, submits prompts,
// and reads streams that resume after a lost connection or a restart of podd.
//
// It is thin. The generated service clients are available as Client.Pods and similar
// methods. This package adds the client token to the calls that need it, and turns errors
// into podd's vocabulary: every error of podd or of the connection is an *item.Error whose
// message is a sentence for people. The first call connects, not New.
//
// Rank 5: it imports proto/podd/v1, pkg/wire and pkg/paths, but neither store nor
// model. A Client may be used from any goroutine.
package client
