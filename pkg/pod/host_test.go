package pod_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// gate is a handler whose first answer streams some text, then waits until it is
// released. waiting is closed once the text is in flight.
type gate struct {
	open    chan struct{}
	waiting chan struct{}
	once    sync.Once
}

func newGate() *gate { return &gate{open: make(chan struct{}), waiting: make(chan struct{})} }

func (g *gate) answer(_ context.Context, r scripted.Request) scripted.Reply {
	if r.Steps() > 0 {
		return scripted.Say(scripted.Text("next"))
	}
	g.once.Do(func() { close(g.waiting) })
	return scripted.Say(scripted.Text("so far"), scripted.Wait(g.open), scripted.Text(" and the rest"))
}

func wantError(t *testing.T, err error, kind item.ErrorKind, reason string) {
	t.Helper()
	e, ok := errors.AsType[*item.Error](err)
	if !ok || e.Kind != kind || e.Reason != reason || e.Message == "" {
		t.Errorf("error %v, want %s %s", err, kind, reason)
	}
}

func TestCreateRefuses(t *testing.T) {
	h := newHouse(t, steps())
	file := filepath.Join(h.dir, "file")
	h.write("file", "")
	tests := []struct {
		name   string
		pod    string
		spec   item.PodSpec
		kind   item.ErrorKind
		reason string
	}{
		{"taken name", "p", item.PodSpec{Dir: h.dir}, item.KindExists, "POD_EXISTS"},
		{"empty name", "", item.PodSpec{Dir: h.dir}, item.KindInvalid, "BAD_NAME"},
		{"upper case", "Pod", item.PodSpec{Dir: h.dir}, item.KindInvalid, "BAD_NAME"},
		{"dash first", "-p", item.PodSpec{Dir: h.dir}, item.KindInvalid, "BAD_NAME"},
		{"long name", strings.Repeat("a", 64), item.PodSpec{Dir: h.dir}, item.KindInvalid, "BAD_NAME"},
		{"newline", "p\n", item.PodSpec{Dir: h.dir}, item.KindInvalid, "BAD_NAME"},
		{"no dir", "q", item.PodSpec{}, item.KindInvalid, "BAD_DIR"},
		{"relative dir", "q", item.PodSpec{Dir: "."}, item.KindInvalid, "BAD_DIR"},
		{"missing dir", "q", item.PodSpec{Dir: h.dir + "/no"}, item.KindInvalid, "BAD_DIR"},
		{"a file", "q", item.PodSpec{Dir: file}, item.KindInvalid, "BAD_DIR"},
		{"a file to write", "q", item.PodSpec{Dir: h.dir, Write: []string{file}}, item.KindInvalid, "BAD_DIR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := h.host.Create(t.Context(), tt.pod, tt.spec)
			wantError(t, err, tt.kind, tt.reason)
		})
	}
}

func TestSubmitRefuses(t *testing.T) {
	h := newHouse(t, steps(), func(c *options) { c.MaxSubmitBytes = 100 })
	text := func(s string) []item.Segment { return []item.Segment{item.TextSegment{Text: s}} }
	tests := []struct {
		name   string
		submit pod.Submit
		kind   item.ErrorKind
		reason string
	}{
		{"unknown pod", pod.Submit{Pod: "unknown", Segments: text("hi")}, item.KindNotFound, "POD_NOT_FOUND"},
		{"nothing", pod.Submit{Pod: "p"}, item.KindInvalid, "EMPTY_PROMPT"},
		{"a long name of a paste", pod.Submit{Pod: "p", Segments: []item.Segment{item.PasteSegment{Text: "x", Name: strings.Repeat("n", 257)}}}, item.KindInvalid, "BAD_PASTE_NAME"},
		{"white space", pod.Submit{Pod: "p", Segments: append(text(" \n\t"), item.PasteSegment{Text: " "})}, item.KindInvalid, "EMPTY_PROMPT"},
		{"too large", pod.Submit{Pod: "p", Segments: text(strings.Repeat("x", 101))}, item.KindExhausted, "SUBMIT_TOO_LARGE"},
		{"long id", pod.Submit{Pod: "p", Segments: text("hi"), RequestID: strings.Repeat("x", 129)}, item.KindInvalid, "BAD_REQUEST_ID"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := h.host.Submit(t.Context(), tt.submit)
			wantError(t, err, tt.kind, tt.reason)
		})
	}
	if log := h.log(); len(log) != 0 {
		t.Errorf("a refused submit is in the log: %+v", log)
	}
}

