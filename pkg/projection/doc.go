// Package projection says what a model request carries: a pure function of a pod's
// log. The same log gives the same request, and a longer log gives a request that
// extends the one before.
//
// It reads no clock and does no I/O.
package projection
