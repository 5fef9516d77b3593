// Package client talks to podd over its Unix socket: it dials, submits, and reads
// streams that go on where they were when the connection or podd itself comes and
// goes.
//
// It is thin. The generated service clients are at hand (Client.Pods and its kin);
// what this package adds to each call is the client token where it is needed and
// errors in podd's vocabulary: every error of podd or of the connection is an
// *item.Error whose message is a sentence for people. A connection is made at the
// first call, not by New.
//
// Rank 5: it knows proto/podd/v1, internal/wire and where things are, and neither
// store nor model. A Client may be used from any goroutine.
package client