// Segments keep their order and their meaning; a segment that podd does not know raises
// an alert and leaves a placeholder.
func TestSegments(t *testing.T) {
	h := newHouse(t, steps())
	h.write("a.txt", "one\ntwo\n")
	got, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{
		item.TextSegment{Text: "see @a.txt "},
		item.PasteSegment{Text: "@a.txt "},
		item.FileRef{Path: "a.txt", StartLine: 2},
		item.UnknownSegment{},
	}})
	if err != nil || len(got.Alerts) != 1 || got.Alerts[0].Source != "segment" {
		t.Fatalf("got %+v, %v", got, err)
	}
	h.ended(got)
	all := items(h.log())
	if m := all[0].(item.UserMessage); m.Text != "see @a.txt @a.txt @a.txt:2[unknown input segment]" {
		t.Errorf("text %q", m.Text)
	}
	if m := all[1].(item.SystemMessage); !strings.HasSuffix(m.Text, "two\n") || strings.Contains(m.Text, "one") {
		t.Errorf("file %q", m.Text)
	}
}

// The model sees where a named paste begins and ends, whatever it contains.
func TestNamedPastes(t *testing.T) {
	for name, tt := range map[string]struct {
		segments []item.Segment
		want     string
	}{
		"behind a prompt": {
			[]item.Segment{item.TextSegment{Text: "review @this"}, item.PasteSegment{Text: "@a.txt\n+b\n", Name: "stdin"}},
			"review @this\n\n<stdin lines=\"2\">\n@a.txt\n+b\n</stdin>\n",
		},
		"alone, and text behind it": {
			[]item.Segment{item.PasteSegment{Text: "x", Name: "stdin"}, item.TextSegment{Text: "why?"}},
			"<stdin lines=\"1\">\nx\n</stdin>\nwhy?",
		},
		"with the end in it": {
			[]item.Segment{item.TextSegment{Text: "a\n"}, item.PasteSegment{Text: "</stdin></stdin-2>", Name: "stdin"}},
			"a\n\n<stdin-3 lines=\"1\">\n</stdin></stdin-2>\n</stdin-3>\n",
		},
		"a name that is not a word": {
			[]item.Segment{item.PasteSegment{Text: "x\ny", Name: "src/a\n.go"}},
			"<paste name=\"src/a\\n.go\" lines=\"2\">\nx\ny\n</paste>\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, steps())
			h.write("a.txt", "secret\n")
			got, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: tt.segments, ParseRefs: true})
			if err != nil || len(got.Alerts) != 0 {
				t.Fatal(got, err)
			}
			h.ended(got)
			if m := items(h.log())[0].(item.UserMessage); m.Text != tt.want {
				t.Errorf("the model sees %q, want %q", m.Text, tt.want)
			}
			s := h.log()[0].Kind.(item.Submitted)
			if !slices.Equal(s.Segments, tt.segments) || len(s.Items) != 0 {
				t.Errorf("stored are %+v, with %+v", s.Segments, s.Items)
			}
		})
	}
}

