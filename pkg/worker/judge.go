package worker

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/tool"
)

// Policy says which calls of a tool run without a question.
type Policy func(tool string, a tool.Access) Ruling

// Ruling is policy's decision on a call. The zero Ruling lets it run.
type Ruling struct {
	// Deny says why the call must not run and how it could be allowed, Ask why a person
	// has to agree; at most one is set.
	Deny, Ask string
}

// Executed is a file that a command executes, as of one moment.
type Executed struct {
	// Path is as the command names it, Leads its target by links; empty if it leads to
	// itself.
	Path, Leads string
	// Sum is the SHA-256 of the content in hexadecimal, Size how much that is, in words.
	Sum, Size string
	// Shown is its text, as a person is asked.
	Shown item.Preview
}

// judge decides on calls: by what the tool says about the arguments, by what interceptors
// and policy say about the call and its result, and by whether a person has to agree.
type judge struct {
	w *Worker
	j *journal
	// reviewing is locked while interceptors decide on a call or a result: the calls of a
	// step end in parallel, possibly while podd decides on others.
	reviewing sync.Mutex
}

// decideAll decides on the calls of an answer, in their order. If one ends the turn, none
// of them runs. before is the number of the turn's earlier calls.
func (t *judge) decideAll(ctx context.Context, calls []*call, before int, stopped llm.StopReason) {
	var aborted string
	for i, c := range calls {
		t.check(c, before+i+1, stopped)
		if c.state != callRefused {
			t.decide(ctx, c)
		}
		aborted = cmp.Or(aborted, c.aborted)
	}
	if aborted == "" {
		return
	}
	for _, c := range calls {
		c.refuse("%s: not run: %s", c.Name, aborted)
	}
}

// check refuses a call that can't run, whatever interceptors and policy say. A refusal is
// a result that tells the model what to do instead. n is the call's number in the turn.
func (t *judge) check(c *call, n int, stopped llm.StopReason) {
	if stopped == llm.StopLength {
		c.refuse("not run: the endpoint's output limit cut the answer, so the arguments may be incomplete; call again with less in one call")
		return
	}
	if n > t.w.Limits.MaxToolCalls {
		c.refuse("not run: the turn reached its limit of %d tool calls", t.w.Limits.MaxToolCalls)
		return
	}
	var known bool
	if c.tool, known = t.w.Tools.Lookup(c.Name); !known {
		c.refuse("%s", t.w.Tools.Unknown(c.Name))
		return
	}
	arguments, err := c.tool.Check(c.Arguments)
	if err != nil {
		c.refuse("%s: invalid arguments: %v", c.Name, err)
		return
	}
	c.arguments = arguments
}

// decide asks the interceptors and then policy, which gets their arguments.
func (t *judge) decide(ctx context.Context, c *call) {
	t.reviewing.Lock()
	d, err := t.w.Chain.BeforeTool(ctx, t.callOf(c), c.tool.Check)
	t.reviewing.Unlock()
	if err != nil {
		d.Denied = "denied: " + err.Error()
	}
	t.j.warn(d.Warnings)
	c.questions, c.denied = nil, false
	switch {
	case d.Denied != "":
		c.deny("%s: %s", c.Name, d.Denied)
	case d.Aborted != "":
		c.aborted = d.Aborted
		c.refuse("%s: not run: %s", c.Name, d.Aborted)
	case d.Result != nil:
		c.arguments, c.state, c.output = d.Arguments, callMade, tool.Normal(*d.Result)
	default:
		c.arguments, c.state, c.questions = d.Arguments, callRuns, d.Ask
		t.rule(ctx, c)
	}
	t.j.observe(hook.Edge{Name: hook.EdgeBeforeTool, CallID: c.CallID, Key: c.Key(t.w.Pod), Tool: c.Name, Arguments: c.arguments, Decision: c.decision()})
}

