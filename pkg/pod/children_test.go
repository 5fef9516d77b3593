package pod_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// chain is a pod that spawns a pod that spawns a pod, which waits for a file.
func chain(parts ...scripted.Part) map[string]scripted.Handler {
	return map[string]scripted.Handler{
		"go":     steps(scripted.Say(spawn(`{"task":"middle"}`)), scripted.Say(scripted.Text("top is done"))),
		"middle": steps(scripted.Say(spawn(`{"task":"lowest"}`)), scripted.Say(scripted.Text("middle is done"))),
		"lowest": steps(scripted.Say(parts...), scripted.Say(scripted.Text("lowest is done"))),
	}
}

// waits is a command that runs until the file go exists, and leaves a mark.
var waits = shell("echo x >> ran; while [ ! -e go ]; do sleep 0.01; done")

// marked waits until a command has begun.
func (h *house) marked() {
	h.t.Helper()
	// The file exists before its content is written.
	for !h.exists("ran") || h.read("ran") == "" {
		if h.t.Context().Err() != nil {
			h.t.Fatal("the command has not begun")
		}
	}
}

// outcomes are those of the only turns of the sub-pods.
func (h *house) outcomes() []item.Outcome {
	h.t.Helper()
	var out []item.Outcome
	for _, p := range h.pods() {
		ends := h.ends(p.ID)
		if len(ends) != 1 {
			h.t.Errorf("pod %s has %d ends", p.Name, len(ends))
		}
		for _, end := range ends {
			out = append(out, end.Outcome)
		}
	}
	return out
}

// Cancelling a pod cancels its sub-pods, all the way down, before it ends itself.
func TestCancelReachesAll(t *testing.T) {
	h := spawning(t, 2, chain(waits))
	s := h.submit("go")
	h.marked()
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
		t.Error(cancelled, err)
	}
	if got := h.outcomes(); !slices.Equal(got, []item.Outcome{item.OutcomeCancelled, item.OutcomeCancelled}) {
		t.Errorf("outcomes %v", got)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeCancelled {
		t.Errorf("end %+v", end)
	}
	if r := results(h.log())[0]; !r.IsError || !strings.Contains(r.Summary, "did not finish (cancelled)") || !strings.Contains(r.Summary, "enough") {
		t.Errorf("result %+v", r)
	}
}

// A waiting task is withdrawn with the call, and one that a person withdraws from the
// inbox ends the call. On a full disk podd retries the task's turn: one cancelled during
// the retries is stored as cancelled once there is space.
func TestTaskThatWaits(t *testing.T) {
	for name, end := range map[string]func(*house, item.Pod){
		"cancelled": func(h *house, _ item.Pod) {
			if _, _, err := h.host.Cancel(h.t.Context(), "p", "enough"); err != nil {
				h.t.Error(err)
			}
		},
		"withdrawn": func(h *house, child item.Pod) {
			waiting, err := h.host.Inbox(h.t.Context(), child.ID)
			if err != nil || len(waiting) != 1 {
				h.t.Fatal(waiting, err)
			}
			for {
				err = h.host.Withdraw(h.t.Context(), child.ID, waiting[0].RequestID)
				if item.ReasonOf(err) != "TAKEN" { // As during the retries.
					break
				}
			}
			if err != nil {
				h.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var f faulty
			h := spawning(t, 1, map[string]scripted.Handler{"go": steps(scripted.Say(spawn(`{"task":"child"}`)))},
				func(c *options) { f.Store, c.Store = c.Store, &f })
			p, err := h.host.Get(t.Context(), "p")
			if err != nil {
				t.Fatal(err)
			}
			f.set(func(b store.Batch) error {
				if b.Pod != p.ID && holds[item.TurnStarted](b) {
					return errFull
				}
				return nil
			})
			s := h.submit("go")
			for {
				if pods := h.pods(); len(pods) == 1 && pods[0].Status.State == item.StateWaiting {
					end(h, pods[0])
					break
				}
			}
			if got := h.ended(s); name == "cancelled" && got.Outcome != item.OutcomeCancelled || name == "withdrawn" && got.Outcome != item.OutcomeFinished {
				t.Errorf("end %+v", got)
			}
			r := results(h.log())
			tried := len(r) == 1 && name == "cancelled" && strings.Contains(r[0].Summary, "there is no space to store that yet")
			if len(r) != 1 || !r[0].IsError || !tried && !strings.Contains(r[0].Summary, "taken out of its inbox") {
				t.Errorf("results %+v", r)
			}
			f.set(nil)
			if tried {
				h.awaitPod(h.only().ID, func(p item.Pod) bool { return p.Status.State == item.StateIdle })
			}
			if child := h.only(); child.Queued != 0 || child.Status.Turn != 0 && !tried || child.Status.Usage.Requests > 0 {
				t.Errorf("child %+v", child)
			}
		})
	}
}