// Text after an @ that leads to no file reaches the model as it was typed, with a warning
// if it was meant as a file. A missing reference that a client names itself leaves a
// placeholder.
func TestTypedTextThatIsNoReference(t *testing.T) {
	h := newHouse(t, steps())
	h.write("a.txt", "one\n")
	if err := os.Mkdir(filepath.Join(h.dir, "cmd"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write("cmd/main.go", "package main\n")
	for _, tt := range []struct{ typed, warns string }{
		{"fix the @pytest.fixture, bump @types/node@20.1; ask @alice (or @bob:), @click.command()", ""},
		{"@app.get(\"/x\") and @Override", ""},
		{"see (@a.tx), @a.txt", ""},
		{"see @b.txt:10-20.", "@b.txt:10-20 is sent as text: b.txt does not exist: check the name, or list its directory"},
		{"see @b.txt, please", "@b.txt is sent as text: b.txt does not exist"},
		{"see @cmd/man.go", "@cmd/man.go is sent as text: "},
		{`see @"b c"!`, `@"b c" is sent as text: `},
		{"see @./b", "@./b is sent as text: "},
		{"see @a.txt:9", "a.txt has no line 9"},
		{"see @/etc/passwd", "/etc/passwd is outside the scope"},
	} {
		got, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: tt.typed}}, ParseRefs: true})
		if err != nil {
			t.Fatal(err)
		}
		if tt.warns == "" && len(got.Alerts) > 0 || tt.warns != "" && (len(got.Alerts) != 1 || !strings.Contains(got.Alerts[0].Text, tt.warns)) {
			t.Errorf("%q raises %+v", tt.typed, got.Alerts)
		}
		h.ended(got)
		entry := h.log()[got.Seq-1].Kind.(item.Submitted)
		said := ""
		for _, it := range items(h.log()[got.Seq:]) {
			if m, ok := it.(item.UserMessage); ok {
				said = m.Text
			}
		}
		if said != tt.typed || entry.Text != tt.typed {
			t.Errorf("%q is sent as %q, stored as %q", tt.typed, said, entry.Text)
		}
	}
	got, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.FileRef{Path: "b"}}, ParseRefs: true})
	if err != nil || len(got.Alerts) != 1 {
		t.Fatal(got, err)
	}
	if text := h.log()[got.Seq-1].Kind.(item.Submitted).Text; text != "[unresolved file ref: b]" {
		t.Errorf("a reference of the client is %q", text)
	}
	h.ended(got)
}

// A request id is admitted once: a retry gets the first answer, and other content is
// refused, also after a restart and with many concurrent retries.
func TestRequestIDs(t *testing.T) {
	h := newHouse(t, steps())
	submit := func(text string) (pod.Submitted, error) {
		return h.host.Submit(t.Context(), pod.Submit{
			Pod: "p", Segments: []item.Segment{item.TextSegment{Text: text}}, RequestID: "r1",
		})
	}
	var wg sync.WaitGroup
	seqs := make([]item.Seq, 8)
	for i := range seqs {
		wg.Go(func() {
			got, err := submit("hi")
			if err != nil {
				t.Error(err)
			}
			seqs[i] = got.Seq
		})
	}
	wg.Wait()
	if slices.Max(seqs) != slices.Min(seqs) {
		t.Errorf("one request id has the sequences %v", seqs)
	}
	h.ended(pod.Submitted{Seq: seqs[0], RequestID: "r1"})
	h.restart()
	if got, err := submit("hi"); err != nil || !got.Duplicate || got.Queued || got.Seq != seqs[0] {
		t.Errorf("after a restart: %+v, %v", got, err)
	}
	_, err := submit("ho")
	wantError(t, err, item.KindExists, "REQUEST_ID_TAKEN")
	if n := len(h.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// Submits to a busy pod wait and run in their order, one turn each; the inbox is bounded.
func TestQueue(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.answer, func(c *options) { c.MaxInbox = 2 })
	first := h.submit("first")
	<-g.waiting
	second, third := h.submit("second"), h.submit("third")
	if first.Queued || !second.Queued || !third.Queued {
		t.Errorf("queued: %v %v %v", first.Queued, second.Queued, third.Queued)
	}
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "fourth"}}})
	wantError(t, err, item.KindExhausted, "INBOX_FULL")
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Queued != 2 || p.Status.State != item.StateRunning {
		t.Errorf("pod %+v, %v", p, err)
	}
	close(g.open)
	h.ended(third)
	var users []string
	for _, it := range items(h.log()) {
		if m, ok := it.(item.UserMessage); ok {
			users = append(users, m.Text)
		}
	}
	if !slices.Equal(users, []string{"first", "second", "third"}) {
		t.Errorf("turns in the order %v", users)
	}
}

// Cancel ends a turn in the middle of its answer: the text so far stays, waiting submits
// run, and a second cancel finds the next turn or none.
func TestCancelWhileStreaming(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.answer)
	s := h.submit("go")
	<-g.waiting
	h.inFlight()
	next := h.submit("next")
	turn, cancelled, err := h.host.Cancel(t.Context(), "p", "")
	if err != nil || !cancelled || turn != 1 {
		t.Fatalf("cancel: %d %v %v", turn, cancelled, err)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeCancelled || end.Cause != "cancelled by a client" {
		t.Errorf("end %+v", end)
	}
	if end := h.ended(next); end.Outcome != item.OutcomeFinished {
		t.Errorf("next end %+v", end)
	}
	if m, ok := items(h.log())[1].(item.AssistantMessage); !ok || m.Text != "so far" {
		t.Errorf("what was said is lost: %+v", items(h.log()))
	}
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", ""); cancelled || err != nil {
		t.Errorf("an idle pod was cancelled: %v %v", cancelled, err)
	}
}

