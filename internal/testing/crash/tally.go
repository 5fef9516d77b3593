package crash

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	poddv1 "podd/proto/podd/v1"
)

// Tally is the result of rounds.
type Tally struct {
	// Rounds is the number of state directories, Kills how often SIGKILL ended podd, Ends
	// how often something else did: a signal, a failed store.
	Rounds, Kills, Ends int
	// Cuts is after how many of the kills the power was cut.
	Cuts int
	// Skipped counts rounds for features that this podd does not have.
	Skipped int
	// Acknowledged submits, and how many of them are in the log and ran.
	Acknowledged, Found int
	// Commands is the number of shell commands that ran, Requests the number of requests
	// that the model got, Resumed how often a turn was resumed, WornOut how many turns were
	// given up after the documented number of ends at one step.
	Commands, Requests, Resumed, WornOut int
	// Outcomes counts interrupted calls by their tools and how podd learned their outcome; Twice are
	// those that one more end of podd interrupted while it did.
	Outcomes map[outcome]int
	Twice    int
	// Calls counts the results of all calls.
	Calls int
	// Histories is how many writes and readings one order was found for.
	Histories int
	// Traces is how many traces of nodes the model of leases explains, Actions how many actions they show.
	Traces, Actions int

	// Acts counts what clients did besides submitting, by the name of the act.
	Acts map[string]Answered

	// Violations. Lost are acknowledged submits, Repeated requests and calls that ran twice,
	// ResultsLost results of commands that ended, Gaps and Duplicates entries that streams
	// left out or repeated, IllFormed requests, GivenUp turns that were given up too early.
	// Broken are invariants of logs (docs/spec.md), Other is everything else.
	Lost, Repeated, ResultsLost, Gaps, Duplicates, IllFormed, GivenUp, Broken, Other findings
}

// Answered is how often podd acknowledged an act, and how often no answer came.
type Answered struct{ Acknowledged, Open int }

// outcome is a tool, and how podd learned what an interrupted call of it did.
type outcome struct {
	tool string
	how  poddv1.Recovery
}

// act counts one.
func (t *Tally) act(name string, acknowledged bool) {
	if t.Acts == nil {
		t.Acts = make(map[string]Answered)
	}
	a := t.Acts[name]
	if acknowledged {
		a.Acknowledged++
	} else {
		a.Open++
	}
	t.Acts[name] = a
}

// learned counts interrupted calls whose outcome podd learned in a way.
func (t *Tally) learned(how outcome, calls int) {
	if t.Outcomes == nil {
		t.Outcomes = make(map[outcome]int)
	}
	t.Outcomes[how] += calls
}

// wrong are the findings of each kind.
func (t *Tally) wrong() []struct {
	name  string
	found *findings
} {
	return []struct {
		name  string
		found *findings
	}{
		{"lost", &t.Lost},
		{"repeated", &t.Repeated},
		{"results lost", &t.ResultsLost},
		{"gaps", &t.Gaps},
		{"duplicates", &t.Duplicates},
		{"ill-formed", &t.IllFormed},
		{"given up", &t.GivenUp},
		{"broken", &t.Broken},
		{"other", &t.Other},
	}
}

// Failures are the sentences about all violations.
func (t *Tally) Failures() []string {
	var all []string
	for _, w := range t.wrong() {
		for _, text := range *w.found {
			all = append(all, w.name+": "+text)
		}
	}
	return all
}

func (t *Tally) merge(o *Tally) {
	t.Rounds += o.Rounds
	t.Traces += o.Traces
	t.Actions += o.Actions
	t.Kills += o.Kills
	t.Cuts += o.Cuts
	t.Ends += o.Ends
	t.Skipped += o.Skipped
	t.Acknowledged += o.Acknowledged
	t.Found += o.Found
	t.Commands += o.Commands
	t.Requests += o.Requests
	t.Resumed += o.Resumed
	t.WornOut += o.WornOut
	t.Histories += o.Histories
	t.Twice += o.Twice
	t.Calls += o.Calls
	for how, n := range o.Outcomes {
		t.learned(how, n)
	}
	for name, theirs := range o.Acts {
		if t.Acts == nil {
			t.Acts = make(map[string]Answered)
		}
		a := t.Acts[name]
		t.Acts[name] = Answered{a.Acknowledged + theirs.Acknowledged, a.Open + theirs.Open}
	}
	theirs := o.wrong()
	for i, w := range t.wrong() {
		*w.found = append(*w.found, *theirs[i].found...)
	}
}

// table prints a line for each part, and the sum.
func table(out io.Writer, names []string, parts []*Tally) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := []string{"", "rounds", "skipped", "kills", "other ends", "acknowledged", "found", "commands", "requests", "resumed", "worn out"}
	for _, x := range new(Tally).wrong() {
		head = append(head, x.name)
	}
	fmt.Fprintln(w, strings.Join(head, "\t")+"\t")
	sum := &Tally{}
	line := func(name string, t *Tally) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t", name, t.Rounds, t.Skipped, t.Kills, t.Ends, t.Acknowledged, t.Found, t.Commands, t.Requests, t.Resumed, t.WornOut)
		for _, x := range t.wrong() {
			fmt.Fprintf(w, "%d\t", len(*x.found))
		}
		fmt.Fprintln(w)
	}
	for i, t := range parts {
		line(names[i], t)
		sum.merge(t)
	}
	line("all", sum)
	w.Flush()
	sum.outcomes(out)
	if sum.Cuts > 0 {
		fmt.Fprintf(out, "power cuts: %d\n", sum.Cuts)
	}
	for _, name := range slices.Sorted(maps.Keys(sum.Acts)) {
		fmt.Fprintf(out, "%s: %d acknowledged, %d without an answer\n", name, sum.Acts[name].Acknowledged, sum.Acts[name].Open)
	}
}

// outcomes prints how podd learned the outcome of interrupted calls, by their tools.
func (t *Tally) outcomes(out io.Writer) {
	if len(t.Outcomes) == 0 {
		return
	}
	ways := []poddv1.Recovery{poddv1.Recovery_RECOVERY_FOUND, poddv1.Recovery_RECOVERY_NO_EFFECT, poddv1.Recovery_RECOVERY_AGAIN, poddv1.Recovery_RECOVERY_UNKNOWN}
	tools := map[string]bool{}
	for o := range t.Outcomes {
		tools[o.tool] = true
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "interrupted calls\tfound\tno effect\tagain\tunknown\t")
	line := func(name string, has func(tool string) bool) {
		fmt.Fprintf(w, "%s\t", name)
		for _, how := range ways {
			n := 0
			for o, calls := range t.Outcomes {
				if o.how == how && has(o.tool) {
					n += calls
				}
			}
			fmt.Fprintf(w, "%d\t", n)
		}
		fmt.Fprintln(w)
	}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		line(name, func(tool string) bool { return tool == name })
	}
	line("all", func(string) bool { return true })
	w.Flush()
	fmt.Fprintf(out, "of %d calls; interrupted again while podd looked: %d\n", t.Calls, t.Twice)
}
