package fleet_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"podd/internal/fleet"
	"podd/pkg/item"
	"podd/pkg/store"
)

// Nodes that open a shared directory at once agree on its id, which stays.
func TestOpenShare(t *testing.T) {
	dir := t.TempDir()
	const n = 32
	got := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			share, err := fleet.OpenShare(dir)
			if err != nil {
				t.Error(err)
			}
			got[i] = share
		})
	}
	wg.Wait()
	for _, share := range got {
		if share != got[0] {
			t.Fatalf("two nodes got %q and %q", share, got[0])
		}
	}
	if id, at := store.SplitShare(got[0]); len(id) < 16 || at != dir {
		t.Errorf("the share is %q", got[0])
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if share, err := fleet.OpenShare(link); err != nil || share != got[0] {
		t.Errorf("by a symbolic link: %q, %v", share, err)
	}
}

// What is no id of a shared directory is refused, also a pipe, which has no end.
func TestBadShare(t *testing.T) {
	for what, make := range map[string]func(file string) error{
		"a damaged id":    func(file string) error { return os.WriteFile(file, []byte("short"), 0o600) },
		"a long file":     func(file string) error { return os.WriteFile(file, []byte(strings.Repeat("A", 1000)), 0o600) },
		"a pipe":          func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"a symbolic link": func(file string) error { return os.Symlink("/etc/hostname", file) },
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, store.ShareFile)); err != nil {
			t.Fatal(err)
		}
		if _, err := fleet.OpenShare(dir); item.ReasonOf(err) != "NODE_SHARED" || !strings.Contains(err.Error(), store.ShareFile) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := fleet.OpenShare(filepath.Join(t.TempDir(), "nowhere")); item.ReasonOf(err) != "NODE_SHARED" || !strings.Contains(err.Error(), "nowhere can't be opened (no such file or directory): mount it") {
		t.Errorf("no directory: %v", err)
	}
}
