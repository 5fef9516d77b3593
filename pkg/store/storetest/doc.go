// Package storetest is the conformance suite of store.Store. An implementation
// runs it from a test of its own:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(dir string) (store.Store, error) { ... })
//	}
//
// Each check states, above its function, the invariant that it holds, and says no
// more about a store than the interface does: how fast it is, what its files look
// like and what a damaged one does are tests of the implementation.
//
// A check reports through T, which is a part of testing.TB, so that a suite over a
// store that is broken on purpose can be run and seen to fail: see Recorder.
package storetest
