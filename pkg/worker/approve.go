package worker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// maxQuestion bounds the shown reason why a call asks, in bytes.
const maxQuestion = 2000

// maxLeading bounds the shown text about where the paths of a call lead, in bytes: it is
// never cut, because a person decides by it.
const maxLeading = 16 << 10

// Digest is the SHA-256 of exactly what a call will run: the directory, the tool, its
// arguments, where its paths lead, the files that it executes, and what it makes of files. The
// separator is a byte that none of the parts has.
func Digest(dir, name, arguments string, targets []tool.Target, executes []Executed, previews []item.Preview) string {
	parts := []string{dir, name, arguments}
	for _, target := range targets {
		parts = append(parts, target.Seal())
	}
	for _, e := range executes {
		parts = append(parts, e.Path, e.Leads, e.Sum)
	}
	for _, p := range previews {
		if p.Runs {
			continue // Its checksum is above.
		}
		parts = append(parts, p.Path, p.MovesTo, p.Base, p.Diff)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return string(sum[:])
}

func (t *judge) digest(c *call) string {
	return Digest(t.w.Dir, c.Name, c.arguments, c.targets, c.executes, t.shown(c))
}

// shown are the previews of a call as they are stored: without secrets.
func (t *judge) shown(c *call) []item.Preview {
	list := slices.Clone(c.previews)
	for i, p := range list {
		list[i].Path, list[i].MovesTo, list[i].Diff = t.w.Output.Redact(p.Path), t.w.Output.Redact(p.MovesTo), t.w.Output.Redact(p.Diff)
	}
	return list
}

// leading says which paths of a call lead elsewhere by links, and which files it
// executes, without what why already says.
func (c *call) leading(why string) string {
	verb := "reads"
	if c.writes {
		verb = "writes"
	}
	var said []string
	for _, target := range c.targets {
		leads := target.Leads()
		if len(leads) == 0 || strings.Contains(why, strconv.Quote(target.Named())+", which leads to "+strconv.Quote(leads[0])) {
			continue
		}
		said = append(said, fmt.Sprintf("it %s %s, which leads to %s", verb, scopefs.Display(target.Named()), scopefs.Display(leads[0])))
	}
	for _, e := range c.executes {
		said = append(said, "it runs "+e.String())
	}
	return strings.Join(said, "; ")
}

// String is the file with the beginning of its checksum.
func (e Executed) String() string {
	const short = 12
	shown := scopefs.Display(e.Path)
	if e.Leads != "" {
		shown += ", which leads to " + scopefs.Display(e.Leads)
	}
	return fmt.Sprintf("%s (sha256 %s…, %s)", shown, e.Sum[:min(short, len(e.Sum))], e.Size)
}

// question is what a person is asked about a call: why, and what the arguments alone do
// not show. ok is false if that is too long to show.
func (c *call) question() (text string, ok bool) {
	why := strings.Join(c.questions, "; ")
	if len(why) > maxQuestion {
		why = tool.Repair(why[:maxQuestion]) + "…"
	}
	leading := c.leading(why)
	if leading != "" {
		why = strings.TrimSuffix(why, ".") + "; " + leading
	}
	return why, len(leading) <= maxLeading
}

// start returns the entries to store before a call continues: that it asks a person, or
// that it begins. A call that does not run has neither.
func (t *judge) start(ctx context.Context, c *call) []item.Kind {
	if len(c.questions) > 0 {
		t.look(ctx, c)
	}
	switch {
	case c.state.toolless():
		return nil
	case len(c.questions) == 0:
		return []item.Kind{t.started(ctx, c)}
	}
	why, ok := c.question()
	if !ok {
		c.refuse("%s: not run: too many of its paths are links to show them all to a person; name fewer paths in one call", c.Name)
		return nil
	}
	c.state, c.asked = callAsks, fold.Question{ApprovalRequested: item.ApprovalRequested{
		CallID: c.CallID, Tool: c.Name, Arguments: c.arguments,
		Digest: t.digest(c), Question: why, Expires: t.w.Now().Add(t.w.ApprovalTime).UTC(),
		Previews: t.shown(c),
	}}
	return []item.Kind{c.asked.ApprovalRequested, item.AlertRaised{Alert: item.Alert{
		Pod: t.w.Pod, Level: item.LevelWarn, Source: "approval", Reason: item.ReasonApprovalWaits, Time: t.w.Now(),
		Text: c.asked.AlertText(),
	}}}
}

// started is the entry that a call begins. It says what the call is about to make of files, so
// that podd knows after a kill whether it did.
func (t *judge) started(ctx context.Context, c *call) item.ToolStarted {
	if p, ok := c.tool.(tool.Previewer); ok && c.writes && c.command == "" {
		call := t.invocation(c)
		c.planned, _ = apart(ctx, t.w, func() []item.PlannedChange { return p.Plan(ctx, call) })
	}
	for i, change := range c.planned {
		c.planned[i].Path = t.w.Output.Redact(change.Path)
	}
	return item.ToolStarted{CallID: c.CallID, Tool: c.Name, Arguments: c.arguments, Planned: c.planned, Boot: t.w.Boot}
}

// answered continues a call whose question has an answer. After an approval interceptors
// and policy decide again, because their current decision applies; a call that they
// changed asks again. It returns the entries to store before the call continues.
func (t *judge) answered(ctx context.Context, c *call, r item.ApprovalResolved) []item.Kind {
	agreed := c.asked.Digest
	c.agreed = c.asked.Previews
	if !r.Approved {
		c.deny("%s", denial(c.Name, &r))
		return nil
	}
	t.decide(ctx, c)
	if !c.state.toolless() {
		// Also if the call would not need an approval now.
		t.look(ctx, c)
	}
	switch {
	case c.state.toolless():
		return nil
	case t.digest(c) == agreed:
		c.questions, c.approved = nil, true
	default:
		c.questions = append(c.questions, changedSince)
	}
	return t.start(ctx, c)
}

// changedSince is why a call asks again.
const changedSince = "the call changed after its approval"

// maxAgain bounds how often podd decides again on a call that was changed when it was
// about to begin.
const maxAgain = 3

// redecide decides again on a call that was changed when it was about to begin, and did
// nothing. The log already has its start; it gets a new entry when a person is asked, or when
// the call is about to make something else of files.
func (t *judge) redecide(ctx context.Context, c *call) []item.Kind {
	if c.tries++; c.tries > maxAgain {
		c.refuse("%s: not run: its paths or the files it executes keep changing; find out what changes them, then call again", c.Name)
		return nil
	}
	agreed, before := c.approved, c.arguments
	c.approved = false
	t.decide(ctx, c)
	switch {
	case c.state.toolless():
		return nil
	case agreed || c.arguments != before:
		c.questions = append(c.questions, changedSince)
	case len(c.questions) == 0:
		planned := c.planned
		if started := t.started(ctx, c); !slices.Equal(started.Planned, planned) {
			return []item.Kind{started}
		}
		return nil
	}
	return t.start(ctx, c)
}

// again decides on a call that waited for earlier ones of its answer. What was decided before holds
// if it asks nobody and no earlier call took a person's time.
func (t *judge) again(ctx context.Context, c *call, earlier []*call) []item.Kind {
	if c.decided && !slices.ContainsFunc(earlier, func(e *call) bool { return e.asked.CallID != "" }) {
		c.state = callRuns
	} else {
		t.decide(ctx, c)
	}
	return t.start(ctx, c)
}

// starts returns the entries to store before calls continue. A call that changes files which
// earlier ones change waits for these: a person sees it, and podd plans it, as it is then.
func (t *judge) starts(ctx context.Context, calls []*call) []item.Kind {
	var kinds []item.Kind
	for i, c := range calls {
		if !c.state.toolless() && slices.ContainsFunc(calls[:i], func(e *call) bool { return e.precedes(c) }) {
			c.state, c.decided = callWaits, len(c.questions) == 0
			continue
		}
		kinds = append(kinds, t.start(ctx, c)...)
	}
	return kinds
}
