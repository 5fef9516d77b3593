package pod_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

// A directory that was moved away and recreated is the pod's workspace from the next turn
// on.
func TestWorkspaceThatWasReplaced(t *testing.T) {
	write := scripted.Call{Name: "write_file", Arguments: `{"path":"made.txt","content":"by the pod"}`}
	h := newHouse(t, steps(scripted.Say(write), scripted.Say(scripted.Text("first")), scripted.Say(write), scripted.Say(scripted.Text("second"))))
	h.run("one")
	old := h.dir + "-old"
	if err := os.Rename(h.dir, old); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(old) })
	if err := os.Mkdir(h.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(old, "made.txt")); err != nil {
		t.Fatal(err)
	}
	if end := h.run("two"); end.Outcome != item.OutcomeFinished {
		t.Fatalf("end %+v", end)
	}
	if got := h.read("made.txt"); got != "by the pod" {
		t.Errorf("the new directory has %q", got)
	}
	if _, err := os.Stat(filepath.Join(old, "made.txt")); err == nil {
		t.Error("the pod wrote into the directory that was moved away")
	}
}

// A submit to a pod whose directory is gone is refused, and the error says how to give
// the pod another one.
func TestWorkspaceThatIsGone(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(scripted.Text("first"))))
	h.run("one")
	if err := os.Rename(h.dir, h.dir+"-gone"); err != nil {
		t.Fatal(err)
	}
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "two"}}})
	wantError(t, err, item.KindInvalid, "BAD_DIR")
	if !strings.Contains(err.Error(), "podctl update p ") {
		t.Errorf("no way out: %v", err)
	}
	if err := os.Rename(h.dir+"-gone", h.dir); err != nil {
		t.Fatal(err)
	}
	if end := h.run("two"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}
