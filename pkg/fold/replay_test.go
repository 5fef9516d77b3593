package fold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/item"
)

func newRules(t interface{ Fatal(...any) }) *Rules {
	r, err := NewRules(ContextConfig{Models: dear})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reading reads entries, only the wanted ones.
func reading(log []item.Entry) Reader {
	return func(after item.Seq, only Selection) iter.Seq2[item.Entry, error] {
		return func(yield func(item.Entry, error) bool) {
			for _, e := range log {
				_, rewind := e.Kind.(item.Rewind)
				if e.Seq > after && (only != Rewinds || rewind) && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// drawLog draws a log with rewinds to effective entries, some of which go to before
// others.
func drawLog(t *rapid.T) (log []item.Entry) {
	counts := []item.Seq{}
	turn, calls := int64(0), 0
	add := func(kinds ...item.Kind) {
		for _, k := range kinds {
			seq := item.Seq(len(log) + 1)
			log = append(log, item.Entry{Seq: seq, Turn: turn, Time: time.Unix(int64(seq), 0).UTC(), Kind: k})
			counts = append(counts, seq)
		}
	}
	add(item.Setup{Model: "dear"})
	for range rapid.IntRange(1, 25).Draw(t, "parts") {
		switch rapid.IntRange(0, 5).Draw(t, "part") {
		case 0:
			add(item.Note{Text: fmt.Sprint("note ", len(log)), Wake: true})
		case 1:
			turn++
			add(item.TurnStarted{}, item.ItemAdded{Item: item.UserMessage{Text: "go on"}})
		case 2:
			to := rapid.SampledFrom(counts).Draw(t, "to")
			counts = slices.DeleteFunc(counts, func(s item.Seq) bool { return s > to })
			add(item.Rewind{To: to})
		case 3:
			add(item.Prune{Seqs: counts}, item.TurnEnded{})
		case 4:
			if i := len(counts) / 2; rapid.Bool().Draw(t, "compact") {
				add(item.Compaction{Summary: item.SystemMessage{Text: fmt.Sprint("summary ", len(log))}, UpTo: counts[i]})
			}
		default:
			calls++
			id := fmt.Sprint("c", calls)
			add(item.ItemAdded{Item: item.ToolCall{CallID: id, Name: "shell", Arguments: `{"command":"cat a.go"}`}},
				item.RequestUsage{Step: 1, Model: "dear", Measured: true, Usage: item.Usage{Input: int64(len(log) * 100), Requests: 1}},
				item.ItemAdded{Item: item.ToolResult{CallID: id, Tool: "shell", Output: item.Output{
					Kind: item.OutputShell, Summary: "ok", Content: strings.Repeat("x", rapid.IntRange(0, 5000).Draw(t, "size")),
				}}})
		}
	}
	return log
}

// what is a fold as text: what a base keeps of it, and the items.
func what(f *Fold) string {
	kept := f.base()
	clear(kept.Version[:])
	b, err := json.MarshalIndent([]any{kept, f.Context.items, f.Context.open}, "", " ")
	if err != nil {
		panic(err)
	}
	// A base does not distinguish an empty list from none.
	return strings.ReplaceAll(string(b), "[]", "null")
}

// differ says where two folds differ; empty if they are equal.
func differ(got, want *Fold) string {
	g, w := strings.Split(what(got), "\n"), strings.Split(what(want), "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("%s\nwant\n%s", strings.Join(g[max(0, i-5):i+1], "\n"), strings.Join(w[max(0, i-5):min(i+1, len(w))], "\n"))
		}
	}
	return ""
}

// A replay gives the fold of the effective entries, plus what all entries used. It
// accounts for undone entries as the pod did when it stored them. A replay that continues
// at any entry that no rewind crosses, from a saved fold or not, gives the same.
func TestReplay(t *testing.T) {
	rules := newRules(t)
	rapid.Check(t, func(t *rapid.T) {
		entries := drawLog(t)
		last := item.Seq(len(entries))
		log := Open(reading(entries), 0, last)
		got := rules.New()
		naive, lasting := rules.New(), rules.New()
		visited := 0
		err := log.Replay(got, last, func(e item.Entry) {
			if visited++; e.Seq != item.Seq(visited) || got.Last != e.Seq {
				t.Fatalf("entry %d is visited after %d", e.Seq, visited-1)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if _, rewind := e.Kind.(item.Rewind); rewind {
				// The pod adds everything that it stores, and goes back.
				lasting.back(foldUpTo(t, rules, entries, e))
			}
			lasting.Add(e)
			if log.Counts(e.Seq) {
				naive.Add(e)
			}
		}
		if d := differ(got, lasting); d != "" {
			t.Fatalf("the replay is not the pod's own fold:\n%s", d)
		}
		if got.Context.kept.Totals.PrunedTokens < naive.Context.kept.Totals.PrunedTokens || got.State.Total.Usage.Input < naive.State.Total.Usage.Input {
			t.Fatalf("what was taken back is not counted: %+v, and of what counts %+v", got.Context.kept.Totals, naive.Context.kept.Totals)
		}
		naive.Context.kept.Totals, naive.State.Total, naive.State.Turn.Number, naive.Context.calls = got.Context.kept.Totals, got.State.Total, got.State.Turn.Number, got.Context.calls
		if d := differ(got, naive); d != "" {
			t.Fatalf("the replay is not what counts:\n%s", d)
		}
		at := item.Seq(rapid.IntRange(1, len(entries)).Draw(t, "at"))
		half := rules.New()
		if err := log.Replay(half, at, nil); err != nil || !Open(reading(entries), at, last).Reaches(at) {
			return
		}
		if saved, err := half.Save(); err == nil {
			if half, err = rules.Restore(saved, reading(entries)); err != nil {
				t.Fatal(err)
			}
		}
		if err := Open(reading(entries), at, last).Replay(half, last, nil); err != nil {
			t.Fatal(err)
		}
		if d := differ(half, got); d != "" {
			t.Fatalf("the replay from %d on is another:\n%s", at, d)
		}
	})
}

// foldUpTo is the fold of a log up to the target of a rewind, computed separately.
func foldUpTo(t *rapid.T, r *Rules, entries []item.Entry, rewind item.Entry) *Fold {
	before := entries[:rewind.Seq-1]
	to := rewind.Kind.(item.Rewind).To
	f := r.New()
	if err := Open(reading(before), 0, to).Replay(f, to, nil); err != nil {
		t.Fatal(err)
	}
	return f
}

// A fold cannot continue across a rewind to before its end, and a rewind to an entry that
// the log does not have is damage.
func TestReplayThatIsRefused(t *testing.T) {
	rules := newRules(t)
	entries := []item.Entry{
		{Seq: 3, Kind: item.Note{Text: "first"}}, {Seq: 4, Kind: item.Note{Text: "second"}}, {Seq: 5, Kind: item.Rewind{To: 3}},
	}
	read := reading(entries)
	if log := Open(read, 4, 5); log.Reaches(4) || !Open(read, 3, 5).Reaches(3) || !Open(read, 4, 4).Reaches(4) {
		t.Error("a fold goes on behind a rewind")
	}
	entries[2].Kind = item.Rewind{To: 2}
	if err := Open(read, 0, 5).Replay(rules.New(), 5, nil); item.KindOf(err) != item.KindDataLoss {
		t.Errorf("a rewind to nowhere: %v", err)
	}
}

// A rewind undoes nothing that podd still has to do for a wing, and nothing that is done.
func TestPendingOverARewind(t *testing.T) {
	entries := []item.Entry{
		{Seq: 1, Kind: item.WingEntry{Pending: true}}, {Seq: 2, Kind: item.WingEntry{Pending: true}}, {Seq: 3, Kind: item.WingEntry{}},
		{Seq: 4, Kind: item.WingEntry{Done: 1}}, {Seq: 5, Kind: item.WingEntry{Pending: true}}, {Seq: 6, Kind: item.Rewind{To: 3}},
	}
	f := newRules(t).New()
	if err := Open(reading(entries), 0, 6).Replay(f, 6, nil); err != nil || !slices.Equal(f.State.Pending, []item.Seq{2, 5}) {
		t.Errorf("pending are %v, %v", f.State.Pending, err)
	}
}

// Every read returns an error of the reader after the entries before it, even an error
// that only the search for rewinds met.
func TestReaderFails(t *testing.T) {
	rules := newRules(t)
	broken := errors.New("broken")
	for name, fails := range map[string]Selection{"each time": -1, "the search": Rewinds, "the reading": All} {
		t.Run(name, func(t *testing.T) {
			read := func(after item.Seq, only Selection) iter.Seq2[item.Entry, error] {
				return func(yield func(item.Entry, error) bool) {
					if only != Rewinds && !yield(item.Entry{Seq: 1, Kind: item.Note{}}, nil) {
						return
					}
					if fails == -1 || fails == only {
						yield(item.Entry{}, broken)
					}
				}
			}
			log, f := Open(read, 0, math.MaxInt64), rules.New()
			if err := log.Replay(f, math.MaxInt64, nil); !errors.Is(err, broken) || f.Last != 1 {
				t.Errorf("replayed up to %d, error %v", f.Last, err)
			}
			var last error
			for _, err := range log.Entries(0, All) {
				last = err
			}
			if !errors.Is(last, broken) {
				t.Errorf("the last element has the error %v", last)
			}
		})
	}
}

// A search for rewinds that failed makes no rewind one to nowhere.
func TestSearchFails(t *testing.T) {
	broken := errors.New("broken")
	entries := []item.Entry{{Seq: 1, Kind: item.Note{}}, {Seq: 2, Kind: item.Note{}}, {Seq: 3, Kind: item.Rewind{To: 1}}}
	read := func(after item.Seq, only Selection) iter.Seq2[item.Entry, error] {
		if only == Rewinds {
			return func(yield func(item.Entry, error) bool) { yield(item.Entry{}, broken) }
		}
		return reading(entries)(after, only)
	}
	if err := Open(read, 0, 3).Replay(newRules(t).New(), 3, nil); !errors.Is(err, broken) {
		t.Errorf("replayed with the error %v", err)
	}
}

// The sample's fold is saved and restored like any other, and identifies its rules.
func TestSample(t *testing.T) {
	rules := newRules(t)
	f := rules.New()
	if err := Open(sample, 0, math.MaxInt64).Replay(f, math.MaxInt64, nil); err != nil {
		t.Fatal(err)
	}
	saved, err := f.Save()
	if err != nil {
		t.Fatal(err)
	}
	back, err := rules.Restore(saved, sample)
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.Save()
	if err != nil || !bytes.Equal(again, saved) || differ(back, f) != "" {
		t.Errorf("restored it is another:\n%s", differ(back, f))
	}
	if len(f.Context.items) < 5 || !slices.ContainsFunc(f.Context.ledger.kept.Records, func(r record) bool { return r.Edited > 0 && r.Reread > 0 }) || f.Context.kept.Meter.PerToken == 0 ||
		f.Context.kept.Totals.PrunedTokens == 0 || f.State.Turn.Fallback == (item.ModelRef{}) || len(f.State.Turn.Repeats.Calls) == 0 {
		t.Errorf("the sample is too poor:\n%s", what(f))
	}
	for name, c := range map[string]ContextConfig{"pruning": {Prune: Config{Floor: 81}}, "prices": {Models: Models{Prices: []ModelPrice{{Model: "x", Price: DefaultPrice()}}}}, "limits": {Limiter: func([]item.OutputLimit) Limiter {
		return func(_ string, out item.Output) (item.Output, bool) { return item.Output{Summary: "cut"}, true }
	}}} {
		if other, err := NewRules(c); err != nil || other.Same(rules) {
			t.Errorf("other %s are the same rules, error %v", name, err)
		}
	}
	if again := newRules(t); !again.Same(rules) {
		t.Error("the same configuration gives other rules")
	}
}
