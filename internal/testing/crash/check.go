package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	poddv1 "podd/proto/podd/v1"
)

// checker folds the whole log of a pod, for what else is known of the pod. What is true of any log, package spec checks.
type checker struct {
	pod string
	t   *Tally
	log []*poddv1.Entry
	// from is the last entry that a fork has from another pod; 0 for other pods.
	from int64

	submitted map[string]*poddv1.Entry
	// claims and withdrawn count how often turns took a request, and clients withdrew one.
	// claimed names the turns.
	claims, withdrawn map[string]int
	claimed           map[string]int64
	// said counts the texts of user messages.
	said  map[string]int
	notes notes
	// open is the running turn, last the newest; ends are the ends of turns.
	open, last int64
	ends       map[int64]*poddv1.Entry
	// cut is when a fork or rewind was stored: the turn that it cuts ends with it.
	cut    time.Time
	calls  map[string]*callState
	denied map[string]bool
	// resumes counts how often the open turn was resumed since its last answer.
	resumes int
	// kinds counts the pod's own entries of some kinds. forks are the pods forked from it,
	// and whether each is whole.
	kinds map[string]int
	forks map[string]bool
	// mayCancel says that a client asked to cancel a turn and got no answer. The turn's
	// commands and sub-pods may have ended because of that, and the turn may have continued
	// after a kill.
	mayCancel bool
	// live are the entries that requests send.
	live []int64
}

// callState is what the log says about a call.
type callState struct {
	seq, turn         int64
	started, resolved int
	tool              string
	start             *poddv1.ToolStarted
	// recovered counts how often a podd began to look what it did.
	recovered int
	result    *poddv1.ToolResult
	// asked and answers count the questions of the call to a person and their answers; answer is the last.
	asked, answers int
	answer         *poddv1.ApprovalResolved
}

// checkLog folds a log, whose entries up to from are another pod's.
func checkLog(pod string, log []*poddv1.Entry, from int64, t *Tally) *checker {
	c := &checker{
		pod: pod, t: t, log: log, from: from,
		submitted: make(map[string]*poddv1.Entry), claims: make(map[string]int), withdrawn: make(map[string]int), claimed: make(map[string]int64),
		said: make(map[string]int), notes: newNotes(), ends: make(map[int64]*poddv1.Entry),
		calls: make(map[string]*callState), denied: make(map[string]bool),
		kinds: make(map[string]int), forks: make(map[string]bool),
	}
	for _, e := range log {
		c.add(e)
	}
	if c.open != 0 {
		t.Other.add("%s: turn %d has no end", pod, c.open)
	}
	c.notes.check(pod, t)
	return c
}

// mostResumes is how often podd resumes a turn at one step before it may give it up
// (docs/reliability.md).
const mostResumes = 3

// own says whether an entry is the pod's own and not another pod's.
func (c *checker) own(e *poddv1.Entry) bool { return e.GetSeq() > c.from }

func (c *checker) add(e *poddv1.Entry) {
	c.send(e)
	c.wear(e)
	if c.notes.add(e) {
		c.count(e, "note")
	}
	if c.from > 0 && e.GetSeq() == c.from+1 {
		c.cut = e.GetTime().AsTime()
	}
	switch k := e.GetKind().(type) {
	case *poddv1.Entry_Submitted:
		c.submitted[k.Submitted.GetRequestId()] = e
	case *poddv1.Entry_Promoted:
		c.claim(e, k.Promoted.GetRequestIds())
	case *poddv1.Entry_TurnStarted:
		c.open, c.last = e.GetTurn(), e.GetTurn()
		c.claim(e, k.TurnStarted.GetRequestIds())
	case *poddv1.Entry_TurnEnded:
		c.end(e, k.TurnEnded)
	case *poddv1.Entry_Withdrawn:
		for _, id := range k.Withdrawn.GetRequestIds() {
			c.withdrawn[id]++
		}
		c.count(e, "withdrawn")
	case *poddv1.Entry_Rewind:
		c.cut = e.GetTime().AsTime()
		c.count(e, "rewind")
	case *poddv1.Entry_Compaction:
		if k.Compaction.GetReason() == "requested by a client" {
			c.count(e, "compaction")
		}
	case *poddv1.Entry_Recovered:
		c.resumed(e, k.Recovered)
	case *poddv1.Entry_ToolStarted:
		c.start(k.ToolStarted)
	case *poddv1.Entry_ApprovalRequested:
		// A call that asks again after its start has done nothing yet.
		if s := c.calls[k.ApprovalRequested.GetCallId()]; s != nil && !c.question(e) {
			s.started = 0
		}
	case *poddv1.Entry_ApprovalResolved:
		if s := c.calls[k.ApprovalResolved.GetCallId()]; s != nil && !c.question(e) {
			s.resolved++
			c.denied[k.ApprovalResolved.GetCallId()] = !k.ApprovalResolved.GetApproved()
		}
	case *poddv1.Entry_Item:
		c.item(e, k.Item)
	}
}

