package pod_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/internal/questions"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
)

// asking is a call that asks a person.
var asking = scripted.Call{Name: questions.Name, Arguments: `{"questions":[{"question":"Which database?","header":"Database","options":[{"label":"SQLite"},{"label":"Postgres","description":"a server"}]}]}`}

func withQuestions(c *options) { c.Tools = append(c.Tools, questions.Tool()) }

// A question waits in the log and in the pod's state while the other calls of the step run, and its answer is the call's result.
func TestQuestion(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(asking, shell("touch ran"))), withQuestions, func(c *options) { c.Limits.MaxParallel = 1 })
	s := h.submit("go")
	q := h.asked(1)[0]
	if q.PodName != "p" || q.Tool != questions.Name || q.Form == nil || len(q.Digest) != 32 || q.Question != "Which database?" || !q.Expires.IsZero() {
		t.Errorf("asked %+v", q)
	}
	h.await(func(p item.Pod) bool {
		return p.Status.State == item.StateWaiting && p.Status.Reason == "waiting for an answer" && p.Status.Approvals == 1 && p.Status.Questions == 1 && h.exists("ran")
	})
	for name, c := range map[string]struct {
		r      pod.Resolution
		reason string
	}{
		"an approval":   {pod.Resolution{Approve: true}, "ANSWER_MISMATCH"},
		"always":        {pod.Resolution{Approve: true, Always: true}, "NO_RULE"},
		"no reply":      {pod.Resolution{Approve: true, Replies: make([]item.FormReply, 1)}, "BAD_ANSWER"},
		"two replies":   {pod.Resolution{Approve: true, Replies: []item.FormReply{{Text: "a"}, {Text: "b"}}}, "BAD_ANSWER"},
		"no option":     {pod.Resolution{Approve: true, Replies: []item.FormReply{{Choices: []int{3}}}}, "BAD_ANSWER"},
		"two choices":   {pod.Resolution{Approve: true, Replies: []item.FormReply{{Choices: []int{1, 2}}}}, "BAD_ANSWER"},
		"too long":      {pod.Resolution{Approve: true, Replies: []item.FormReply{{Text: strings.Repeat("x", item.MaxAnswerBytes+1)}}}, "ANSWER_TOO_LARGE"},
		"a changed one": {pod.Resolution{Approve: true, Replies: []item.FormReply{{Text: "a"}}, Digest: "other"}, "APPROVAL_CHANGED"},
	} {
		c.r.Pod, c.r.CallSeq = "p", q.CallSeq
		if _, err := h.host.Resolve(t.Context(), c.r); item.ReasonOf(err) != c.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, Replies: []item.FormReply{{Choices: []int{1}, Text: "in one file"}}, Digest: q.Digest, By: "ann"})
	h.wantEnd(h.ended(s), item.OutcomeFinished, "", "")
	want := "Which database?\nAnswer: SQLite, in one file\n"
	if got := results(h.log()); got[0].Summary != "ask_user: answered by ann: SQLite, in one file" || got[0].Content != want || !strings.Contains(h.body(2), "Answer: SQLite, in one file") {
		t.Errorf("results %+v; the model is sent %s", got, h.body(2))
	}
	h.asked(0)
	_, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: q.CallSeq, Approve: true, Replies: []item.FormReply{{Choices: []int{2}}}, By: "bob"})
	wantError(t, err, item.KindPrecondition, "ALREADY_ANSWERED")
	if !strings.Contains(err.Error(), "answered by ann: SQLite, in one file at ") {
		t.Errorf("error %v", err)
	}
}

// What a person may do besides an answer is told to the model as what it is.
func TestQuestionWithoutAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		r    pod.Resolution
		want string
	}{
		"dismissed": {pod.Resolution{Dismiss: true, By: "ann"}, "ask_user: ann leaves it to you: decide yourself, and say what you decided"},
		"declined":  {pod.Resolution{By: "ann", Reason: "not now"}, "ask_user: ann declines to answer: not now; do not ask this again"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, steps(scripted.Say(asking)), withQuestions)
			s := h.submit("go")
			c.r.CallSeq = h.asked(1)[0].CallSeq
			h.resolve(c.r)
			h.wantEnd(h.ended(s), item.OutcomeFinished, "", "")
			if got := results(h.log()); got[0].Summary != c.want {
				t.Errorf("results %+v", got)
			}
		})
	}
}