// inFlight waits until a stream that attaches now gets the text of a gate in flight.
func (h *house) inFlight() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	text := ""
	for ev, err := range h.host.Logs.Stream(ctx, pod.StreamQuery{Pod: "p", Follow: true, Deltas: true}) {
		if err != nil {
			h.t.Fatal(err)
		}
		for _, d := range slices.Concat(ev.InFlight, ev.Deltas) {
			if d.Kind == item.DeltaText {
				text += d.Text
			}
		}
		if text == "so far" {
			return
		}
	}
}

// Cancel while a tool runs kills it and stores its one result.
func TestCancelWhileToolRuns(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch started; sleep 1000"))))
	s := h.submit("go")
	for e := range h.follow(t.Context(), 0) {
		if _, ok := e.Kind.(item.ToolStarted); ok {
			break
		}
	}
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
		t.Fatalf("cancel: %v %v", cancelled, err)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeCancelled || end.Cause != "enough" {
		t.Errorf("end %+v", end)
	}
	if r := results(h.log()); len(r) != 1 || !r[0].IsError {
		t.Errorf("results %+v", r)
	}
}

// Two streams show the same entries in the same order, wherever they attach; one that
// attaches in the middle of an answer gets the text so far, and the end of one does not
// affect the other.
func TestStreams(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.answer)
	type seen struct {
		seqs []item.Seq
		text string
	}
	watch := func(ctx context.Context, after item.Seq) seen {
		var s seen
		for ev, err := range h.host.Logs.Stream(ctx, pod.StreamQuery{Pod: "p", After: after, Follow: true, Deltas: true}) {
			if err != nil {
				break
			}
			for _, d := range slices.Concat(ev.InFlight, ev.Deltas) {
				s.text += d.Text
			}
			if ev.Record != nil {
				s.seqs = append(s.seqs, ev.Record.Seq)
				if _, ok := h.decode(*ev.Record).Kind.(item.TurnEnded); ok {
					break
				}
			}
		}
		return s
	}
	s := h.submit("go")
	<-g.waiting
	gone, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var a, b seen
	wg.Go(func() { a = watch(t.Context(), 0) })
	wg.Go(func() { b = watch(t.Context(), s.Seq) })
	wg.Go(func() { watch(gone, 0) })
	h.inFlight()
	cancel()
	close(g.open)
	wg.Wait()
	if len(a.seqs) == 0 || !slices.Equal(a.seqs[s.Seq:], b.seqs) {
		t.Errorf("streams differ: %v, %v", a.seqs, b.seqs)
	}
	if !strings.HasPrefix("so far and the rest", a.text) {
		t.Errorf("live text %q", a.text)
	}
}

func TestStreamErrors(t *testing.T) {
	h := newHouse(t, steps())
	h.run("go")
	read := func(q pod.StreamQuery) error {
		for _, err := range h.host.Logs.Stream(t.Context(), q) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, follow := range []bool{false, true} {
		wantError(t, read(pod.StreamQuery{Pod: "unknown", Follow: follow}), item.KindNotFound, "POD_NOT_FOUND")
		wantError(t, read(pod.StreamQuery{Pod: "p", After: 1000, Follow: follow}), item.KindOutOfRange, "BEYOND_END")
	}
	p, err := h.host.Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	if err := read(pod.StreamQuery{Pod: p.ID, After: p.Last}); err != nil {
		t.Errorf("a stream from the end: %v", err)
	}
}

// After a restart the history is the same, and the next submit continues it.
func TestRestart(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(scripted.Text("one")), scripted.Say(scripted.Text("two"))))
	h.run("first")
	before := fmt.Sprintf("%+v", h.log())
	h.restart()
	if after := fmt.Sprintf("%+v", h.log()); after != before {
		t.Errorf("history changed:\n%s\n%s", before, after)
	}
	h.run("second")
	if body := string(h.model.Requests()[1]); !strings.Contains(body, "first") || !strings.Contains(body, "one") {
		t.Errorf("the second request forgot the first turn: %s", body)
	}
}

