package pod_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podd/internal/questions"
	"podd/internal/triggers"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
)

// machine is a pod in a bubble of virtual time whose clients do anything at any time, and what they learned. What podd is about
// to do waits at gates: the choices of a seed say what goes on, what fails, and when podd is killed.
type machine struct {
	*house
	gates *gates
	clock leap
	marks string
	n     int
	// choices are those of the step that is under way, story what was done.
	choices *rand.Rand
	story   []string
	// refused counts the requests to the model that failed in a row.
	refused int
	// settling says that the model has no more to do.
	settling atomic.Bool
	// clients are the calls that wait for podd.
	clients sync.WaitGroup

	// mu guards what clients learned.
	mu sync.Mutex
	// submitted are the request ids of acknowledged submits, unsure submits that may have been accepted.
	submitted []string
	unsure    []pod.Submit
	// withdrawn are the ids of acknowledged withdrawals, notes the texts of acknowledged notes, answers are
	// acknowledged answers, rewinds acknowledged rewinds.
	withdrawn, notes []string
	answers          []pod.Resolution
	rewinds          []item.Seq
	// forks are the acknowledged forks, each with the end of what it shares.
	forks map[string]item.Seq
	// cut says that history was: notes that joined before may join again.
	cut     bool
	unasked unasked
}

// restless is a model that marks a file once for each submit, note or letter, sometimes only
// after an approval, asks a question, and then says that it is done. Some submits start a
// sub-pod in the background.
func restless(messages []scripted.Message) []scripted.Part {
	last := messages[len(messages)-1]
	if strings.Contains(last.Text, "summary that replaces the conversation") {
		return []scripted.Part{scripted.Text("so far")}
	}
	// Behind the task of a sub-pod there may be what podd says of a kill.
	child := slices.ContainsFunc(messages, func(m scripted.Message) bool { return m.Role == "user" && strings.HasPrefix(m.Text, "child") })
	if last.Role == "tool" || child {
		return []scripted.Part{scripted.Text("done")}
	}
	if strings.HasPrefix(last.Text, "begin") {
		return []scripted.Part{spawn(`{"task":"child","background":true}`)}
	}
	mark := func(kind string) scripted.Call {
		return scripted.Call{Name: "mark", Arguments: fmt.Sprintf(`{"file":"%s-%d"}`, kind, len(messages))}
	}
	return []scripted.Part{scripted.Text("well"), mark("free"), mark("asked"), asking}
}

// newMachine opens a machine, which may have the wing of triggers: that looks at the clock each ten seconds.
func newMachine(t *testing.T, fires bool) *machine {
	m := &machine{marks: t.TempDir(), forks: map[string]item.Seq{}, choices: rand.New(rand.NewPCG(0, 0))}
	pods := map[string]string{"": ""}
	m.house = newHouseOf(t, plain{m.model}, func(c *options) {
		m.mu.Lock()
		m.gates = &gates{pods: pods, free: m.house == nil}
		m.mu.Unlock()
		c.Store, c.Now = gatedStore{c.Store, m.gates}, m.clock.now
		c.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
		c.Tools = append(c.Tools, m.tool(), questions.Tool())
		c.triggers = fires
		c.MaxInbox, c.trashFor, c.Compaction.KeepTokens = 1000, 1000*time.Hour, 1
		c.workspaceConfig.Shell.Path, c.Search.Ripgrep = "/bin/sh", "-"
	}, with(&edges{call: func(c interceptor.Call) interceptor.CallVerdict {
		if strings.Contains(c.Arguments, "asked") {
			return c.Ask("may it?")
		}
		return c.Continue()
	}}))
	m.update(item.PodSpec{Dir: m.dir, SubPods: 2, Tools: []string{"mark", questions.Name, pod.SpawnTool}})
	m.gates.mu.Lock()
	defer m.gates.mu.Unlock()
	m.gates.free = false
	return m
}