// rule asks policy, with where the paths of the call lead now. A path that leads where it
// led before keeps its target, because nothing has changed.
func (t *judge) rule(ctx context.Context, c *call) {
	used, arguments := c.tool, c.arguments
	a, ok := apart(ctx, t.w, func() tool.Access { return used.Access(arguments) })
	if !ok {
		c.refuse("%s", notBegun(ctx, c))
		return
	}
	earlier := c.targets
	c.reach = reach{targets: a.Targets, writes: a.Writes, acts: t.acts(a), command: a.Command, readable: len(c.questions) == 0}
	for i := range min(len(earlier), len(c.targets)) {
		if c.targets[i].Still(earlier[i]) {
			c.targets[i] = earlier[i]
		}
	}
	if t.j.turn.Plan && a.Obeys {
		// The call can change nothing, so it needs no protection from it.
		a.Confined, a.Protected, a.Note = true, nil, ""
	}
	var r Ruling
	if t.w.Policy != nil {
		r = t.w.Policy(c.Name, a)
		c.readable = c.readable && t.w.Policy(readTool, tool.Access{Paths: a.Paths, Targets: a.Targets, Confined: a.Confined}) == (Ruling{})
	}
	planOnly := ""
	if t.j.turn.Plan {
		planOnly = acts(a, r)
	}
	switch {
	case planOnly != "":
		c.refuse("%s: denied: %s", c.Name, planOnly)
	case r.Deny != "":
		c.deny("%s: denied: %s", c.Name, r.Deny)
	case r.Ask != "":
		c.questions = append(c.questions, r.Ask)
	}
}

// acts says whether a call may change files.
func (t *judge) acts(a tool.Access) bool {
	return !(t.j.turn.Plan && a.Obeys) && (a.Writes || a.Command != "" || a.Obeys || !a.Confined && a.Host == "")
}

// look finds out what a call would do: which files it executes, and what it makes of files.
// A call that cannot do its work is refused, because nobody has to decide on it. Only a model
// that may read the files learns more than that.
func (t *judge) look(ctx context.Context, c *call) {
	command := c.command
	executes, ok := apart(ctx, t.w, func() []Executed { return t.executed(command) })
	if !ok {
		c.refuse("%s", notBegun(ctx, c))
		return
	}
	c.executes, c.previews = executes, nil
	for _, e := range c.executes {
		c.previews = append(c.previews, e.Shown)
	}
	p, ok := c.tool.(tool.Previewer)
	if !ok {
		return
	}
	call := t.invocation(c)
	call.Agreed = c.agreed
	type shown struct {
		preview tool.Preview
		err     error
	}
	got, ok := apart(ctx, t.w, func() (s shown) {
		s.preview, s.err = p.Preview(ctx, call)
		return s
	})
	preview, err := got.preview, got.err
	switch {
	case !ok:
		c.refuse("%s", notBegun(ctx, c))
	case err != nil:
		// The question is about the arguments alone. What has changed, the run of the call finds.
		t.j.logger.Warn("no preview of a call", "tool", c.Name, "error", err)
	case preview.Fails == nil:
		c.previews = append(c.previews, preview.Files...)
	case c.readable:
		c.refuse("")
		c.output = *preview.Fails
	default:
		c.refuse("%s: not run: it does not fit the files as they are; read them, then call again", c.Name)
	}
}

// invocation is the call as its tool gets it.
func (t *judge) invocation(c *call) *tool.Invocation {
	return &tool.Invocation{
		Arguments: c.arguments, Pod: t.w.Pod, Turn: t.j.turn.Number, CallID: c.CallID, Key: c.Key(t.w.Pod), Plan: t.j.turn.Plan,
		Approved: c.approved, Agreed: c.previews, Targets: c.targets,
	}
}

// executed are the files that a command executes, as they are now.
func (t *judge) executed(command string) []Executed {
	if t.w.Executes == nil || command == "" {
		return nil
	}
	return t.w.Executes(command)
}

func (t *judge) callOf(c *call) interceptor.Call {
	return interceptor.Call{Pod: t.w.Pod, Turn: t.j.turn.Number, CallID: c.CallID, Key: c.Key(t.w.Pod), Tool: c.Name, Arguments: c.arguments}
}

// decision says in one sentence what was decided on the call.
func (c *call) decision() string {
	switch c.state {
	case callRefused:
		return c.output.Summary
	case callMade:
		return "answered by an interceptor"
	}
	return strings.Join(c.questions, "; ")
}

// review asks the interceptors about a call's output, one call at a time.
func (t *judge) review(ctx context.Context, c *call, out tool.Output) tool.Output {
	t.reviewing.Lock()
	defer t.reviewing.Unlock()
	d, err := t.w.Chain.AfterTool(ctx, interceptor.Result{Call: t.callOf(c), Output: out})
	if err != nil {
		// The call has run: its result stays, and the turn ends.
		d.Output, d.Aborted = out, err.Error()
	}
	t.j.warn(d.Warnings)
	c.aborted = d.Aborted
	t.j.observe(hook.Edge{
		Name: hook.EdgeAfterTool, CallID: c.CallID, Key: c.Key(t.w.Pod), Tool: c.Name, Arguments: c.arguments, Text: d.Output.Summary, Decision: d.Aborted,
	})
	return tool.Normal(d.Output)
}
