package pod_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// letters are the letters that joined a pod's conversation.
func (h *house) letters(name string) (all []string) {
	h.t.Helper()
	for _, it := range items(h.logOf(name)) {
		if m, ok := it.(item.SystemMessage); ok && m.Origin == item.OriginLetter {
			all = append(all, m.Text)
		}
	}
	return all
}

// read waits until p's conversation has n letters and its turn has ended.
func (h *house) readsLetters(n int) {
	h.t.Helper()
	for e := range h.follow(h.t.Context(), 0) {
		switch k := e.Kind.(type) {
		case item.ItemAdded:
			if m, ok := k.Item.(item.SystemMessage); ok && m.Origin == item.OriginLetter {
				n--
			}
		case item.TurnEnded:
			if n <= 0 {
				return
			}
		}
	}
	h.t.Fatal("the stream ended before")
}

// waitFor is a call of wait_for.
func waitFor(arguments string) scripted.Call {
	return scripted.Call{Name: "wait_for", Arguments: arguments}
}

// A sub-pod in the background works on when the turn that started it has ended. Its answer is a letter, which begins the
// next turn. Its bill is the pod's, and no turn's.
func TestBackground(t *testing.T) {
	release := make(chan struct{})
	h := spawning(t, 2, map[string]scripted.Handler{
		"go": steps(usageOf(100, 10, spawn(`{"task":"child: look","name":"look","background":true}`)), usageOf(200, 10, scripted.Text("later"))),
		"child:": func(context.Context, scripted.Request) scripted.Reply {
			return usageOf(1000, 100, scripted.Wait(release), scripted.Text("It says x."))
		},
	})
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || end.Usage.Input != 300 {
		t.Errorf("end %+v", end)
	}
	child := h.only()
	if r := results(h.log())[0]; r.IsError || r.Summary != "started "+child.Name || child.Spec.Parent == "" || child.Spec.ParentCall != "" {
		t.Errorf("result %+v of %+v", r, child)
	}
	close(release)
	h.readsLetters(1)
	got := h.letters("p")
	if len(got) != 1 || !strings.Contains(got[0], child.Name+" finished: 1 step, 0 tool calls, 1100 tokens") || !strings.Contains(got[0], "It says x.") {
		t.Errorf("letters %q", got)
	}
	ends := h.ends("p")
	p, err := h.host.Get(t.Context(), "p")
	if err != nil || len(ends) != 2 || ends[1].Usage.Requests != 1 || p.Status.Usage.Input != ends[0].Usage.Input+ends[1].Usage.Input+1000 {
		t.Errorf("ends %+v of %+v, %v", ends, p.Status, err)
	}
}

// Whatever is killed between two writes, the sub-pod gets its task once, and its end and its bill are told once.
func TestBackgroundKilledAtEachWrite(t *testing.T) {
	for n := 0; ; n++ {
		f := new(faulty)
		h := spawning(t, 1, map[string]scripted.Handler{
			"go":     steps(scripted.Say(spawn(`{"task":"child: look","background":true}`)), scripted.Say(scripted.Text("later"))),
			"child:": steps(usageOf(1000, 100, scripted.Text("It says x."))),
		}, func(c *options) { f.Store, c.Store = c.Store, f })
		h.submit("go")
		var mu sync.Mutex
		left, killed := n, make(chan struct{})
		f.set(func(store.Batch) error {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == -1 {
				close(killed)
			}
			if left < 0 {
				return errKilled
			}
			return nil
		})
		told := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(told)
			for e := range h.follow(ctx, 0) {
				if _, ok := e.Kind.(item.TurnEnded); ok && len(h.letters("p")) > 0 {
					return
				}
			}
		}()
		over := false
		select {
		case <-killed:
		case <-told:
			over = ctx.Err() == nil
		}
		cancel()
		<-told
		h.kill(f)
		h.settle()
		children := h.pods()
		tasks, told1 := 0, h.letters("p")
		for _, p := range children {
			for _, it := range items(h.logOf(p.ID)) {
				if _, ok := it.(item.UserMessage); ok {
					tasks++
				}
			}
		}
		bills := slices.DeleteFunc(kinds[item.RequestUsage](h.log()), func(u item.RequestUsage) bool { return u.Purpose != item.PurposeSubPod })
		if len(children) > 1 || tasks != len(children) || len(told1) != len(children) || len(bills) != len(children) {
			t.Errorf("killed at write %d: %d sub-pods, %d tasks, %d bills, letters %q", n, len(children), tasks, len(bills), told1)
		}
		if over {
			if n < 10 {
				t.Errorf("only %d writes", n)
			}
			return
		}
	}
}

