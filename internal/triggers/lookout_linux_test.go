package triggers

import (
	"os"
	"path/filepath"
	"testing"

	"podd/pkg/item"
)

// The lookout reports a change once, and forgets a trigger that it no longer follows.
func TestLookout(t *testing.T) {
	poked := make(chan string, 100)
	l, end := lookoutOf(t, filepath.Join(t.TempDir(), "podd.db"), t.TempDir(), func(pod string) { poked <- pod })
	defer end()
	p := item.Pod{ID: "pod", Spec: item.PodSpec{Dir: t.TempDir()}}
	put(t, filepath.Join(p.Spec.Dir, "in", "a"), "one")
	f, blind, err := l.find(t.Context(), p, "t", "in/*", nil)
	if err != nil || len(f.prints) != 1 || blind {
		t.Fatalf("it finds %v, blind: %t, %v", f.prints, blind, err)
	}
	other := filepath.Join(t.TempDir(), "a")
	change := func() { // One event of the system.
		put(t, other, "two")
		must(t, os.Rename(other, filepath.Join(p.Spec.Dir, "in", "a")))
		<-poked
	}
	change()
	if !l.take("pod", "t") || l.take("pod", "t") {
		t.Error("a change is not told once")
	}
	change()
	l.unfollow("pod", "t")
	if len(l.watcher.dirs)+len(l.touched) > 0 {
		t.Errorf("it keeps %v and %v", l.watcher.dirs, l.touched)
	}
}