// model answers once a gate lets it, or breaks the stream.
func (m *machine) model(ctx context.Context, messages []scripted.Message) ([]scripted.Part, error) {
	m.mu.Lock()
	gates := m.gates
	m.mu.Unlock()
	reply := restless(messages)
	if m.settling.Load() {
		reply = []scripted.Part{scripted.Text("done")}
	}
	switch err := gates.pass(ctx, &halt{what: fmt.Sprintf("asks with %d messages", len(messages)), model: true}, messages[0].Text); {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == errFull:
		return reply[:len(reply)/2], &llm.Error{Class: llm.ClassCut, Message: "the answer stopped"}
	default:
		return nil, &llm.Error{Class: llm.ClassOverloaded, Message: "it is dead", Status: 503}
	}
}

// tool is mark behind a gate.
func (m *machine) tool() tool.Tool {
	type args struct {
		File string `json:"file"`
	}
	gates := m.gates
	return tool.New("mark", "Leave a mark.", func(ctx context.Context, _ *tool.Invocation, a args) (tool.Output, error) {
		err := gates.pass(ctx, &halt{what: "marks " + a.File}, "")
		if err != nil && err != errLost {
			return tool.Output{}, err
		}
		f, err := os.OpenFile(filepath.Join(m.marks, filepath.Base(a.File)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return tool.Output{}, err
		}
		defer f.Close()
		_, err = f.WriteString("x\n")
		return tool.FromString("marked " + a.File), err
	}, tool.Confined[args]())
}

func (m *machine) say(format string, args ...any) {
	m.story = append(m.story, fmt.Sprintf(format, args...))
}

// chance is true once in n times.
func (m *machine) chance(n int) bool { return m.choices.IntN(n) == 0 }

// advance lets up to n of the things go on that wait. Some of them fail.
func (m *machine) advance(n int) {
	for range n {
		synctest.Wait()
		all := m.gates.list()
		if len(all) == 0 {
			return
		}
		m.pass(all[m.choices.IntN(len(all))])
	}
}

func (m *machine) pass(w *halt) {
	var verdict error
	switch fails := m.chance(20); {
	case fails && w.model && m.refused < 3:
		m.refused++
		verdict = errFull
	case fails && !w.model && w.batch.Pod != "":
		verdict = errFull
	case w.model:
		m.refused = 0
	}
	m.say("  %s%s", w.what, map[bool]string{true: ", and fails"}[verdict != nil])
	m.gates.let(w, verdict)
}

// until runs a function while waiting work goes on. It says whether a kill ended podd meanwhile.
func (m *machine) until(f func()) (killed bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		synctest.Wait()
		select {
		case <-done:
			return killed
		default:
		}
		switch all := m.gates.list(); {
		case len(all) == 0:
			time.Sleep(time.Second)
		case m.chance(20):
			m.say("  killed")
			m.gates.die(func() bool { return m.chance(3) })
			killed = true
		default:
			m.pass(all[m.choices.IntN(len(all))])
		}
	}
}

// start starts podd. late are writes of the last one that reach the store too late.
func (m *machine) start(late []store.Batch) {
	for m.until(m.open) || len(late) > 0 && m.until(func() { m.comeLate(late) }) {
		m.close()
	}
}

// comeLate lets writes of a podd that was killed reach the store once another has the pod.
func (m *machine) comeLate(late []store.Batch) {
	p, release, err := m.host.Keep(m.t.Context(), "p")
	if err != nil {
		return
	}
	defer release()
	for _, b := range late {
		if b.Pod != p.Pod.ID {
			continue
		}
		if _, err := m.store.Append(m.t.Context(), b); item.ReasonOf(err) != "STALE_EPOCH" {
			m.t.Errorf("a late write of a podd that was killed gives %v", err)
		}
	}
}

// kill kills podd where it is, and starts another.
func (m *machine) kill() {
	synctest.Wait()
	late := m.gates.die(func() bool { return m.chance(3) })
	m.close()
	m.start(late)
}

// stop stops podd, which may be killed before it has, and starts another.
func (m *machine) stop() {
	m.until(m.close)
	m.gates.die(func() bool { return false })
	m.start(nil)
}

func (m *machine) name(kind string) string {
	m.n++
	return fmt.Sprintf("%s %d", kind, m.n)
}

