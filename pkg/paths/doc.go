// Package paths owns podd's places: it finds the socket, the state directory and the
// configuration file, ensures that their directories are private and used by only one podd,
// and manages the client token.
//
// StateDir, Socket and ConfigFile depend only on their arguments and the working directory,
// so podd and podctl find the same places. The errors are item.Errors: KindInvalid for an
// impossible path, KindDenied for one that belongs to another user, KindPrecondition for one
// that cannot be used now, KindUnauthenticated for a missing or unusable token.
//
// Rank 1: it imports only pkg/item. All functions are safe for concurrent use.
package paths