// A sub-pod that no call waits for any more, because its parent has lost the tool, is
// cancelled when the parent's turn ends.
func TestNobodyWaits(t *testing.T) {
	h := spawning(t, 2, map[string]scripted.Handler{
		"go":    steps(scripted.Say(spawn(`{"task":"child"}`)), scripted.Say(scripted.Text("done"))),
		"child": func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(waits) },
	})
	s := h.submit("go")
	h.marked()
	h.close()
	// As if another version of podd did not have the tool.
	h.inStore(func(s store.Store) error {
		p, err := s.Pod(t.Context(), "p")
		if err != nil {
			return err
		}
		p.Spec.SubPods = 0
		return s.UpdateSpec(t.Context(), p.ID, p.Spec)
	})
	h.open()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	child := h.only()
	h.awaitPod(child.ID, func(p item.Pod) bool { return p.Status.State == item.StateIdle })
	if got := h.outcomes(); !slices.Equal(got, []item.Outcome{item.OutcomeCancelled}) {
		t.Errorf("outcomes %v", got)
	}
}

// After a podd that ended between the end of a turn and that of the turn it waited for,
// neither continues.
func TestNobodyWaitsAfterARestart(t *testing.T) {
	h := spawning(t, 1, map[string]scripted.Handler{
		"go":    steps(scripted.Say(spawn(`{"task":"child"}`))),
		"child": func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(waits) },
	})
	h.submit("go")
	h.marked()
	before := items(h.log())
	call := before[len(before)-1].(item.ToolCall)
	h.close()
	h.inStore(func(s store.Store) error {
		p, err := s.Pod(t.Context(), "p")
		if err != nil {
			return err
		}
		epoch, err := s.Claim(t.Context(), p.ID)
		if err != nil {
			return err
		}
		b := store.Batch{Pod: p.ID, Epoch: epoch, Status: &item.PodStatus{State: item.StateIdle, Turn: 1}}
		result := item.ToolResult{CallID: call.CallID, Tool: call.Name, Output: item.Output{Summary: "its end is not known", IsError: true}}
		b.Entries = []item.Entry{
			{Time: time.Now(), Turn: 1, Kind: item.ItemAdded{Item: result}},
			{Time: time.Now(), Turn: 1, Kind: item.TurnEnded{Outcome: item.OutcomeInterrupted, Reason: "CUT"}},
		}
		_, err = s.Append(t.Context(), b)
		return err
	})
	h.open()
	child := h.only()
	h.awaitPod(child.ID, func(p item.Pod) bool { return p.Status.State == item.StateIdle })
	if got := h.outcomes(); !slices.Equal(got, []item.Outcome{item.OutcomeCancelled}) {
		t.Errorf("outcomes %v", got)
	}
}

// inStore changes the store of a stopped podd.
func (h *house) inStore(do func(store.Store) error) {
	h.t.Helper()
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(h.state, "podd.db")})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := errors.Join(do(s), s.Close()); err != nil {
		h.t.Fatal(err)
	}
}