func (m *machine) give(kind string, mode item.SubmitMode) {
	id := m.name(kind)
	s := pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: id}}, RequestID: id, Mode: mode}
	m.mu.Lock()
	m.unsure = append(m.unsure, s)
	m.mu.Unlock()
	m.submit(s)
}

// call lets a client call podd.
func (m *machine) call(what string, f func(ctx context.Context, h *pod.Host) error, learn func()) {
	h := m.host
	m.clients.Go(func() {
		err := f(m.t.Context(), h)
		m.mu.Lock()
		defer m.mu.Unlock()
		switch reason := item.ReasonOf(err); {
		case err == nil:
			learn()
		case reason == "INTERNAL" || reason == "POD_FAILED":
			m.t.Errorf("%s: %v", what, err)
		}
	})
}

func (m *machine) submit(s pod.Submit) {
	m.call("submit", func(ctx context.Context, h *pod.Host) error {
		_, err := h.Submit(ctx, s)
		return err
	}, func() {
		m.unsure = slices.DeleteFunc(m.unsure, func(other pod.Submit) bool { return other.RequestID == s.RequestID })
		if !slices.Contains(m.submitted, s.RequestID) {
			m.submitted = append(m.submitted, s.RequestID)
		}
	})
}

// again submits once more what may not have been accepted, and sometimes what was.
func (m *machine) again() {
	m.mu.Lock()
	all := slices.Clone(m.unsure)
	m.mu.Unlock()
	for _, s := range all {
		m.submit(s)
	}
}

func (m *machine) note(wake bool) {
	text := m.name("note")
	m.call("note", func(ctx context.Context, h *pod.Host) error {
		p, release, err := h.Keep(ctx, "p")
		if err != nil {
			return err
		}
		defer release()
		_, err = p.Note(item.Note{Text: text, Wake: wake})
		return err
	}, func() { m.notes = append(m.notes, text) })
}

func (m *machine) withdraw() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.submitted) == 0 {
		return
	}
	id := m.submitted[m.choices.IntN(len(m.submitted))]
	m.call("withdraw", func(ctx context.Context, h *pod.Host) error { return h.Withdraw(ctx, "p", id) }, func() {
		m.withdrawn = append(m.withdrawn, id)
	})
}

// answer resolves one open question, if there is any; with wrong, a question that podd did not ask.
func (m *machine) answer(approve, wrong bool) (open bool) {
	waiting, err := m.host.Approvals(m.t.Context(), "p")
	if err != nil || len(waiting) == 0 {
		return false
	}
	m.resolve(waiting[m.choices.IntN(len(waiting))], approve, wrong)
	return true
}

func (m *machine) resolve(q pod.Approval, approve, wrong bool) {
	r := pod.Resolution{Pod: "p", CallSeq: q.CallSeq, Approve: approve, Digest: q.Digest}
	if q.Form != nil && approve {
		r.Replies = []item.FormReply{{Choices: []int{1}}}
	}
	if wrong {
		r.Digest = strings.Repeat("x", len(q.Digest))
	}
	m.call("answer", func(ctx context.Context, h *pod.Host) error {
		_, err := h.Resolve(ctx, r)
		return err
	}, func() {
		if wrong && approve {
			m.t.Errorf("an answer to another question is accepted: %+v", r)
		}
		m.answers = append(m.answers, r)
	})
}

// answerAll approves all that is asked, if there is anything.
func (m *machine) answerAll() (open bool) {
	waiting, _ := m.host.Approvals(m.t.Context(), "p")
	for _, q := range waiting {
		m.resolve(q, true, false)
	}
	return len(waiting) > 0
}

// back restores the pod if it was deleted.
func (m *machine) back() {
	m.call("restore", func(ctx context.Context, _ *pod.Host) error {
		_, err := m.trash.Restore(ctx, "p", "")
		return err
	}, func() {})
}