// If podd stops in the middle of a turn, the turn resumes at the next start: its call has
// the one result of the ended command, and the waiting submit follows.
func TestStopInTheMiddle(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch began; sleep 1000")), scripted.Say(scripted.Text("on"))))
	s := h.submit("go")
	// Its start in the log is not enough: a call stopped between that and its command has
	// not run, and says so.
	for !h.exists("began") {
		if t.Context().Err() != nil {
			t.Fatal("the command does not begin")
		}
		runtime.Gosched()
	}
	waiting := h.submit("waiting")
	h.restart()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	log := h.log()
	if r := recoveries(log); len(r) != 1 || len(r[0].CallIDs) != 0 {
		t.Errorf("recovered %+v", r)
	}
	if r := results(log); len(r) != 1 || !strings.Contains(r[0].Summary, "may have taken effect") {
		t.Errorf("results %+v", r)
	}
	if end := h.ended(waiting); end.Outcome != item.OutcomeFinished {
		t.Errorf("waiting end %+v", end)
	}
}

// A call that waited for a free slot when podd stopped did not run, and its turn continues.
func TestStopBeforeACallBegins(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch first; sleep 1000"), shell("touch second; sleep 1000")), scripted.Say(scripted.Text("on"))), func(c *options) {
		c.Limits.MaxParallel = 1
	})
	s := h.submit("go")
	for !h.exists("first") && !h.exists("second") {
		if t.Context().Err() != nil {
			t.Fatal("no command begins")
		}
		runtime.Gosched()
	}
	h.restart()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	stopped := slices.ContainsFunc(results(h.log()), func(r item.ToolResult) bool {
		return strings.Contains(r.Summary, "not run: podd stopped before the call began")
	})
	if !stopped || h.exists("first") && h.exists("second") {
		t.Errorf("results %+v", results(h.log()))
	}
}

// An unused pod leaves memory and comes back when it is needed.
func TestPassivation(t *testing.T) {
	h := newHouse(t, steps(), func(c *options) { c.Idle = time.Nanosecond })
	h.run("first")
	for h.host.Counts().Loaded > 0 {
		if t.Context().Err() != nil {
			t.Fatal("the pod stays in memory")
		}
		time.Sleep(time.Millisecond)
	}
	if end := h.run("second"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// Delete ends the turn, the streams and the log.
func TestDelete(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.answer)
	h.submit("go")
	<-g.waiting
	attached, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		var last error
		for ev, err := range h.host.Logs.Stream(t.Context(), pod.StreamQuery{Pod: "p", Follow: true}) {
			last = err
			if ev.CaughtUp != nil {
				close(attached)
			}
		}
		ended <- last
	}()
	<-attached
	if err := h.host.Delete(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	wantError(t, <-ended, item.KindNotFound, "POD_NOT_FOUND")
	_, err := h.host.Get(t.Context(), "p")
	wantError(t, err, item.KindNotFound, "POD_NOT_FOUND")
	if _, err := h.host.Create(t.Context(), "p", item.PodSpec{Dir: h.dir}); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
	if log := h.log(); len(log) != 0 {
		t.Errorf("the new pod has a log: %v", log)
	}
}

// undeletable is a store that delays the first removal of a pod.
type undeletable struct {
	store.Store
	once             sync.Once
	reached, release chan struct{}
}

// DeletePod waits once.
func (s *undeletable) DeletePod(ctx context.Context, id string) error {
	s.once.Do(func() {
		close(s.reached)
		<-s.release
	})
	return s.Store.DeletePod(ctx, id)
}

// A Delete that fails early does not let a pod be loaded that another one removes.
func TestTwoDeletes(t *testing.T) {
	slow := &undeletable{reached: make(chan struct{}), release: make(chan struct{})}
	h := newHouse(t, steps(), func(c *options) { slow.Store, c.Store = c.Store, slow })
	deleted := make(chan error, 1)
	go func() { deleted <- h.host.Delete(t.Context(), "p") }()
	<-slow.reached
	gone := &lookedUp{Context: t.Context()}
	if err := h.host.Delete(gone, "p"); !errors.Is(err, context.Canceled) {
		t.Errorf("the second Delete gives %v", err)
	}
	_, err := h.host.Pause(t.Context(), "p", "")
	wantError(t, err, item.KindNotFound, "POD_NOT_FOUND")
	close(slow.release)
	if err := <-deleted; err != nil {
		t.Error(err)
	}
}

// lookedUp is a context that ends after its first check, which is after the pod was
// found.
type lookedUp struct {
	context.Context
	asked bool
}

// Err is nil once.
func (c *lookedUp) Err() error {
	if c.asked {
		return context.Canceled
	}
	c.asked = true
	return nil
}

// A missing workspace fails the submit with a sentence and loses nothing.
func TestWorkspaceGone(t *testing.T) {
	h := newHouse(t, steps())
	moved := h.dir + "-moved"
	if err := os.Rename(h.dir, moved); err != nil {
		t.Fatal(err)
	}
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "hi"}}})
	wantError(t, err, item.KindInvalid, "BAD_DIR")
	if err := os.Rename(moved, h.dir); err != nil {
		t.Fatal(err)
	}
	if end := h.run("hi"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// A stopping podd accepts nothing, and streams end with a sentence.
func TestClose(t *testing.T) {
	h := newHouse(t, steps())
	h.run("go")
	attached, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		var last error
		for ev, err := range h.host.Logs.Stream(t.Context(), pod.StreamQuery{Pod: "p", Follow: true}) {
			last = err
			if ev.CaughtUp != nil {
				close(attached)
			}
		}
		ended <- last
	}()
	<-attached
	h.host.Close(t.Context())
	wantError(t, <-ended, item.KindUnavailable, "STOPPING")
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "hi"}}})
	wantError(t, err, item.KindUnavailable, "STOPPING")
}

