package checkout_test

import (
	"os"
	"path/filepath"
	"testing"

	"podd/internal/workspace/checkout"
	"podd/pkg/item"
)

// A landing that git cannot end takes back what it did.
func TestLandTakesFilesBack(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is read-only to root")
	}
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "p"})
	b.write(r.Dir(), "a.txt", "of the agent\n")
	b.write(r.Dir(), "new/made", "by the agent\n")
	for _, change := range []func() error{
		func() error { return os.Remove(filepath.Join(r.Dir(), "sub/b.txt")) },
		func() error {
			return os.WriteFile(filepath.Join(r.Dir(), "sub/b.txt"), []byte("of the agent\n"), 0o600)
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(b.repo, "sub")
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		before := b.was()
		_, err := b.all.Land(t.Context(), r, "", "")
		if item.ReasonOf(err) != "LOCAL_CHANGES" || b.was() != before {
			t.Errorf("land: %v: before\n%s\nafter\n%s", err, before, b.was())
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.all.Land(t.Context(), r, "", ""); err != nil || b.read(b.repo, "sub/b.txt") != "of the agent\n" || b.git(b.repo, "status", "--porcelain") != "" {
		t.Errorf("land later: %v", err)
	}
}
