// Package secrets keeps secrets out of what podd stores, shows and hands on. It knows
// the values that podd itself was given (keys, the client token) and the forms that
// well-known secrets have, and puts "[redacted]" in their place.
//
// This stops accidents: a key in an error, a token in a listing. It does not stop a
// program that means to carry a secret out, which can write it in any other form; that
// is the sandbox's work, which keeps secrets from being read.
//
// What is redacted is redacted before it is stored, once. Nothing is redacted when it
// is read again, so that a log gives the same request at any time, whatever secrets
// podd knows by then. A redaction changes text within an item and never removes one.
//
// A [Set] may be used from any goroutine. A [Stream] is for one.
package secrets