// However many files a submit refers to, what is stored of them is bounded, and the
// omitted ones raise an alert.
func TestReferencesAreBoundedTogether(t *testing.T) {
	h := newHouse(t, steps(), func(c *options) { c.FileRefs.MaxBytes = 100_000 })
	h.write("large.txt", strings.Repeat("0123456789abcde\n", 10_000))
	h.write("small.txt", "x")
	prompt := strings.Repeat("@large.txt ", 100) + strings.Repeat("@small.txt ", 200)
	h.run(prompt)
	s := h.log()[0].Kind.(item.Submitted)
	size, refs := 0, 0
	for _, it := range s.Items {
		size += len(it.(item.SystemMessage).Text)
	}
	for _, segment := range s.Segments {
		if _, ok := segment.(item.FileRef); ok {
			refs++
		}
	}
	if size > 4<<20 || size < 3<<20 || refs != len(s.Items) || s.Text != prompt {
		t.Errorf("%d bytes in %d items: %s", size, len(s.Items), s.Text)
	}
	alerts, err := h.host.Alerts.List(t.Context(), pod.AlertQuery{})
	alerts = slices.DeleteFunc(alerts, func(a item.Alert) bool { return a.Level == item.LevelInfo })
	if err != nil || len(alerts) == 0 {
		t.Fatal(alerts, err)
	}
	if first, last := alerts[0].Text, alerts[len(alerts)-1].Text; !strings.Contains(first, "refer to fewer files") ||
		!strings.Contains(last, "44 file references were not added") {
		t.Errorf("first alert %q, last %q", first, last)
	}
}

// A submit that podd has gets its first answer again, even if a new one would be refused
// by now: its size exceeds the limit, its files and the workspace are gone, the inbox is
// full.
func TestKnownRequestIDs(t *testing.T) {
	most := 1000
	h := newHouse(t, steps(), func(c *options) { c.MaxSubmitBytes, c.MaxInbox = most, 1 })
	h.write("a.txt", "x")
	submit := func(text string) (pod.Submitted, error) {
		return h.host.Submit(t.Context(), pod.Submit{
			Pod: "p", Segments: []item.Segment{item.TextSegment{Text: text}}, RequestID: "r1", ParseRefs: true,
		})
	}
	first, err := submit("look at @a.txt")
	if err != nil {
		t.Fatal(err)
	}
	h.ended(first)
	h.pause()
	waits := h.submit("waits")
	if err := os.RemoveAll(h.dir); err != nil {
		t.Fatal(err)
	}
	most = 5
	h.restart()
	if got, err := submit("look at @a.txt"); err != nil || !got.Duplicate || got.Seq != first.Seq || got.RequestID != "r1" {
		t.Errorf("again: %+v, %v", got, err)
	}
	for _, other := range []string{"look at @b.txt", ""} {
		_, err := submit(other)
		wantError(t, err, item.KindExists, "REQUEST_ID_TAKEN")
	}
	if _, err := h.host.Resume(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.ended(waits)
}