// A sub-pod that was made, but that the parent's log does not name and podd could not remove, is removed once the parent is loaded again.
// One that no call made stays: a trigger makes its pod before it has a prompt for it.
func TestSubPodThatNoEntryNames(t *testing.T) {
	f := new(faulty)
	h := spawning(t, 1, map[string]scripted.Handler{
		"go": steps(scripted.Say(spawn(`{"task":"child: look","background":true}`)), scripted.Say(scripted.Text("well"))),
	}, func(c *options) { f.Store, c.Store = c.Store, f })
	f.onDelete = func() error { return errFull }
	f.set(func(b store.Batch) error {
		if slices.ContainsFunc(b.Entries, func(e item.Entry) bool { k, ok := e.Kind.(item.WingEntry); return ok && k.Name == "started" }) {
			return errFull
		}
		return nil
	})
	h.run("go")
	if left := h.pods(); len(left) != 1 || left[0].Last > 0 {
		t.Fatalf("the call left %+v, want one empty pod", left)
	}
	f.mu.Lock()
	f.onDelete = nil
	f.mu.Unlock()
	f.set(nil)
	own, err := h.host.Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	other, err := h.host.Spawn(t.Context(), "p-1", item.PodSpec{Dir: h.dir, Parent: own.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.restart()
	h.run("hello")
	for len(h.pods()) > 1 {
		changes := h.host.Changes()
		if len(h.pods()) == 1 {
			break
		}
		if err := h.host.Changed(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
	}
	h.restart()
	if left := h.pods(); len(left) != 1 || left[0].ID != other.ID {
		t.Errorf("left %+v, want %s", left, other.ID)
	}
}

// A sub-pod whose task cannot be stored ends without a letter, and never works: also if podd is killed at any write after that.
func TestWithoutATaskKilledAtEachWrite(t *testing.T) {
	for n := 0; ; n++ {
		f := new(faulty)
		h := spawning(t, 1, map[string]scripted.Handler{
			"go":     steps(scripted.Say(spawn(`{"task":"child: look","background":true}`)), scripted.Say(scripted.Text("well"))),
			"child:": steps(scripted.Say(scripted.Text("It says x."))),
		}, func(c *options) { f.Store, c.Store = c.Store, f })
		h.submit("go")
		var mu sync.Mutex
		refused, left, killed := false, n, make(chan struct{})
		write := func(task bool) error {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case !refused && task:
				refused = true
				return errFull
			case !refused:
				return nil
			}
			if left--; left == -1 {
				close(killed)
			}
			if left < 0 {
				return errKilled
			}
			return nil
		}
		f.onDelete = func() error { return write(false) }
		f.set(func(b store.Batch) error {
			return write(slices.ContainsFunc(b.Entries, func(e item.Entry) bool {
				s, ok := e.Kind.(item.Submitted)
				return ok && strings.HasPrefix(s.Text, "child:")
			}))
		})
		ended := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(ended)
			for e := range h.follow(ctx, 0) {
				if _, ok := e.Kind.(item.TurnEnded); ok {
					return
				}
			}
		}()
		over := false
		select {
		case <-killed:
		case <-ended:
			over = ctx.Err() == nil
		}
		cancel()
		<-ended
		h.kill(f)
		f.mu.Lock()
		f.onDelete = nil
		f.mu.Unlock()
		h.settles(func(int) bool {
			begun, told, _ := endsOf(h.log())
			return len(told) >= len(begun)
		})
		begun, told, letters := endsOf(h.log())
		for _, p := range h.pods() {
			if len(kinds[item.Submitted](h.logOf(p.ID))) != letters[p.ID] {
				t.Errorf("killed at write %d after the refusal: started %v, told %v, letters %v, results %+v", n, begun, told, letters, results(h.log()))
			}
		}
		if over {
			if n < 3 {
				t.Errorf("only %d writes", n)
			}
			return
		}
	}
}

// settle waits until p and its sub-pods have nothing to do, and each end was told.
func (h *house) settle() {
	h.t.Helper()
	h.settles(func(all int) bool { return len(h.letters("p")) >= all-1 })
}

// settles waits until p and its sub-pods, all of them, have nothing to do, and told says that each end was told.
func (h *house) settles(told func(all int) bool) {
	h.t.Helper()
	for {
		changes := h.host.Changes()
		all, err := h.host.List(h.t.Context(), "")
		if err != nil {
			h.t.Fatal(err)
		}
		busy := slices.ContainsFunc(all, func(p item.Pod) bool { return p.Status.State != item.StateIdle || p.Queued > 0 })
		if !busy && told(len(all)) {
			return
		}
		if err := h.host.Changed(h.t.Context(), changes); err != nil {
			h.t.Fatal(err)
		}
	}
}

// wait_for waits over a restart, for one or for all. It names who has ended, and who has not.
func TestWaitFor(t *testing.T) {
	fast, slow := make(chan struct{}), make(chan struct{})
	says := func(on chan struct{}) scripted.Handler {
		return func(context.Context, scripted.Request) scripted.Reply {
			return scripted.Say(scripted.Wait(on), scripted.Text("done"))
		}
	}
	h := spawning(t, 2, map[string]scripted.Handler{
		"go": steps(
			scripted.Say(spawn(`{"task":"fast","name":"fast","background":true}`), spawn(`{"task":"slow","name":"slow","background":true}`)),
			scripted.Say(waitFor(`{"any":true}`)), scripted.Say(waitFor(`{"max_seconds":1}`)),
			scripted.Say(waitFor(`{}`)), scripted.Say(waitFor(`{}`), waitFor(`{"pods":["nobody"]}`))),
		"fast": says(fast), "slow": says(slow),
	})
	s := h.submit("go")
	h.waitsIn(1)
	h.restart()
	close(fast)
	h.waitsIn(3)
	h.restart()
	close(slow)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	r := results(h.log())
	for i, want := range [][]string{
		2: {"ended: p-fast-", "(finished); their letters have the answers; at work: p-slow-"}, 3: {"wait_for: at work after 1 second: p-slow-"},
		4: {"ended: p-slow-"}, 5: {"no pod of yours works in the background"}, 6: {`you started no pod "nobody"`},
	} {
		for _, text := range want {
			if !strings.Contains(r[i].Summary, text) || r[i].IsError != (i == 6) {
				t.Errorf("result %d is %+v, want %q", i, r[i], text)
			}
		}
	}
	if got := h.letters("p"); len(got) != 2 {
		t.Errorf("letters %q", got)
	}
}

// waitsIn waits until p waits in its n-th call of wait_for.
func (h *house) waitsIn(n int) {
	h.t.Helper()
	call := ""
	says := func(d item.Delta) bool {
		return call != "" && d.CallID == call && strings.Contains(d.Text, "at work: ")
	}
	for ev, err := range h.host.Logs.Stream(h.t.Context(), pod.StreamQuery{Pod: "p", Follow: true, Deltas: true}) {
		if err != nil {
			h.t.Fatal(err)
		}
		if ev.Record != nil {
			if k, ok := h.decode(*ev.Record).Kind.(item.ToolStarted); ok && k.Tool == "wait_for" {
				if n--; n == 0 {
					call = k.CallID
				}
			}
		}
		if slices.ContainsFunc(slices.Concat(ev.Deltas, ev.InFlight), says) {
			return
		}
	}
}

// A cancelled turn leaves sub-pods in the background alone. The letter about one that a person cancels, deletes, or whose
// task a person withdraws wakes nobody, and wait_for ends.
func TestBackgroundEndedByAPerson(t *testing.T) {
	for name, end := range map[string]func(*house, item.Pod) error{
		"cancelled": func(h *house, p item.Pod) error {
			_, _, err := h.host.Cancel(h.t.Context(), p.ID, "enough")
			return err
		},
		"deleted": func(h *house, p item.Pod) error {
			_, err := h.trash.Discard(h.t.Context(), p.ID)
			return err
		},
		"deleted for good": func(h *house, p item.Pod) error { return h.host.Delete(h.t.Context(), p.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			never := make(chan struct{})
			defer close(never)
			h := spawning(t, 1, map[string]scripted.Handler{
				"go": steps(scripted.Say(spawn(`{"task":"child","background":true}`)), scripted.Say(waitFor(`{}`))),
				"child": func(context.Context, scripted.Request) scripted.Reply {
					return scripted.Say(scripted.Wait(never), scripted.Text("done"))
				},
			}, func(c *options) { c.trashFor = 1 << 50 })
			h.submit("go")
			h.waitsIn(1)
			h.awaitPod(h.only().ID, func(p item.Pod) bool { return p.Status.State == item.StateRunning })
			if _, cancelled, err := h.host.Cancel(t.Context(), "p", ""); !cancelled || err != nil {
				t.Fatal(cancelled, err)
			}
			child := h.only()
			if child.Status.State != item.StateRunning {
				t.Errorf("the sub-pod is %+v", child.Status)
			}
			if err := end(h, child); err != nil {
				t.Fatal(err)
			}
			for e := range h.follow(t.Context(), 0) {
				if n, ok := e.Kind.(item.Note); ok {
					if n.Wake || !strings.Contains(n.Text, child.Name+" did not finish (cancelled)") {
						t.Errorf("note %+v", n)
					}
					break
				}
			}
			if ends := h.ends("p"); len(ends) != 1 {
				t.Errorf("ends %+v", ends)
			}
		})
	}
}

// A sub-pod in the background keeps its share of what the pod has left until it ends: not more are given out than there
// is, and the pod stops before it uses it.
func TestBackgroundShare(t *testing.T) {
	release := make(chan struct{})
	h := spawning(t, 2, map[string]scripted.Handler{
		"go": steps(
			usageOf(900, 100, spawn(`{"task":"child 1","background":true}`)),
			usageOf(900, 100, spawn(`{"task":"child 2","max_tokens":90000,"background":true}`))),
		"child": func(context.Context, scripted.Request) scripted.Reply {
			return usageOf(500, 0, scripted.Wait(release), scripted.Text("done"))
		},
	})
	h.update(item.PodSpec{Dir: h.dir, SubPods: 2, Limits: item.PodLimits{TotalTokens: 100_000, MaxTokens: 20_000}})
	if end := h.run("go"); end.Outcome != item.OutcomeLimit || end.Reason != "TOTAL_TOKENS" || !strings.Contains(end.Cause, "keeps 98000 for sub-pods") {
		t.Errorf("end %+v", end)
	}
	var shares []string
	for _, p := range h.pods() {
		shares = append(shares, fmt.Sprint(p.Spec.Limits.TotalTokens, " ", p.Spec.Limits.MaxTokens))
	}
	slices.Sort(shares)
	// A third of what is left, and what is left then. A turn of theirs has the pod's limit on a turn.
	if want := []string{"33000 20000", "65000 20000"}; !slices.Equal(shares, want) {
		t.Errorf("shares %q, want %q", shares, want)
	}
	close(release)
	h.readsLetters(2)
	if end := h.run("again"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// Pods that wake each other stop: also when each turn only starts a sub-pod in the background.
func TestBackgroundLoop(t *testing.T) {
	h := spawning(t, 1, map[string]scripted.Handler{
		"go": func(_ context.Context, r scripted.Request) scripted.Reply {
			if r.Messages[len(r.Messages)-1].CallID != "" {
				return scripted.Say(scripted.Text("later"))
			}
			return scripted.Say(spawn(`{"task":"child","background":true}`))
		},
		"child": steps(scripted.Say(scripted.Text("done"))),
	})
	h.submit("go")
	refused := false
	for e := range h.follow(t.Context(), 0) {
		r := results([]item.Entry{e})
		refused = refused || len(r) > 0 && strings.Contains(r[0].Summary, "8 letters led to each other")
		if refused && ended(e) {
			break
		}
	}
	if n := len(h.pods()); n != 8 {
		t.Errorf("%d sub-pods", n)
	}
}

// Only the pod at the top starts sub-pods in the background, no more at once than it may have.
func TestBackgroundRefused(t *testing.T) {
	release := make(chan struct{})
	h := spawning(t, 2, map[string]scripted.Handler{
		"go": steps(scripted.Say(spawn(`{"task":"middle"}`)), scripted.Say(
			spawn(`{"task":"child 1","background":true}`), spawn(`{"task":"child 2","background":true}`), spawn(`{"task":"child 3","background":true}`))),
		"middle": steps(scripted.Say(spawn(`{"task":"x","background":true}`), waitFor(`{}`))),
		"child": func(context.Context, scripted.Request) scripted.Reply {
			return scripted.Say(scripted.Wait(release), scripted.Text("done"))
		},
	})
	h.run("go")
	close(release)
	h.readsLetters(2)
	r := results(h.log())
	if i := slices.IndexFunc(r, func(r item.ToolResult) bool {
		return strings.Contains(r.Summary, "2 sub-pods work in the background, which is the most")
	}); i < 1 {
		t.Errorf("results %+v", r)
	}
	for _, p := range h.pods() {
		if !strings.HasPrefix(p.Name, "p-") {
			t.Errorf("pod %s", p.Name)
		}
		got := results(h.logOf(p.ID))
		if len(got) > 0 && (!strings.Contains(got[0].Summary, "only the pod at the top") || !strings.Contains(got[1].Summary, `no tool "wait_for"`)) {
			t.Errorf("results of %s: %+v", p.Name, got)
		}
	}
}

// endsOf counts what p's log says of each sub-pod in the background: that it was started, that its end was told, and letters.
func endsOf(log []item.Entry) (started, ended, letters map[string]int) {
	started, ended, letters = make(map[string]int), make(map[string]int), make(map[string]int)
	for _, k := range kinds[item.WingEntry](log) {
		var o struct{ Pod, From string }
		if json.Unmarshal([]byte(k.Data), &o) != nil {
			continue
		}
		switch k.Wing + " " + k.Name {
		case "subpods started":
			started[o.Pod]++
		case "subpods ended":
			ended[o.Pod]++
		case "letters letter":
			letters[o.From]++
		}
	}
	return started, ended, letters
}

// toldAll says whether p was told the ends of all its sub-pods.
func (m *machine) toldAll() bool {
	started, ended, _ := endsOf(m.log())
	return len(ended) >= len(started)
}

// toldOnce checks that each sub-pod in the background got its task once at most, and that its end was told once.
func (m *machine) toldOnce(log []item.Entry) {
	m.t.Helper()
	started, ended, letters := endsOf(log)
	for id := range started {
		// Without its task it has no letter: the call that failed to give it says so.
		if started[id] != 1 || ended[id] != 1 || letters[id] > 1 || letters[id] == 0 && len(kinds[item.Submitted](m.logOf(id))) > 0 {
			m.t.Errorf("sub-pod %s was started %d times, and its end told %d times, with %d letters", id, started[id], ended[id], letters[id])
		}
	}
	for _, p := range m.pods() {
		if started[p.ID] == 0 && !strings.HasPrefix(p.Name, "new-") { // A trigger made those.
			m.t.Errorf("no entry says that sub-pod %+v was started", p)
		}
		if n := len(kinds[item.Submitted](m.logOf(p.ID))); n > 1 {
			m.t.Errorf("sub-pod %s got its task %d times", p.Name, n)
		}
	}
}

// A pod with a limit on all turns asks its model nothing while podd can't read what its sub-pods keep of it: it could pass
// the limit. It goes on when podd can, and its turn ends if that can't be.
func TestBackgroundShareNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		outcome item.Outcome
	}{
		"for a while": {item.Errorf(item.KindUnavailable, store.ReasonAway, "the database does not answer"), item.OutcomeFinished},
		"for ever":    {item.Errorf(item.KindDataLoss, "LOG_DAMAGED", "the log is damaged"), item.OutcomeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			h, f := newFaultyHouse(t, greets)
			h.update(item.PodSpec{Dir: h.dir, SubPods: 1, Limits: item.PodLimits{TotalTokens: 100_000}})
			f.set(func(b store.Batch) error {
				if holds[item.TurnStarted](b) {
					f.mu.Lock()
					defer f.mu.Unlock()
					f.onRead = func() error { return c.err }
				}
				return nil
			})
			s := h.submit("go")
			if c.outcome == item.OutcomeFinished {
				h.await(func(p item.Pod) bool { return strings.Contains(p.Status.Reason, "the database does not answer") })
				if n := len(h.model.Requests()); n > 0 {
					t.Errorf("%d requests", n)
				}
			} else {
				h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 1 })
			}
			f.mu.Lock()
			f.onRead = nil
			f.mu.Unlock()
			if end := h.ended(s); end.Outcome != c.outcome || c.outcome == item.OutcomeFailed && end.Reason != "NOT_READ" {
				t.Errorf("end %+v", end)
			}
		})
	}
}
