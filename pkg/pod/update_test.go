package pod_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// An update checks only what it changes. It ignores a missing root and a workspace that
// has moved behind a link, and does not wait for the running turn because of them.
func TestUpdateLeavesTheRest(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	h := newHouse(t, func(context.Context, scripted.Request) scripted.Reply {
		close(asked)
		return scripted.Say(scripted.Wait(release), scripted.Text("done"))
	})
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, root, link := filepath.Join(base, "work"), filepath.Join(base, "root"), filepath.Join(base, "link")
	for _, dir := range []string{work, root} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("root", link); err != nil {
		t.Fatal(err)
	}
	update := func(change func(*item.PodSpec)) (item.PodSpec, error) {
		p, err := h.host.Update(t.Context(), "p", func(spec item.PodSpec) (item.PodSpec, error) {
			change(&spec)
			return spec, nil
		})
		return p.Spec, err
	}
	wantSpec := func(spec item.PodSpec, err error) {
		t.Helper()
		if err != nil || spec.Dir != work || !slices.Equal(spec.Read, []string{root}) {
			t.Errorf("spec %+v, %v", spec, err)
		}
	}
	given := []string{link}
	wantSpec(update(func(spec *item.PodSpec) { spec.Dir, spec.Read = work, given }))
	if given[0] != link {
		t.Errorf("what was given was changed to %q", given)
	}

	s := h.submit("go")
	<-asked
	if err := os.Rename(work, filepath.Join(base, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("moved", work); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	wantSpec(update(func(spec *item.PodSpec) { spec.Limits.MaxCost = 5 }))
	_, err = update(func(spec *item.PodSpec) { spec.Read = []string{root, base} })
	wantError(t, err, item.KindInvalid, "BAD_DIR")
	_, err = update(func(spec *item.PodSpec) { spec.Write = []string{link} })
	wantError(t, err, item.KindInvalid, "BAD_DIR")
	close(release)
	h.ended(s)
	// The same path for another purpose is checked, and the workspace keeps its own.
	spec, err := update(func(spec *item.PodSpec) { spec.Write = []string{work} })
	wantSpec(spec, err)
	if moved := filepath.Join(base, "moved"); !slices.Equal(spec.Write, []string{moved}) {
		t.Errorf("write roots %q, want %q", spec.Write, moved)
	}
}