// settle lets all waiting work go on until the pod is idle and has the ends of its sub-pods.
func (m *machine) settle() {
	m.say("settle")
	m.settling.Store(true)
	m.gates.open()
	for range 100 {
		synctest.Wait()
		m.again()
		if _, err := m.host.Get(m.t.Context(), "p"); err != nil {
			m.back()
			synctest.Wait()
		}
		_, _ = m.host.Resume(m.t.Context(), "p")
		m.clients.Wait()
		time.Sleep(time.Minute) // What failed is tried again.
		synctest.Wait()
		if !m.answerAll() && len(m.unsure) == 0 && m.calm() && m.idle() && m.toldAll() && m.idle() { // An end that it gets may begin a turn.
			m.clients.Wait()
			return
		}
	}
	p, err := m.host.Get(m.t.Context(), "p")
	var fires []triggers.Trigger
	if m.fires != nil {
		fires, _ = m.fires.List(m.t.Context(), "p")
	}
	m.t.Fatalf("the pod does not settle: %+v, %v, unsure %v, letters %v, triggers %+v", p, err, m.unsure, m.unasked.letters, fires)
}

// idle says whether p does nothing, and nothing begins a turn.
func (m *machine) idle() bool {
	stored, err := m.host.Get(m.t.Context(), "p")
	if err != nil {
		m.t.Fatal(err)
	}
	p, release, err := m.host.Keep(m.t.Context(), "p")
	if err != nil {
		m.t.Fatal(err)
	}
	defer release()
	_, wakes := p.State.Wakes()
	return stored.Queued == 0 && !p.State.Turn.Open && !wakes
}

// change cuts, forks or summarizes the history of the pod, or is refused.
func (m *machine) change(action string) {
	m.cut = true
	p, err := m.host.Get(m.t.Context(), "p")
	if err != nil || p.Last == 0 {
		return
	}
	first := max(p.First, 1)
	at := first + item.Seq(m.choices.IntN(int(p.Last-first+1)))
	switch action {
	case "rewind":
		m.call(action, func(ctx context.Context, h *pod.Host) error {
			_, err := h.Rewind(ctx, "p", at)
			return err
		}, func() { m.rewinds = append(m.rewinds, at) })
	case "fork":
		name := strings.ReplaceAll(m.name(action), " ", "")
		m.call(action, func(ctx context.Context, h *pod.Host) error {
			_, err := h.Fork(ctx, "p", name, at)
			return err
		}, func() { m.forks[name] = at })
	case "compact":
		m.call(action, func(ctx context.Context, h *pod.Host) error {
			_, err := h.Compact(ctx, "p")
			return err
		}, func() {})
	}
}

func (m *machine) do(action string) {
	m.say("%s", action)
	switch action {
	case "submit":
		m.give("queue", item.ModeQueue)
	case "begin":
		m.give("begin", item.ModeQueue)
	case "steer":
		m.give("steer", item.ModeSteer)
	case "again":
		m.again()
	case "note", "wake":
		m.note(action == "wake")
	case "withdraw":
		m.withdraw()
	case "cancel":
		m.call(action, func(ctx context.Context, h *pod.Host) error {
			_, _, err := h.Cancel(ctx, "p", "")
			return err
		}, func() {})
	case "pause":
		m.call(action, func(ctx context.Context, h *pod.Host) error {
			_, err := h.Pause(ctx, "p", "lunch")
			return err
		}, func() {})
	case "resume":
		m.call(action, func(ctx context.Context, h *pod.Host) error {
			_, err := h.Resume(ctx, "p")
			return err
		}, func() {})
	case "approve", "deny", "mistake":
		m.answer(action != "deny", action == "mistake")
	case "wait":
		time.Sleep([]time.Duration{time.Second, time.Minute, time.Hour, 8 * 24 * time.Hour}[m.choices.IntN(4)])
	case "clock":
		m.clock.ahead([]time.Duration{0, time.Hour, -time.Hour}[m.choices.IntN(3)])
	case "stop":
		m.stop()
	case "kill":
		m.kill()
	case "rewind", "fork", "compact":
		m.change(action)
	case "delete":
		m.call(action, func(ctx context.Context, _ *pod.Host) error {
			_, err := m.trash.Discard(ctx, "p")
			return err
		}, func() {})
	case "restore":
		m.back()
	default:
		m.doUnasked(action)
	}
}
