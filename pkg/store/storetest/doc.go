// Package storetest is the conformance suite of store.Store. An implementation runs it
// from a test:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(dir string) (store.Store, error) { ... })
//	}
//
// The comment of each check states its invariant. A check requires no more of a store
// than the interface does: its speed, its files and its behaviour when damaged are for
// tests of the implementation.
//
// A check reports through T, which is a part of testing.TB, so that a test can run a
// check on a deliberately broken store and see it fail: see Recorder.
package storetest
