// Package paths owns podd's places: which socket, state directory and
// configuration file are meant, that their directories are private, that one podd
// alone holds them, and the client token.
//
// StateDir, Socket and ConfigFile are pure but for the working directory, so podd
// and podctl find the same places. The errors are item.Errors: KindInvalid for a
// place that cannot be one, KindDenied for another user's, KindPrecondition for
// one that is not usable now, KindUnauthenticated for a token that is missing or
// unfit.
//
// Rank 1: it imports pkg/item alone. All functions are safe for concurrent use.
package paths
