package repomap

import (
	"go/types"
	"testing"
)

func TestPredeclared(t *testing.T) {
	names := types.Universe.Names()
	for _, name := range names {
		if !predeclared[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if len(predeclared) != len(names) {
		t.Errorf("%d names, want %d", len(predeclared), len(names))
	}
}
