package pod_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/store"
)

// untold refuses to store that the end of a sub-pod was told.
func untold(b store.Batch) error {
	if slices.ContainsFunc(b.Entries, func(e item.Entry) bool { k, _ := e.Kind.(item.WingEntry); return k.Name == "ended" }) {
		return errFull
	}
	return nil
}

// An end that podd could not tell is told once the parent is loaded again, whatever became of the sub-pod and of the parent
// meanwhile.
func TestBackgroundToldLater(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*house, item.Pod) error
		want      string
	}{
		"restarted": {func(h *house, _ item.Pod) error { h.restart(); return nil }, "finished: 1 step"},
		"parent restored": {func(h *house, _ item.Pod) error {
			_, err := h.trash.Discard(h.t.Context(), "p")
			h.restart()
			if err == nil {
				_, err = h.trash.Restore(h.t.Context(), "p", "")
			}
			return err
		}, "finished: 1 step"},
		"sub-pod deleted for good": {func(h *house, p item.Pod) error {
			err := h.host.Delete(h.t.Context(), p.ID)
			h.restart()
			return err
		}, "did not finish (cancelled): it was deleted"},
		"sub-pod damaged": {func(h *house, _ item.Pod) error { h.damage("it is so"); return nil }, "did not finish (failed): "},
	} {
		t.Run(name, func(t *testing.T) {
			f := new(faulty)
			h := spawning(t, 1, map[string]scripted.Handler{
				"go":    steps(scripted.Say(spawn(`{"task":"child","background":true}`)), scripted.Say(scripted.Text("later"))),
				"child": steps(scripted.Say(scripted.Text("it is so"))),
			}, func(c *options) { f.Store, c.Store, c.trashFor = c.Store, f, time.Hour })
			f.set(untold)
			h.run("go")
			child := h.only()
			for e := range h.followPod(t.Context(), child.ID, 0) {
				if _, ok := e.Kind.(item.TurnEnded); ok {
					break
				}
			}
			if err := c.meanwhile(h, child); err != nil {
				t.Fatal(err)
			}
			f.set(nil)
			for e := range h.follow(t.Context(), 0) {
				if n, ok := e.Kind.(item.Note); ok {
					if !strings.Contains(n.Text, c.want) {
						t.Errorf("letter %q", n.Text)
					}
					if n.Wake {
						h.readsLetters(1)
					}
					break
				}
			}
			h.restart()
			if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.Pending != 0 {
				t.Errorf("pod %+v, %v", p.Status, err)
			}
			if _, ended, letters := endsOf(h.log()); ended[child.ID] != 1 || letters[child.ID] != 1 {
				t.Errorf("told %d times, in %d letters", ended[child.ID], letters[child.ID])
			}
			if err := h.host.Delete(t.Context(), "p"); err != nil { // The damaged log can't be verified.
				t.Error(err)
			}
		})
	}
}

// wait_for ends although the disk was full for a moment when podd stored the end.
func TestWaitForAnEndToldLater(t *testing.T) {
	release := make(chan struct{})
	f := new(faulty)
	h := spawning(t, 1, map[string]scripted.Handler{
		"go": steps(scripted.Say(spawn(`{"task":"child","background":true}`)), scripted.Say(waitFor(`{}`)), scripted.Say(scripted.Text("done"))),
		"child": func(context.Context, scripted.Request) scripted.Reply {
			return scripted.Say(scripted.Wait(release), scripted.Text("it is so"))
		},
	}, func(c *options) { f.Store, c.Store = c.Store, f })
	var once sync.Once
	f.set(func(b store.Batch) (err error) {
		if full := untold(b); full != nil {
			once.Do(func() { err = full })
		}
		return err
	})
	s := h.submit("go")
	h.waitsIn(1)
	close(release)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if got := h.letters("p"); len(got) != 1 {
		t.Errorf("letters %q", got)
	}
}

// A fork is told nothing of the sub-pods of its source, and waits for none.
func TestBackgroundOfAFork(t *testing.T) {
	release := make(chan struct{})
	h := spawning(t, 1, map[string]scripted.Handler{
		"go": steps(scripted.Say(spawn(`{"task":"child","background":true}`)), scripted.Say(scripted.Text("later"))),
		"child": func(context.Context, scripted.Request) scripted.Reply {
			return scripted.Say(scripted.Wait(release), scripted.Text("done"))
		},
	})
	h.run("go")
	child := h.only()
	if _, err := h.host.Fork(t.Context(), "p", "copy", 0); err != nil {
		t.Fatal(err)
	}
	h.restart()
	for e := range h.followPod(t.Context(), "copy", 0) {
		if k, ok := e.Kind.(item.WingEntry); ok && k.Done > 0 {
			break
		}
	}
	close(release)
	h.readsLetters(1)
	if got := h.letters("copy"); len(got) > 0 {
		t.Errorf("letters %q about %s", got, child.Name)
	}
}
