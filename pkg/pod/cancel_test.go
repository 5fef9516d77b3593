package pod_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
)

// away is a podd restarted while the directory dir of the workspace, "" for all of it, is
// missing. back restores it.
func (h *house) away(dir string) (back func()) {
	h.t.Helper()
	h.close()
	path := filepath.Join(h.dir, dir)
	if err := os.Rename(path, path+"-gone"); err != nil {
		h.t.Fatal(err)
	}
	h.open()
	return func() {
		h.t.Helper()
		if err := os.Rename(path+"-gone", path); err != nil {
			h.t.Fatal(err)
		}
	}
}

// cannotGoOn waits until a pod reports that it can't continue.
func (h *house) cannotGoOn(id string) {
	h.t.Helper()
	h.awaitPod(id, func(p item.Pod) bool {
		return p.Status.State == item.StateWaiting && strings.HasPrefix(p.Status.Reason, "blocked")
	})
}

// newStuck is a house whose pod has an open turn, with a running command, and can't
// continue: the workspace is gone.
func newStuck(t *testing.T) (h *house, s pod.Submitted, back func()) {
	h = newHouse(t, steps(scripted.Say(scripted.Text("hm, hm"), waits), scripted.Say(scripted.Text("done"))))
	s = h.submit("go")
	h.marked()
	back = h.away("")
	h.cannotGoOn("p")
	return h, s, back
}

// An open turn that can't continue can be cancelled: it gets its end, its running
// commands end, and it never continues.
func TestCancelOfATurnThatCannotGoOn(t *testing.T) {
	h, s, back := newStuck(t)
	turn, cancelled, err := h.host.Cancel(t.Context(), "p", "enough")
	if turn != 1 || !cancelled || err != nil {
		t.Fatal(turn, cancelled, err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	if r := results(h.log()); len(r) != 1 || !strings.HasPrefix(r[0].Summary, "shell: echo x >> ran") {
		t.Errorf("what became of the command was not asked: %+v", r)
	}
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.State != item.StateIdle {
		t.Errorf("pod %+v, %v", p.Status, err)
	}
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", ""); cancelled || err != nil {
		t.Errorf("cancelled again: %v, %v", cancelled, err)
	}
	back()
	h.restart()
	if end := h.run("next"); end.Outcome != item.OutcomeFinished {
		t.Errorf("next end %+v", end)
	}
	if n := len(kinds[item.Recovered](h.log())); n != 0 {
		t.Errorf("the turn went on %d times", n)
	}
}

// A cancel of such a turn is effective even while its end can't be stored.
func TestCancelOfATurnThatCannotGoOnWithoutSpace(t *testing.T) {
	var f faulty
	h := newHouse(t, steps(scripted.Say(waits)), func(c *options) { f.Store, c.Store = c.Store, &f })
	s := h.submit("go")
	h.marked()
	defer h.away("")()
	h.cannotGoOn("p")
	f.set(func(store.Batch) error { return errFull })
	turn, cancelled, err := h.host.Cancel(t.Context(), "p", "enough")
	wantError(t, err, item.KindExhausted, "NO_SPACE")
	if turn != 1 || !cancelled {
		t.Errorf("turn %d, cancelled %v", turn, cancelled)
	}
	f.set(nil)
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
}

// A turn that fails each time before it continues can be cancelled, too.
func TestCancelOfATurnThatFailsAtItsStart(t *testing.T) {
	fails := false
	h := newHouse(t, steps(scripted.Say(waits)), func(c *options) {
		c.Project = func(string) workspace.Project {
			return workspace.Project{Tools: func(context.Context, bool) []tool.Tool {
				if fails {
					panic("boom")
				}
				return nil
			}}
		}
	})
	s := h.submit("go")
	h.marked()
	h.close()
	fails = true
	h.open()
	h.cannotGoOn("p")
	if turn, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); turn != 1 || !cancelled || err != nil {
		t.Fatal(turn, cancelled, err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
}

// A pod whose turn can't continue can be rewound: the turn is cancelled first. An entry
// that history can't continue from changes nothing.
func TestRewindOfATurnThatCannotGoOn(t *testing.T) {
	h, s, back := newStuck(t)
	_, err := h.host.Rewind(t.Context(), "p", 999)
	wantError(t, err, item.KindOutOfRange, "BEYOND_END")
	if n := len(kinds[item.TurnEnded](h.log())); n != 0 {
		t.Errorf("the turn has %d ends", n)
	}
	if _, err := h.host.Rewind(t.Context(), "p", s.Seq); err != nil {
		t.Fatal(err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "rewound to #1")
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.State != item.StateIdle {
		t.Errorf("pod %+v, %v", p.Status, err)
	}
	back()
	h.write("go", "")
	h.restart()
	h.run("next")
	if body := h.body(len(h.model.Requests())); strings.Count(body, "hm, hm") != 1 {
		t.Errorf("the next request has what was taken back: %s", body)
	}
}

// A sub-pod that can't continue is cancelled with the call that waits for it, and its
// caller is billed for it, whether or not the caller itself can continue.
func TestCancelReachesWhatCannotGoOn(t *testing.T) {
	for name, gone := range map[string]string{"the caller works": "sub", "nor can the caller": ""} {
		t.Run(name, func(t *testing.T) {
			h := spawning(t, 1, map[string]scripted.Handler{
				"go":    steps(usageOf(100, 0, spawn(`{"task":"child","dir":"sub"}`)), scripted.Say(scripted.Text("thanks"))),
				"child": steps(usageOf(1000, 0, shell("echo x >> ../sub/ran; while [ ! -e ../sub/go ]; do sleep 0.01; done")), scripted.Say(scripted.Text("done"))),
			})
			if err := os.Mkdir(filepath.Join(h.dir, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			s := h.submit("go")
			for h.read("sub/ran") == "" {
				if t.Context().Err() != nil {
					t.Fatal("the command has not begun")
				}
			}
			child := h.only()
			back := h.away(gone)
			h.cannotGoOn(child.ID)
			if gone == "" {
				h.cannotGoOn("p")
			} else {
				h.recovered(1)
			}
			if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
				t.Error(cancelled, err)
			}
			if end := h.ended(s); end.Outcome != item.OutcomeCancelled || end.Usage.Input != 1100 {
				t.Errorf("end %+v", end)
			}
			if r := results(h.log()); len(r) != 1 || !strings.Contains(r[0].Summary, "did not finish (cancelled)") {
				t.Errorf("results %+v", r)
			}
			back()
			h.restart()
			if got := h.outcomes(); len(got) != 1 || got[0] != item.OutcomeCancelled {
				t.Errorf("outcomes %v", got)
			}
		})
	}
}
