// Package secrets keeps secrets out of what podd stores, shows and passes on. It knows
// podd's own values (keys, the client token) and the forms of well-known secrets, and
// replaces them by "[redacted]", keys of endpoints by "[key of NAME]".
//
// This stops accidents: a key in an error, a token in a listing. It does not stop a
// program that means to leak a secret, because the program can write it in any other
// form. The sandbox does that: it keeps secrets from being read.
//
// Prompts and arguments of calls stay as written: what runs is what is shown. A key that podd
// learns later stays in older entries.
//
// Text is redacted once, before it is stored. It is not redacted when it is read again,
// so that a log always gives the same request, whatever secrets podd knows by then. A
// redaction changes text within an item and never removes one.
//
// A [Set] may be used from any goroutine. A [Stream] is for one.
package secrets
