package daemon

import "testing"

// Memory is returned once after work, when no turn runs, and not for the little that a
// resting podd allocates.
func TestRestsOnceAfterWork(t *testing.T) {
	var w work
	const mb = 1 << 20
	for i, look := range []struct {
		running   bool
		allocated uint64
		want      bool
	}{
		{false, 1 * mb, false},
		{true, 5 * mb, false},
		{true, 30 * mb, false},
		{false, 40 * mb, false},
		{false, 40*mb + 1000, false},
		{true, 40*mb + 1000, false},
		{false, 40*mb + 1000, false},
		{false, 40*mb + 1000, false},
		{false, 40*mb + 1000, true},
		{false, 40*mb + 2000, false},
		{false, 41 * mb, false},
		{true, 47 * mb, false},
		{false, 47 * mb, false},
		{false, 47 * mb, false},
		{false, 47 * mb, false},
		{false, 49 * mb, false},
		{false, 49 * mb, false},
		{false, 49 * mb, false},
		{false, 49 * mb, true},
	} {
		if got := w.rests(look.running, look.allocated); got != look.want {
			t.Errorf("look %d: %v", i, got)
		}
	}
}
