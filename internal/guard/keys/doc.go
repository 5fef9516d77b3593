// Package keys puts the key of a model endpoint, and its further headers, on requests. It
// knows where the key is from, how long it counts, and tries another one once when the
// endpoint refuses it.
//
// A [Ring] may be used from any goroutine. It starts no goroutine that outlives a call.
package keys
