package pod_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/internal/questions"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

// machine is a pod whose clients do anything at any time, and what they learned.
type machine struct {
	*house
	faulty *faulty
	marks  string
	n      int
	// submitted are the request ids of acknowledged submits that were not withdrawn, notes
	// the texts of notes.
	submitted, notes []string
	// cut says that history was: notes that joined before may join again. forks counts them.
	cut   bool
	forks int
}

// restless is a model that marks a file once for each submit, note or letter, sometimes only
// after an approval, asks a question, and then says that it is done. Some submits start a
// sub-pod in the background.
func restless(_ context.Context, r scripted.Request) scripted.Reply {
	last := r.Messages[len(r.Messages)-1]
	if strings.Contains(last.Text, "summary that replaces the conversation") {
		return scripted.Say(scripted.Text("so far"))
	}
	// Behind the task of a sub-pod there may be what podd says of a kill.
	child := slices.ContainsFunc(r.Messages, func(m scripted.Message) bool { return m.Role == "user" && strings.HasPrefix(m.Text, "child") })
	if last.Role == "tool" || child {
		return scripted.Say(scripted.Text("done"))
	}
	if strings.HasPrefix(last.Text, "begin") {
		return scripted.Say(spawn(`{"task":"child","background":true}`))
	}
	mark := func(kind string) scripted.Call {
		return scripted.Call{Name: "mark", Arguments: fmt.Sprintf(`{"file":"%s-%d"}`, kind, len(r.Messages))}
	}
	return scripted.Say(scripted.Text("well"), mark("free"), mark("asked"), asking)
}

func newMachine(t *testing.T) *machine {
	m := &machine{faulty: new(faulty), marks: t.TempDir()}
	m.house = newHouse(t, restless, func(c *options) {
		m.faulty.Store, c.Store = c.Store, m.faulty
		c.Tools = append(c.Tools, mark(m.marks), questions.Tool())
		c.MaxInbox, c.trashFor, c.Compaction.KeepTokens = 1000, time.Hour, 1
	}, with(&edges{call: func(c interceptor.Call) interceptor.CallVerdict {
		if strings.Contains(c.Arguments, "asked") {
			return c.Ask("may it?")
		}
		return c.Continue()
	}}))
	m.update(item.PodSpec{Dir: m.dir, SubPods: 2})
	return m
}

func (m *machine) name(kind string) string {
	m.n++
	return fmt.Sprintf("%s %d", kind, m.n)
}

func (m *machine) give(kind string, mode item.SubmitMode) {
	id := m.name(kind)
	_, err := m.host.Submit(m.t.Context(), pod.Submit{
		Pod: "p", Segments: []item.Segment{item.TextSegment{Text: id}}, RequestID: id, Mode: mode,
	})
	if err != nil {
		m.t.Error(err)
		return
	}
	m.submitted = append(m.submitted, id)
}

func (m *machine) note(wake bool) {
	text := m.name("note")
	m.notify(text, wake)
	m.notes = append(m.notes, text)
}

func (m *machine) withdraw(pick func(int) int) {
	if len(m.submitted) == 0 {
		return
	}
	i := pick(len(m.submitted))
	switch err := m.host.Withdraw(m.t.Context(), "p", m.submitted[i]); {
	case err == nil:
		m.submitted = slices.Delete(m.submitted, i, i+1)
	case item.ReasonOf(err) != "TAKEN" && item.ReasonOf(err) != "NOT_WAITING":
		m.t.Error(err)
	}
}

// answer resolves one open question, if there is any. The call may end in another way
// first.
func (m *machine) answer(approve bool) (open bool) {
	waiting, err := m.host.Approvals(m.t.Context(), "p")
	if err != nil {
		m.t.Error(err)
	}
	if len(waiting) == 0 {
		return false
	}
	r := pod.Resolution{Pod: "p", CallSeq: waiting[0].CallSeq, Approve: approve, Digest: waiting[0].Digest}
	if waiting[0].Form != nil && approve {
		r.Replies = []item.FormReply{{Choices: []int{1}}}
	}
	_, err = m.host.Resolve(m.t.Context(), r)
	if reason := item.ReasonOf(err); err != nil && !slices.Contains([]string{"APPROVAL_WITHDRAWN", "APPROVAL_RESOLVED", "APPROVAL_NOT_FOUND", "ALREADY_ANSWERED"}, reason) {
		m.t.Error(err)
	}
	return true
}

// die kills podd at one of its next writes.
func (m *machine) die(after int) {
	c := &countdown{left: after, hit: make(chan struct{}), refuse: true}
	m.faulty.set(c.check)
	m.give("queue", item.ModeQueue)
	for hit := false; !hit && !m.rests(); {
		select {
		case <-c.hit:
			hit = true
		default:
		}
	}
	m.kill(m.faulty)
}