// However podd stops, each turn resumes after the restart, no second sub-pod is spawned,
// none gets its task twice, and the answers arrive.
func TestSpawnedPodsSurviveRestarts(t *testing.T) {
	for name, stop := range map[string]func(*house){
		"at once": (*house).close,
		"in good order": func(h *house) {
			h.drain()
			if err := h.store.Close(); err != nil {
				h.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := spawning(t, 2, chain(waits))
			s := h.submit("go")
			h.marked()
			stop(h)
			h.write("go", "")
			h.open()
			if end := h.ended(s); end.Outcome != item.OutcomeFinished {
				t.Errorf("end %+v", end)
			}
			if got := h.outcomes(); !slices.Equal(got, []item.Outcome{item.OutcomeFinished, item.OutcomeFinished}) {
				t.Errorf("outcomes %v", got)
			}
			if r := results(h.log()); len(r) != 1 || r[0].IsError || r[0].Content != "middle is done" {
				t.Errorf("results %+v", r)
			}
			if h.read("ran") != "x\n" {
				t.Errorf("the command ran: %q", h.read("ran"))
			}
		})
	}
}

// drain stops podd in good order while commands wait for the file go.
func (h *house) drain() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		h.host.Close(context.Background())
	}()
	h.write("go", "")
	<-closed
}

// If podd's store fails between two steps of a call, the call stays where it was: a pod
// without a task gets it now, and one that has it continues.
func TestSpawnCutShort(t *testing.T) {
	dead := item.Errorf(item.KindUnavailable, "STORE_FAILED", "the outcome of a commit is unknown")
	for name, tt := range map[string]struct {
		dies func(store.Batch) bool
	}{
		"without a task":   {func(b store.Batch) bool { return b.Admit != nil && strings.HasPrefix(b.Admit.ID, "spawn-") }},
		"before the claim": {func(b store.Batch) bool { return holds[item.TurnStarted](b) && len(b.Dequeue) > 0 }},
		"before its end":   {func(b store.Batch) bool { return holds[item.TurnEnded](b) }},
	} {
		t.Run(name, func(t *testing.T) {
			var f faulty
			h := spawning(t, 1, map[string]scripted.Handler{"go": steps(scripted.Say(spawn(`{"task":"child"}`)), scripted.Say(scripted.Text("done")))},
				func(c *options) { f.Store, c.Store = c.Store, &f })
			p, err := h.host.Get(t.Context(), "p")
			if err != nil {
				t.Fatal(err)
			}
			refused := make(chan struct{}, 1)
			died := false
			f.set(func(b store.Batch) error {
				f.mu.Lock()
				defer f.mu.Unlock()
				if died = died || b.Pod != p.ID && tt.dies(b); !died {
					return nil
				}
				select {
				case refused <- struct{}{}:
				default:
				}
				return dead
			})
			s := h.submit("go")
			<-refused
			h.close()
			f.set(nil)
			h.open()
			if end := h.ended(s); end.Outcome != item.OutcomeFinished {
				t.Errorf("end %+v", end)
			}
			if r := results(h.log()); len(r) != 1 || !strings.Contains(r[0].Summary, "finished") || len(h.pods()) != 1 {
				t.Errorf("results %+v, pods %+v", r, h.pods())
			}
		})
	}
}

// A sub-pod that has its task keeps it, even if the task would be refused by now: it is
// not submitted again, and no work is lost.
func TestTaskIsGivenOnce(t *testing.T) {
	most := 1000
	h := spawning(t, 1, map[string]scripted.Handler{
		"go":     steps(usageOf(100, 0, spawn(`{"task":"child: do what takes long"}`)), scripted.Say(scripted.Text("thanks"))),
		"child:": steps(usageOf(1000, 0, waits), usageOf(1000, 0, scripted.Text("done"))),
	}, func(c *options) { c.MaxSubmitBytes = most })
	s := h.submit("go")
	h.marked()
	before := h.only()
	h.close()
	most = 5
	h.write("go", "")
	h.open()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || end.Usage.Input < 2100 {
		t.Errorf("end %+v", end)
	}
	if after := h.only(); after.ID != before.ID {
		t.Errorf("pod %+v, before %+v", after, before)
	}
	if r := results(h.log()); len(r) != 1 || r[0].IsError || r[0].Content != "done" || h.read("ran") != "x\n" {
		t.Errorf("results %+v", r)
	}
}