// A question waits over stops and kills, and its answer is found again also when podd was killed before the call learned of it.
func TestQuestionOverRestarts(t *testing.T) {
	h, f := newFaultyHouse(t, steps(scripted.Say(asking)), withQuestions)
	s := h.submit("go")
	q := h.asked(1)[0]
	for range 5 {
		h.kill(f)
		h.asked(1)
		h.restart()
	}
	f.set(func(b store.Batch) error {
		if holds[item.ItemAdded](b) {
			return errKilled
		}
		return nil
	})
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, Replies: []item.FormReply{{Choices: []int{2}}}, Digest: q.Digest, By: "ann"})
	h.kill(f)
	h.wantEnd(h.ended(s), item.OutcomeFinished, "", "")
	log := h.log()
	if got := results(log); len(got) != 1 || !strings.Contains(got[0].Content, "Answer: Postgres") || got[0].Recovery != item.RecoveryFound {
		t.Errorf("results %+v", got)
	}
	if n := len(kinds[item.ApprovalRequested](log)); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// The end of the turn takes the question back.
func TestQuestionOfACancelledTurn(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(asking)), withQuestions)
	s := h.submit("go")
	q := h.asked(1)[0]
	if _, _, err := h.host.Cancel(t.Context(), "p", "enough"); err != nil {
		t.Fatal(err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	h.asked(0)
	_, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: q.CallSeq, Dismiss: true})
	wantError(t, err, item.KindPrecondition, "ALREADY_ANSWERED")
	if !strings.Contains(err.Error(), "withdrawn by podd: nobody waits for the answer any more") {
		t.Errorf("error %v", err)
	}
}

// A question with a time limit is withdrawn, and the model reads that nobody answered.
func TestQuestionExpires(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(asking)), withQuestions, func(c *options) { c.QuestionTime = time.Nanosecond })
	h.wantEnd(h.run("go"), item.OutcomeFinished, "", "")
	if got := results(h.log()); !strings.Contains(got[0].Summary, "not answered: the question expired without an answer at") {
		t.Errorf("results %+v", got)
	}
}

// A tool that gives a form up while its call goes on has it taken back, and asks the next one. Of forms at once, one waits for the other.
func TestFormsOfOneCall(t *testing.T) {
	gone := &tool.TookBack{Why: "the server withdrew it"}
	type args struct{}
	var replies [2]item.ApprovalResolved
	seen := make(chan struct{})
	poll := tool.New("poll", "Asks.", func(ctx context.Context, call *tool.Invocation, _ args) (tool.Output, error) {
		first, cancel := context.WithCancelCause(ctx)
		var both sync.WaitGroup
		both.Go(func() { <-seen; cancel(gone) })
		if r, err := call.Ask(first, "0", item.Form{Questions: []item.FormQuestion{{Text: "given up?"}}}); !errors.Is(err, gone) || !r.Withdrawn || r.Reason != gone.Why {
			t.Errorf("given up: %+v, %v", r, err)
		}
		for i, key := range []string{"1", "2"} {
			both.Go(func() {
				replies[i], _ = call.Ask(ctx, key, item.Form{Questions: []item.FormQuestion{{Text: "question " + key}}})
			})
		}
		both.Wait()
		return tool.FromString("polled"), nil
	}, tool.Confined[args]())
	h := newHouse(t, steps(scripted.Say(scripted.Call{Name: "poll", Arguments: "{}"})), func(c *options) { c.Tools = append(c.Tools, poll) })
	s := h.submit("go")
	h.asked(1)
	close(seen)
	for range 2 {
		q := h.asked(1)[0]
		for q.Form.Questions[0].Text == "given up?" {
			q = h.asked(1)[0]
		}
		h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, Replies: []item.FormReply{{Text: "answer " + q.Key}}, Digest: q.Digest})
	}
	h.wantEnd(h.ended(s), item.OutcomeFinished, "", "")
	if replies[0].Replies[0].Text != "answer 1" || replies[1].Replies[0].Text != "answer 2" {
		t.Errorf("replies %+v", replies)
	}
}