// restore brings the pod back if it was deleted, and learns which submits were withdrawn.
func (m *machine) restore() {
	_, err := m.trash.Restore(m.t.Context(), "p", "")
	if _, got := m.host.Get(m.t.Context(), "p"); got != nil {
		m.t.Fatalf("the pod is gone: %v, %v", err, got)
	}
	for _, k := range kinds[item.Withdrawn](m.log()) {
		m.submitted = slices.DeleteFunc(m.submitted, func(id string) bool { return slices.Contains(k.RequestIDs, id) })
	}
}

// rests says that nothing happens until a client acts.
func (m *machine) rests() bool {
	p, err := m.host.Get(m.t.Context(), "p")
	if err != nil {
		m.t.Fatal(err)
	}
	waiting, err := m.host.Approvals(m.t.Context(), "p")
	return err == nil && len(waiting) > 0 || p.Status.State == item.StatePaused || p.Status.State == item.StateIdle && p.Queued == 0
}

// settle lets all waiting work continue until the pod is idle and was told the ends of its sub-pods.
func (m *machine) settle() {
	m.resume()
	for {
		if !m.answer(true) && m.idle() && m.toldAll() && m.idle() { // What it is told may begin a turn.
			return
		}
	}
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

// check compares the log with what the clients learned. house checks the invariants of
// any log.
func (m *machine) check() {
	m.t.Helper()
	log := m.log()
	claimed := map[string]int{}
	for _, k := range kinds[item.TurnStarted](log) {
		for _, id := range k.RequestIDs {
			claimed[id]++
		}
	}
	for _, k := range kinds[item.Promoted](log) {
		for _, id := range k.RequestIDs {
			claimed[id]++
		}
	}
	for _, id := range m.submitted {
		if claimed[id] != 1 {
			m.t.Errorf("%s was acknowledged and taken %d times", id, claimed[id])
		}
		delete(claimed, id)
	}
	if len(claimed) > 0 {
		m.t.Errorf("turns took %v, without a submit or after a withdrawal", claimed)
	}
	var told []string
	for _, text := range texts(log) {
		if note, ok := strings.CutPrefix(text, "note: note"); ok {
			told = append(told, "note"+note)
		}
	}
	if !m.cut && !slices.Equal(told, m.notes[:min(len(told), len(m.notes))]) {
		m.t.Errorf("the model gets %q, clients left %q", told, m.notes)
	}
	for _, k := range kinds[item.TurnEnded](log) {
		if k.Outcome == item.OutcomeFailed || k.Outcome == item.OutcomeLimit {
			m.t.Errorf("end %+v", k)
		}
	}
	m.once(log)
	if !m.cut {
		m.toldOnce(log)
	}
}

// once checks that no call ran twice, and none without approval.
func (m *machine) once(log []item.Entry) {
	started := map[string]int{}
	for _, k := range kinds[item.ToolStarted](log) {
		started[strings.Trim(strings.TrimPrefix(k.Arguments, `{"file":`), `"}`)]++
	}
	files, err := os.ReadDir(m.marks)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(m.marks, f.Name()))
		if err != nil {
			m.t.Fatal(err)
		}
		if ran := len(content) / 2; ran > started[f.Name()] {
			m.t.Errorf("%s ran %d times and was started %d times", f.Name(), ran, started[f.Name()])
		}
	}
	yes := 0
	for _, r := range kinds[item.ApprovalResolved](log) {
		if r.Approved && r.Key == "" {
			yes++
		}
	}
	m.answeredOnce(log)
	for _, k := range kinds[item.ToolStarted](log) {
		if strings.Contains(k.Arguments, "asked") {
			yes--
		}
	}
	if yes < 0 {
		m.t.Errorf("%d calls ran without approval", -yes)
	}
}

// answeredOnce checks that each call that asked was asked one question, which has one answer or was taken back, and that its result says so.
func (m *machine) answeredOnce(log []item.Entry) {
	asked, answered := map[string]int{}, map[string]item.ApprovalResolved{}
	for _, k := range kinds[item.ApprovalRequested](log) {
		if k.Form != nil {
			asked[k.CallID]++
		}
	}
	for _, k := range kinds[item.ApprovalResolved](log) {
		if k.Key == "" {
			continue
		}
		if _, twice := answered[k.CallID]; twice || asked[k.CallID] != 1 {
			m.t.Errorf("call %s asked %d times, and has a second answer or one too early: %+v", k.CallID, asked[k.CallID], k)
		}
		answered[k.CallID] = k
	}
	for _, r := range results(log) {
		a, ok := answered[r.CallID]
		if r.Tool == questions.Name && ok && !a.Withdrawn && strings.HasPrefix(r.Summary, "ask_user: answered") != a.Approved {
			m.t.Errorf("the answer %+v gives the result %q", a, r.Summary)
		}
	}
}

