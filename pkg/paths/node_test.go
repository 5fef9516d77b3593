package paths_test

import (
	"os"
	"path/filepath"
	"testing"

	"podd/pkg/item"
	"podd/pkg/paths"
)

// A podd keeps its id, and does not replace a damaged one.
func TestEnsureNode(t *testing.T) {
	dir := t.TempDir()
	first, err := paths.EnsureNode(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := paths.EnsureNode(dir); err != nil || again != first {
		t.Errorf("then %q, %v, want %q", again, err, first)
	}
	if err := os.WriteFile(filepath.Join(dir, "podd.node"), []byte("x y"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := paths.EnsureNode(dir); item.ReasonOf(err) != "NODE_ID" {
		t.Errorf("a damaged id: %v", err)
	}
}