// A turn without questions offers no ask_user, answers a call that asks anyway, gives its sub-pods none, and keeps to that over a restart
// and when a note wakes the pod. The next submit asks again.
func TestTurnWithoutQuestions(t *testing.T) {
	var mu sync.Mutex
	var offered [][]string
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		mu.Lock()
		defer mu.Unlock()
		offered = append(offered, r.Tools)
		switch {
		case len(r.Results()) > 0 || r.LastUser() == "the end":
			return scripted.Say(scripted.Text("done"))
		case strings.HasPrefix(r.LastUser(), "the task"):
			return scripted.Say(asking)
		}
		return scripted.Say(asking, call("spawn_pod", `{"task":"the task"}`))
	}, withQuestions)
	h.update(item.PodSpec{Dir: h.dir, SubPods: 1})
	submit := pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "go"}}, NoQuestions: true}
	s, err := h.host.Submit(t.Context(), submit)
	if err != nil {
		t.Fatal(err)
	}
	h.wantEnd(h.ended(s), item.OutcomeFinished, "", "")
	if got := results(h.log()); !got[0].IsError || !strings.Contains(got[0].Summary, "nobody can be asked here") {
		t.Errorf("results %+v", got)
	}
	h.restart()
	h.notify("look again", true)
	for e := range h.follow(t.Context(), 0) {
		if _, ok := e.Kind.(item.TurnEnded); ok && e.Turn == 2 {
			break
		}
	}
	mu.Lock()
	for i, tools := range offered {
		if slices.Contains(tools, questions.Name) {
			t.Errorf("request %d offers %v", i+1, tools)
		}
	}
	offered = nil
	mu.Unlock()
	for i, started := range kinds[item.TurnStarted](h.log()) {
		if !started.NoQuestions {
			t.Errorf("turn %d is %+v", i+1, started)
		}
	}
	submit.Mode = item.ModeSteer
	if _, err := h.host.Submit(t.Context(), submit); item.ReasonOf(err) != "QUESTIONS_STEER" {
		t.Errorf("a steering submit gives the error %v", err)
	}
	h.wantEnd(h.ended(h.submit("the end")), item.OutcomeFinished, "", "")
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(offered[0], questions.Name) {
		t.Errorf("the next turn offers %v", offered[0])
	}
}

// What a person answered is told to the model also if the turn is cancelled before the result of the call can be stored, or by the next
// podd.
func TestAnsweredThenCancelled(t *testing.T) {
	type args struct{}
	poll := tool.New("poll", "Asks.", func(ctx context.Context, call *tool.Invocation, _ args) (tool.Output, error) {
		r, err := call.Ask(ctx, "1", item.Form{From: "the server", Questions: []item.FormQuestion{{Text: "Your name?"}}})
		return tool.FromString("polled: " + r.How()), err
	}, tool.Confined[args]())
	noResults := func(b store.Batch) bool { return strings.Contains(shape(b.Entries), "ToolResult") }
	for name, c := range map[string]struct {
		polled string
		cancel func(h *house, f *faulty)
	}{
		"on a full disk": {"polled: answered by ann: Ann", func(h *house, f *faulty) {
			_, _, err := h.host.Cancel(t.Context(), "p", "enough")
			wantError(t, err, item.KindExhausted, "NO_SPACE")
			f.set(nil)
		}},
		"after a restart": {"interrupted; it may have taken effect: check before you repeat it; its question was answered by ann", func(h *house, f *faulty) {
			back := h.away("")
			h.cannotGoOn("p")
			f.set(nil)
			if _, _, err := h.host.Cancel(t.Context(), "p", "enough"); err != nil {
				t.Error(err)
			}
			back()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h, f := newFaultyHouse(t, steps(scripted.Say(asking, scripted.Call{Name: "poll", Arguments: "{}"}, shell("touch ran"))),
				withQuestions, with(asks("ran")), func(c *options) { c.Tools = append(c.Tools, poll) })
			s := h.submit("go")
			all := h.asked(3)
			check, refused := full(noResults)
			f.set(func(b store.Batch) error {
				if noResults(b) {
					return check(b)
				}
				return nil
			})
			for _, q := range all {
				r := pod.Resolution{CallSeq: q.CallSeq, By: "ann", Reason: "never that"}
				switch q.Tool {
				case questions.Name:
					r.Approve, r.Replies = true, []item.FormReply{{Choices: []int{1}}}
				case "poll":
					r.Approve, r.Replies = true, []item.FormReply{{Text: "Ann"}}
				}
				h.resolve(r)
			}
			<-refused
			c.cancel(h, f)
			h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
			got := results(h.log())
			if len(got) != 3 || got[0].Summary != "ask_user: answered by ann: SQLite" || got[0].Content != "Which database?\nAnswer: SQLite\n" || got[1].Summary != c.polled {
				t.Errorf("results %+v", got)
			}
			if got[2].Summary != "shell: not run: denied by ann: never that" || !got[2].Denied || h.exists("ran") {
				t.Errorf("the denied call has the result %+v", got[2])
			}
		})
	}
}