// Whatever clients do in any order, with stops and kills of podd in between: each
// acknowledged submit that was not withdrawn is taken by one turn, notes arrive once and
// in order, no call runs twice or without a required approval, no turn fails, the end of
// each sub-pod in the background is told once, and the pod becomes idle when everything that waits is released.
func TestAnythingAtAnyTime(t *testing.T) {
	anything(t,
		"submit", "submit", "begin", "begin", "steer", "steer", "note", "wake", "withdraw", "cancel", "pause", "resume", "resume",
		"approve", "approve", "approve", "deny", "stop", "kill", "die",
	)
}

// The same holds for a pod that is deleted and restored, or killed in the middle of that.
func TestAnythingAroundADelete(t *testing.T) {
	anything(t, "submit", "submit", "begin", "begin", "steer", "note", "wake", "pause", "approve", "approve", "stop", "kill", "die", "delete", "delete", "die deleting", "die deleting")
}

// The same holds for a pod whose history is cut, forked, summarized and purged, apart from the order of notes, which the
// check of each log knows.
func TestAnythingAroundACut(t *testing.T) {
	anything(t, "submit", "submit", "steer", "note", "wake", "withdraw", "cancel", "approve", "approve", "deny", "stop", "kill", "die", "rewind", "rewind", "rewind", "fork", "fork", "compact")
}

// histories is how many random histories a test makes, in place of those of a short or a long run: make histories.
const histories = "PODD_HISTORIES"

func anything(t *testing.T, all ...string) {
	rounds, most := 0, 100
	if testing.Short() {
		most = 5
	}
	if n, err := strconv.Atoi(os.Getenv(histories)); err == nil {
		most = n
	}
	rapid.Check(t, func(rt *rapid.T) {
		if rounds++; rounds > most && !rt.Failed() {
			return
		}
		actions := rapid.SliceOfN(rapid.SampledFrom(all), 5, 25).Draw(rt, "actions")
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "which") }
		ok := t.Run(fmt.Sprint(rounds), func(t *testing.T) {
			m := newMachine(t)
			for _, action := range actions {
				m.do(action, pick)
			}
			m.settle()
			m.check()
			if m.cut {
				m.change("compact", pick)
				m.sweep()
			}
		})
		if !ok {
			rt.Fatalf("after %q", actions)
		}
	})
}

// change cuts, forks or summarizes the history of the pod, or is refused.
func (m *machine) change(action string, pick func(int) int) {
	m.cut = true
	var at item.Seq
	if log := m.log(); len(log) > 0 {
		at = log[pick(len(log))].Seq
	}
	var err error
	switch action {
	case "rewind":
		if _, err = m.host.Rewind(m.t.Context(), "p", at); item.ReasonOf(err) == "BUSY" {
			m.pause()
			m.do("cancel", pick)
			_, err = m.host.Rewind(m.t.Context(), "p", at)
			m.resume()
		}
	case "fork":
		m.forks++
		_, err = m.host.Fork(m.t.Context(), "p", fmt.Sprint("fork", m.forks), at)
	case "compact":
		_, err = m.host.Compact(m.t.Context(), "p")
	}
	if kind := item.KindOf(err); err != nil && kind != item.KindPrecondition && kind != item.KindOutOfRange && kind != item.KindInvalid {
		m.t.Errorf("%s at #%d: %v", action, at, err)
	}
}

func (m *machine) do(action string, pick func(int) int) {
	switch action {
	case "submit":
		m.give("queue", item.ModeQueue)
	case "begin":
		m.give("begin", item.ModeQueue)
	case "steer":
		m.give("steer", item.ModeSteer)
	case "note", "wake":
		m.note(action == "wake")
	case "withdraw":
		m.withdraw(pick)
	case "cancel":
		if _, _, err := m.host.Cancel(m.t.Context(), "p", ""); err != nil {
			m.t.Error(err)
		}
	case "pause":
		m.pause()
	case "resume":
		m.resume()
	case "approve", "deny":
		m.answer(action == "approve")
	case "stop":
		m.restart()
	case "kill":
		m.kill(m.faulty)
	case "die":
		m.die(1 + pick(6))
	case "rewind", "fork", "compact":
		m.change(action, pick)
	case "delete":
		if _, err := m.trash.Discard(m.t.Context(), "p"); err != nil {
			m.t.Error(err)
		}
		m.restore()
	case "die deleting":
		m.faulty.set((&countdown{left: 1 + pick(3), hit: make(chan struct{}), refuse: true}).check)
		_, _ = m.trash.Discard(m.t.Context(), "p")
		m.kill(m.faulty)
		m.restore()
	}
}
