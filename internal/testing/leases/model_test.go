package leases

import "testing"

// In all interleavings of claims, writes, renewals, fences, moves, takeovers, stops and kills, only the node that has a pod writes, once it
// has read all that is stored, and takes a pod with a lease of its own from a node without one.
func TestModelOfLeases(t *testing.T) {
	states, wrong := explore(0, "")
	if len(wrong) > 0 {
		t.Error(wrong)
	}
	t.Logf("%d states of %d nodes and %d pods, up to their order", states, modelNodes, modelPods)
}

// The model finds each mistake in the protocol.
func TestSlipsInTheModelOfLeases(t *testing.T) {
	for s, c := range slips {
		if _, wrong := explore(s, c.breaks); !wrong[c.breaks] {
			t.Errorf("%s: %v, want %q", c.is, wrong, c.breaks)
		}
	}
}
