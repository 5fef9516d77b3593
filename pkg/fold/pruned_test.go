package fold_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// podLog is a log that grows like a pod's, and a state that follows it.
type podLog struct {
	entries []item.Entry
	fold    *fold.Fold
	state   *fold.Context
	now     time.Time
	calls   int
}

func newPodLog(t interface{ Fatal(...any) }) *podLog {
	f := rules(t).New()
	return &podLog{fold: f, state: f.Context, now: time.Unix(1_000_000, 0)}
}

func (l *podLog) append(kinds ...item.Kind) {
	for _, k := range kinds {
		e := item.Entry{Seq: item.Seq(len(l.entries) + 1), Time: l.now, Kind: k}
		l.entries = append(l.entries, e)
		l.fold.Add(e)
	}
}

// step is an answer that calls a tool, its usage, and the result.
func (l *podLog) step(arguments string, out item.Output) {
	l.calls++
	id := fmt.Sprint("c", l.calls)
	l.append(
		item.ItemAdded{Item: item.AssistantMessage{Text: "let me see"}},
		item.ItemAdded{Item: item.ToolCall{CallID: id, Name: "shell", Arguments: arguments}},
		item.RequestUsage{Step: l.calls},
		item.ItemAdded{Item: item.ToolResult{CallID: id, Output: out}},
	)
}

// prune stores the state's decision.
func (l *podLog) prune() bool {
	p, ok := l.state.Decide(l.now).Entry()
	if ok {
		l.append(p)
	}
	return ok
}

func shellOutput(bytes int) item.Output {
	return item.Output{Summary: "shell: done", Content: strings.Repeat("x", bytes), Kind: item.OutputShell}
}

// A prune removes contents from requests and nothing else: every call keeps its result,
// stored entries do not change, and what was left out once stays out. Between two prunes
// each request extends the previous one, and a state made from the whole log sends and
// decides the same.
func TestPruneChangesWhatIsSent(t *testing.T) {
	prunes := 0
	rapid.Check(t, func(t *rapid.T) {
		l := newPodLog(t)
		l.append(item.Setup{Model: "m"}, item.ItemAdded{Item: item.UserMessage{Text: "go"}})
		var before, snapshot []item.Item
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			l.now = l.now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 700}).Draw(t, "pause")) * time.Second)
			l.step("{}", shellOutput(rapid.SampledFrom([]int{0, 100, 5000, 60_000}).Draw(t, "bytes")))
			extends := true
			if rapid.Bool().Draw(t, "prune") && l.prune() {
				prunes++
				extends = false
			}
			items := l.state.Request().Items
			if extends && !slices.Equal(items[:len(before)], before) {
				t.Fatal("the request does not extend the one before")
			}
			if !slices.Equal(before, snapshot) {
				t.Fatal("a request that was given out has changed")
			}
			before, snapshot = items, slices.Clone(items)
			checkSent(t, l.entries, items)

			anew := newContext(t)
			for _, e := range l.entries {
				anew.Add(e)
			}
			if !reflect.DeepEqual(anew.Request(), l.state.Request()) || !reflect.DeepEqual(anew.Decide(l.now), l.state.Decide(l.now)) {
				t.Fatal("a state made from the whole log differs")
			}
		}
	})
	if prunes == 0 {
		t.Error("no session pruned anything")
	}
}

// checkSent compares the items of a request with the log.
func checkSent(t *rapid.T, log []item.Entry, sent []item.Item) {
	gone := map[item.Seq]bool{}
	for _, e := range log {
		if p, ok := e.Kind.(item.Prune); ok {
			for _, seq := range p.Seqs {
				if gone[seq] {
					t.Fatalf("%d is pruned twice", seq)
				}
				gone[seq] = true
			}
		}
	}
	var want []item.Item
	for _, e := range log {
		added, ok := e.Kind.(item.ItemAdded)
		if !ok {
			continue
		}
		it := added.Item
		if r, ok := it.(item.ToolResult); ok && gone[e.Seq] {
			if r.Content == "" {
				t.Fatalf("%d has lost its content in the log, or had none", e.Seq)
			}
			r.Content = ""
			it = r
		}
		want = append(want, it)
	}
	if !slices.Equal(sent, want) {
		t.Fatal("what is sent is not the log less what is pruned")
	}
}

// A command that only shows files is worth carrying like a read. Two commands that each
// show several files are not reads of the same one.
func TestReadsByShell(t *testing.T) {
	tests := map[string]struct {
		first, second string
		pruned        bool
	}{
		"no reads":            {"make", "make test", true},
		"reads":               {"cat a", "cat b", false},
		"a reread":            {"sed -n 1,9p ./a", "cat a", true},
		"a part of it":        {"cat a", "sed -n 1,9p ./a", false},
		"reads of some files": {"cat a b", "cat c d", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := newPodLog(t)
			l.append(item.Setup{Model: "m"}, item.ItemAdded{Item: item.UserMessage{Text: "go"}})
			for _, command := range []string{tt.first, tt.second, "true", "true"} {
				l.step(fmt.Sprintf(`{"command":%q}`, command), shellOutput(12_000))
			}
			l.append(item.RequestUsage{})
			first := item.Seq(6)
			l.now = l.now.Add(time.Hour)
			if got := slices.Contains(l.state.Decide(l.now).Seqs, first); got != tt.pruned {
				t.Errorf("the first result is pruned: %t, want %t", got, tt.pruned)
			}
		})
	}
}
