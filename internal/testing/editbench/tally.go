package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// tally counts the calls of an agent.
type tally struct {
	calls, accepted            int // accepted by the agent's own tool
	meant, other, forgiven     int
	refused, refusedAcceptable int
	why                        map[string]int
}

func (t *tally) add(u *tally) {
	t.calls, t.accepted = t.calls+u.calls, t.accepted+u.accepted
	t.meant, t.other, t.forgiven = t.meant+u.meant, t.other+u.other, t.forgiven+u.forgiven
	t.refused, t.refusedAcceptable = t.refused+u.refused, t.refusedAcceptable+u.refusedAcceptable
	if t.why == nil {
		t.why = make(map[string]int)
	}
	for reason, n := range u.why {
		t.why[reason] += n
	}
}

// tally runs the calls and counts them by tool.
func (b *bench) tally(ctx context.Context, calls []call, verbose bool, out io.Writer) map[string]*tally {
	tallies := make(map[string]*tally)
	for _, c := range calls {
		if ctx.Err() != nil {
			break
		}
		t := tallies[c.tool]
		if t == nil {
			t = &tally{why: make(map[string]int)}
			tallies[c.tool] = t
		}
		got, err := b.try(ctx, c)
		if err != nil {
			got = outcome{refused: true, summary: err.Error()}
		}
		verdict := t.count(c, got, b.meant(ctx, c))
		if verbose && verdict != "as meant" {
			_, _ = fmt.Fprintf(out, "\n%s, %s: %s\n%s\n--- shown\n%s", c.from, c.tool, verdict, got.summary, got.content)
			for _, key := range slices.Sorted(maps.Keys(c.args)) {
				_, _ = fmt.Fprintf(out, "--- %s\n%v\n", key, c.args[key])
			}
		}
	}
	return tallies
}

// meant is the text that the recording expects: the text after the call or, for a refused
// call, after its retry; nil if the recording does not say.
func (b *bench) meant(ctx context.Context, c call) map[string]string {
	if c.after != nil || c.retry == nil {
		return c.after
	}
	again := *c.retry
	again.before = c.before
	got, err := b.try(ctx, again)
	if err != nil || got.refused {
		return nil
	}
	return got.after
}

func (t *tally) count(c call, got outcome, want map[string]string) string {
	t.calls++
	if !c.refused {
		t.accepted++
	}
	switch {
	case got.refused:
		t.refused++
		t.why[reason(got.summary)]++
		if c.refused {
			return "refused, as recorded"
		}
		t.refusedAcceptable++
		return "refused, but the agent's tool accepted it"
	case want == nil:
		t.forgiven++
		return "applied; the recording does not say what was meant"
	case same(got.after, want):
		t.meant++
		return "as meant"
	}
	t.other++
	return "applied otherwise than the recording"
}

func header(out io.Writer) {
	_, _ = fmt.Fprint(out, "| agent, tool | calls | accepted by its tool | as meant | not known | otherwise | refused | of these its tool accepted |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
}

func (t *tally) row(out io.Writer, name string) {
	_, _ = fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", name, t.calls, t.accepted, t.meant, t.forgiven, t.other, t.refused, t.refusedAcceptable)
}

// varying matches what differs between two errors of the same kind.
var varying = regexp.MustCompile(`"(\\.|[^"])*"…?|[0-9]+(, [0-9…]+)*|\S*/\S*|\S+\.\w+\b`)

func reason(summary string) string {
	summary, _, _ = strings.Cut(varying.ReplaceAllString(summary, "…"), ": read the file again")
	return summary
}

func (t *tally) reasons(out io.Writer) {
	_, _ = fmt.Fprint(out, "\n| refused because | calls |\n| --- | --- |\n")
	for _, why := range slices.SortedFunc(maps.Keys(t.why), func(a, b string) int {
		if n := t.why[b] - t.why[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	}) {
		_, _ = fmt.Fprintf(out, "| %s | %d |\n", why, t.why[why])
	}
}