// A sub-pod that can't get its task is removed, unless its log has something else.
func TestPodWithoutATask(t *testing.T) {
	for name, touched := range map[string]bool{"empty": false, "with a note": true} {
		t.Run(name, func(t *testing.T) {
			var f faulty
			most := 1000
			h := spawning(t, 1, map[string]scripted.Handler{
				"go": steps(scripted.Say(spawn(`{"task":"child: do what takes long"}`)), scripted.Say(scripted.Text("well"))),
			}, func(c *options) { f.Store, c.Store, c.MaxSubmitBytes = c.Store, &f, most })
			refused := make(chan struct{}, 1)
			f.set(func(b store.Batch) error {
				if b.Admit == nil || !strings.HasPrefix(b.Admit.ID, "spawn-") {
					return nil
				}
				select {
				case refused <- struct{}{}:
				default:
				}
				return item.Errorf(item.KindUnavailable, "STORE_FAILED", "the outcome of a commit is unknown")
			})
			s := h.submit("go")
			<-refused
			if touched {
				h.noteFor(h.only().ID, item.Note{Text: "wait"})
			}
			h.close()
			f.set(nil)
			most = 5
			h.open()
			if end := h.ended(s); end.Outcome != item.OutcomeFinished {
				t.Errorf("end %+v", end)
			}
			if r := results(h.log()); len(r) != 1 || !r[0].IsError {
				t.Errorf("results %+v", r)
			}
			if left := h.pods(); len(left) > 0 != touched {
				t.Errorf("left %+v", left)
			}
		})
	}
}