func (c *checker) resumed(e *poddv1.Entry, r *poddv1.Recovered) {
	if c.own(e) {
		c.t.Resumed++
	}
	for _, id := range r.GetCallIds() {
		if s := c.calls[id]; s != nil {
			s.recovered++
		}
	}
}

// wear counts how often the open turn was resumed since its last answer.
func (c *checker) wear(e *poddv1.Entry) {
	switch {
	case e.GetTurnStarted() != nil, e.GetUsage() != nil && e.GetUsage().GetPurpose() == "":
		c.resumes = 0
	case e.GetRecovered() != nil && !e.GetRecovered().GetWaited():
		c.resumes++
	}
}

func (c *checker) count(e *poddv1.Entry, kind string) {
	if c.own(e) {
		c.kinds[kind]++
	}
}

// send tracks what the next request sends: nothing that a rewind undid, and a summary in
// place of what it summarizes.
func (c *checker) send(e *poddv1.Entry) {
	without := func(gone func(seq int64) bool) { c.live = slices.DeleteFunc(c.live, gone) }
	switch k := e.GetKind().(type) {
	case *poddv1.Entry_Rewind:
		without(func(seq int64) bool { return seq > k.Rewind.GetToSeq() })
	case *poddv1.Entry_Item, *poddv1.Entry_Compaction:
		c.live = append(c.live, e.GetSeq())
	}
}

func (c *checker) claim(e *poddv1.Entry, ids []string) {
	for _, id := range ids {
		c.claimed[id] = e.GetTurn()
		c.claims[id]++
	}
}

func (c *checker) end(e *poddv1.Entry, end *poddv1.TurnEnded) {
	c.open = 0
	c.ends[e.GetTurn()] = e
	switch end.GetOutcome() {
	case poddv1.Outcome_OUTCOME_FINISHED:
	case poddv1.Outcome_OUTCOME_CANCELLED: // cancels counts them.
	case poddv1.Outcome_OUTCOME_INTERRUPTED:
		if end.GetReason() == "CUT" && e.GetTime().AsTime().Equal(c.cut) {
			break
		}
		if end.GetReason() == "RECOVERY" && c.resumes >= mostResumes {
			c.t.WornOut++
			break
		}
		c.t.GivenUp.add("%s: turn %d: %s (%s)", c.pod, e.GetTurn(), end.GetCause(), end.GetReason())
	default:
		c.t.Other.add("%s: turn %d ended as %s: %s", c.pod, e.GetTurn(), end.GetOutcome(), end.GetCause())
	}
}

func (c *checker) start(start *poddv1.ToolStarted) {
	if s := c.calls[start.GetCallId()]; s != nil {
		s.start = start
		s.started++
	}
}

func (c *checker) item(e *poddv1.Entry, it *poddv1.Item) {
	if call := it.GetToolCall(); call != nil {
		c.calls[call.GetCallId()] = &callState{seq: e.GetSeq(), turn: e.GetTurn(), tool: call.GetName()}
	}
	if m := it.GetUserMessage(); m != nil {
		c.said[m.GetText()]++
	}
	if r := it.GetToolResult(); r != nil {
		s := c.calls[r.GetCallId()]
		if s == nil {
			return
		}
		s.result = r
		c.answeredOnce(e, s, r)
		if c.own(e) {
			c.t.Calls++
		}
		if s.recovered > 1 && c.own(e) {
			c.t.Twice++
		}
		if how := r.GetRecovery(); c.own(e) && how != poddv1.Recovery_RECOVERY_UNSPECIFIED {
			c.t.learned(outcome{s.tool, how}, 1)
		}
	}
}

