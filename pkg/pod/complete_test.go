package pod_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"podd/pkg/item"
)

func TestCompletePath(t *testing.T) {
	h := newHouse(t, steps())
	if err := os.MkdirAll(filepath.Join(h.dir, "cmd/podd"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write("cmd/podd/main.go", "")
	h.write("cmd/podd/many.go", "")
	if err := os.Symlink("loop", filepath.Join(h.dir, "loop")); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string][]string{
		"cm":                 {"cmd/"},
		"cmd/podd/ma":        {"cmd/podd/main.go"},
		"main":               {"cmd/podd/main.go"},
		h.dir + "/cmd/podd/": {h.dir + "/cmd/podd/main.go"},
		"/etc/pass":          nil,
	} {
		got, err := h.host.CompletePath(t.Context(), "p", prefix, 1)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("completing %q gives %q, %v; want %q", prefix, got, err, want)
		}
	}
	_, err := h.host.CompletePath(t.Context(), "p", "loop/", 0)
	wantError(t, err, item.KindPrecondition, "BAD_PATH")
	_, err = h.host.CompletePath(t.Context(), "none", "cm", 0)
	wantError(t, err, item.KindNotFound, "POD_NOT_FOUND")
	if log := h.log(); len(log) != 0 {
		t.Errorf("completing left entries: %v", log)
	}
}

// The error for a missing workspace is the same as for a submit.
func TestCompletePathWithoutWorkspace(t *testing.T) {
	h := newHouse(t, steps())
	if err := os.Rename(h.dir, h.dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	_, err := h.host.CompletePath(t.Context(), "p", "", 0)
	wantError(t, err, item.KindInvalid, "BAD_DIR")
}