// Deleting a pod deletes its sub-pods.
func TestDeleteReachesAll(t *testing.T) {
	h := spawning(t, 2, chain(waits))
	h.submit("go")
	h.marked()
	if err := h.host.Delete(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if all, err := h.host.List(t.Context(), ""); err != nil || len(all) > 0 {
		t.Errorf("left %+v, %v", all, err)
	}
}

// A deleted sub-pod gives a result, and the parent continues.
func TestDeletedWhileWaitedFor(t *testing.T) {
	h := spawning(t, 2, chain(waits))
	s := h.submit("go")
	h.marked()
	for _, p := range h.pods() {
		if top, err := h.host.Get(t.Context(), "p"); err == nil && p.Spec.Parent == top.ID {
			if err := h.host.Delete(t.Context(), p.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if r := results(h.log())[0]; !r.IsError || !strings.Contains(r.Summary, "was deleted") || len(h.pods()) > 0 {
		t.Errorf("result %+v", r)
	}
}

// A question of a sub-pod has the sub-pod's own name. The clock of the parent's turn stands
// still while the sub-pod waits for a person.
func TestSpawnedPodAsks(t *testing.T) {
	h := spawning(t, 1, map[string]scripted.Handler{
		"go":    steps(scripted.Say(spawn(`{"task":"child"}`)), scripted.Say(scripted.Text("done"))),
		"child": steps(scripted.Say(shell("touch ran")), scripted.Say(scripted.Text("ran"))),
	}, unsandboxed)
	s := h.submit("go")
	asked := h.asked(1)[0]
	if child := h.only(); asked.Pod != child.ID || asked.PodName != child.Name {
		t.Errorf("asked %+v", asked)
	}
	rests := make(chan struct{}, 1)
	unwatch, err := h.host.Family.Watch(t.Context(), "p", func(waits bool) {
		if waits {
			select {
			case rests <- struct{}{}:
			default:
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	<-rests
	unwatch()
	if _, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: asked.Pod, CallSeq: asked.CallSeq, Approve: true}); err != nil {
		t.Fatal(err)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || !h.exists("ran") {
		t.Errorf("end %+v", end)
	}
}

// A pause applies only to its pod; the sub-pods keep working.
func TestPauseIsForOne(t *testing.T) {
	h := spawning(t, 2, chain(waits))
	s := h.submit("go")
	h.marked()
	if _, err := h.host.Pause(t.Context(), "p", ""); err != nil {
		t.Fatal(err)
	}
	h.write("go", "")
	h.await(func(p item.Pod) bool { return p.Status.State == item.StatePaused })
	if got := h.outcomes(); !slices.Equal(got, []item.Outcome{item.OutcomeFinished, item.OutcomeFinished}) {
		t.Errorf("outcomes %v", got)
	}
	if _, err := h.host.Resume(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// A pod's directory that was replaced by a link since it was spawned is not opened.
func TestSwappedDirectory(t *testing.T) {
	h := spawning(t, 1, map[string]scripted.Handler{"go": steps(scripted.Say(spawn(`{"task":"child","dir":"sub"}`)))})
	sub := filepath.Join(h.dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	h.run("go")
	child := h.only()
	if err := os.Rename(sub, sub+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".", sub); err != nil {
		t.Fatal(err)
	}
	h.restart()
	submit := func() error {
		_, err := h.host.Submit(t.Context(), pod.Submit{Pod: child.ID, Segments: []item.Segment{item.TextSegment{Text: "again"}}})
		return err
	}
	wantError(t, submit(), item.KindInvalid, "BAD_DIR")
	if err := os.Remove(sub); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(sub+"2", sub); err != nil {
		t.Fatal(err)
	}
	if err := submit(); err != nil {
		t.Error(err)
	}
	h.awaitPod(child.ID, func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 2 })
	// Nor is one that its parent no longer has.
	other := t.TempDir()
	h.update(item.PodSpec{Dir: other, SubPods: 1})
	h.restart()
	wantError(t, submit(), item.KindPrecondition, "WIDER_THAN_PARENT")
	_, err := h.host.Update(t.Context(), child.ID, to(item.PodSpec{Dir: h.dir}))
	wantError(t, err, item.KindPrecondition, "WIDER_THAN_PARENT")
}

func (h *house) awaitPod(id string, want func(item.Pod) bool) {
	h.t.Helper()
	for {
		p, err := h.host.Get(h.t.Context(), id)
		if err != nil {
			h.t.Fatal(err)
		}
		if want(p) {
			return
		}
	}
}

// A follower of the parent sees what the sub-pod does, a line for each of its calls.
func TestProgressOfASpawnedPod(t *testing.T) {
	h := spawning(t, 1, map[string]scripted.Handler{
		"go":    steps(scripted.Say(spawn(`{"task":"child"}`))),
		"child": steps(scripted.Say(shell("true")), scripted.Say(waits)),
	})
	s := h.submit("go")
	h.marked()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var shown string
	for ev := range h.host.Logs.Stream(ctx, pod.StreamQuery{Pod: "p", Follow: true, Deltas: true}) {
		for _, d := range slices.Concat(ev.InFlight, ev.Deltas) {
			if d.Kind == item.DeltaToolOutput && d.Tool == "spawn_pod" {
				shown += d.Text
			}
		}
		if strings.Contains(shown, "while") {
			break
		}
	}
	name := h.only().Name
	lines := strings.Split(shown, "\n")
	if len(lines) < 3 || lines[0] != name+": got the task" || !strings.HasPrefix(lines[1], name+`: shell {"command":"true"`) {
		t.Errorf("shown %q", shown)
	}
	h.write("go", "")
	h.ended(s)
}