// submits checks the acknowledged submits.
func (c *checker) submits(acked []ack) {
	c.t.Acknowledged += len(acked)
	for _, a := range acked {
		e := c.submitted[a.id]
		switch {
		case e == nil:
			c.t.Lost.add("%s: request %s was acknowledged and is not in the log", c.pod, a.id)
		case e.GetSeq() != a.seq || e.GetSubmitted().GetText() != a.text:
			c.t.Lost.add("%s: request %s was acknowledged as seq %d, %q, and is seq %d, %q in the log",
				c.pod, a.id, a.seq, a.text, e.GetSeq(), e.GetSubmitted().GetText())
		case c.withdrawn[a.id] > 0:
			if c.claims[a.id] > 0 {
				c.t.Repeated.add("%s: request %s was taken back and ran", c.pod, a.id)
			}
			c.t.Found++
		case c.claims[a.id] == 0:
			c.t.Lost.add("%s: request %s was acknowledged and never ran", c.pod, a.id)
		case c.said[a.text] > 1:
			c.t.Repeated.add("%s: request %s joined the conversation %d times", c.pod, a.id, c.said[a.text])
		case c.said[a.text] == 0 && !c.wasCancelled(c.claimed[a.id]):
			c.t.Lost.add("%s: request %s was claimed and is not in the conversation", c.pod, a.id)
		default:
			c.t.Found++
		}
	}
}

// wasCancelled says whether a turn ended as cancelled.
func (c *checker) wasCancelled(turn int64) bool {
	return c.ends[turn].GetTurnEnded().GetOutcome() == poddv1.Outcome_OUTCOME_CANCELLED
}

// commands compares what the commands of a pod left in its workspace with the log. all
// says that podd was asked to end commands, whichever.
func (c *checker) commands(ran, ended map[string]int, made map[string]madeCall, all bool) {
	for id, s := range c.calls {
		call := made[id]
		if !call.runs() || s.seq <= c.from {
			continue
		}
		c.ran(id, s, ran[id])
		if s.result == nil {
			continue
		}
		cancelled := all || c.mayCancel || c.wasCancelled(s.turn)
		c.t.Commands += ran[id]
		if summary := s.result.GetSummary(); s.started == 0 && !c.denied[id] && !strings.Contains(summary, "not run: ") && !cancelled {
			c.t.Other.add("%s: call %s did not start: %s", c.pod, id, summary)
		}
		genuine := s.result.GetContent() == "out-"+id+"\n" && s.result.GetIsError() == (call.status != 0)
		switch {
		case ended[id] > 0 && !genuine && !(cancelled && s.result.GetIsError()):
			c.t.ResultsLost.add("%s: the command of call %s ended and its result is: %s: %q", c.pod, id, s.result.GetSummary(), s.result.GetContent())
		case ended[id] == 0 && genuine:
			c.t.Other.add("%s: the command of call %s did not end and has a result that says so", c.pod, id)
		case ran[id] > 0 && ended[id] == 0 && !cancelled:
			c.t.Other.add("%s: the command of call %s began and did not come to its end: %s", c.pod, id, s.result.GetSummary())
		}
	}
}

// writes compares the files that calls of write_file made with what their results say. mixed says that a
// podd which notes less about calls may have made or found them.
func (c *checker) writes(dir string, made map[string]madeCall, mixed bool) error {
	for id, s := range c.calls {
		if made[id].tool != "write_file" || s.seq <= c.from || s.result == nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "made-"+id))
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		written := err == nil
		switch how := s.result.GetRecovery(); {
		case how == poddv1.Recovery_RECOVERY_UNKNOWN && mixed:
		case how == poddv1.Recovery_RECOVERY_UNKNOWN:
			c.t.Other.add("%s: podd does not know whether call %s wrote its file: %s", c.pod, id, s.result.GetSummary())
		case written != !s.result.GetIsError(), written && string(text) != id:
			c.t.Other.add("%s: the file of call %s has %q, and its result is: %s", c.pod, id, text, s.result.GetSummary())
		}
	}
	return nil
}

// ran checks how often a call's command ran.
func (c *checker) ran(id string, s *callState, times int) {
	switch {
	case times > 1:
		c.t.Repeated.add("%s: the command of call %s ran %d times", c.pod, id, times)
	case times > 0 && s.started == 0:
		c.t.Other.add("%s: the command of call %s ran and is not in the log as started", c.pod, id)
	case times > 0 && c.denied[id]:
		c.t.Other.add("%s: the command of call %s ran and was denied", c.pod, id)
	}
}

// countLines counts how often each line is in a file.
func countLines(path string) (map[string]int, error) {
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	lines := make(map[string]int)
	for line := range strings.Lines(string(data)) {
		lines[strings.TrimSpace(line)]++
	}
	return lines, nil
}

// findings is a count of violations, with a description of each.
type findings []string

func (f *findings) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }
