package item_test

import (
	"testing"

	"podd/pkg/item"
)

func TestReduction(t *testing.T) {
	for _, c := range []struct {
		total, kept int64
		want        int
	}{{0, 0, 0}, {100, 100, 0}, {100, 0, 100}, {1000, 1, 99}, {3, 1, 66}, {1 << 62, 1 << 61, 50}} {
		if got := (item.Cut{TotalBytes: c.total, KeptBytes: c.kept}).Reduction(); got != c.want {
			t.Errorf("%d of %d kept: %d, want %d", c.kept, c.total, got, c.want)
		}
	}
}
