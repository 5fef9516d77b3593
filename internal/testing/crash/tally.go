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
	// Skipped counts rounds for features that this podd does not have.
	Skipped int
	// Acknowledged submits, and how many of them are in the log and ran.
	Acknowledged, Found int
	// Commands is the number of shell commands that ran, Requests the number of requests
	// that the model got, Resumed how often a turn was resumed, WornOut how many turns were
	// given up after the documented number of ends at one step.
	Commands, Requests, Resumed, WornOut int
	// Outcomes counts interrupted calls by how podd learned their outcome.
	Outcomes map[poddv1.Recovery]int
	// Histories is how many writes and readings one order was found for.
	Histories int

	// Acts counts what clients did besides submitting, by the name of the act.
	Acts map[string]Answered

	// Violations. Lost are acknowledged submits, Repeated requests and calls that ran twice,
	// ResultsLost results of commands that ended, Gaps and Duplicates entries that streams
	// left out or repeated, IllFormed requests, GivenUp turns that were given up too early.
	// Other is everything else.
	Lost, Repeated, ResultsLost, Gaps, Duplicates, IllFormed, GivenUp, Other findings
}

// Answered is how often podd acknowledged an act, and how often no answer came.
type Answered struct{ Acknowledged, Open int }

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
func (t *Tally) learned(how poddv1.Recovery, calls int) {
	if t.Outcomes == nil {
		t.Outcomes = make(map[poddv1.Recovery]int)
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
	t.Kills += o.Kills
	t.Ends += o.Ends
	t.Skipped += o.Skipped
	t.Acknowledged += o.Acknowledged
	t.Found += o.Found
	t.Commands += o.Commands
	t.Requests += o.Requests
	t.Resumed += o.Resumed
	t.WornOut += o.WornOut
	t.Histories += o.Histories
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
	for _, how := range slices.Sorted(maps.Keys(sum.Outcomes)) {
		fmt.Fprintf(out, "interrupted calls, %s: %d\n", how, sum.Outcomes[how])
	}
	for _, name := range slices.Sorted(maps.Keys(sum.Acts)) {
		fmt.Fprintf(out, "%s: %d acknowledged, %d without an answer\n", name, sum.Acts[name].Acknowledged, sum.Acts[name].Open)
	}
}
