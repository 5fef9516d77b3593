package fold_test

import (
	"bytes"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// drawEntries extends a log by something that may come between two steps, or by a step.
func (l *podLog) drawEntries(t *rapid.T) {
	l.now = l.now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 700}).Draw(t, "pause")) * time.Second)
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		l.append(item.Setup{
			Model: rapid.SampledFrom([]string{"m", "gpt-5.6"}).Draw(t, "model"), Instructions: "be brief",
			OutputLimits: rapid.SampledFrom([][]item.OutputLimit{nil, outputLimits(20_000), outputLimits(300), outputLimits(4000)}).Draw(t, "limits"),
		})
	case 1, 2:
		l.append(item.Submitted{}, item.TurnStarted{}, item.ItemAdded{Item: item.UserMessage{Text: "go on"}})
	case 3:
		l.prune()
	case 4:
		if n, ok := l.state.CompactionPoint(rapid.IntRange(0, 8000).Draw(t, "keep")); ok {
			summary := item.SystemMessage{Text: fmt.Sprint("summary ", len(l.entries))}
			foretold := l.state.TokensWith(n, summary)
			l.append(item.Compaction{Summary: summary, UpTo: l.state.SeqOf(n)})
			if now := l.state.Tokens(); now != foretold {
				t.Fatalf("the next request has %d tokens; with the summary it was to have %d", now, foretold)
			}
		}
	default:
		l.drawStep(t)
	}
}

// drawStep is a step whose calls end in any order.
func (l *podLog) drawStep(t *rapid.T) {
	var results []item.Kind
	for range rapid.IntRange(1, 3).Draw(t, "calls") {
		l.calls++
		call := item.ToolCall{CallID: fmt.Sprint("c", l.calls), Name: "shell", Arguments: rapid.SampledFrom([]string{
			`{"command":"cat d.go"}`, `{"command":"sed -n 5,9p d.go"}`, `{"start_line":3}`, `{"start_line":3,"end_line":8}`,
		}).Draw(t, "arguments")}
		l.append(item.ItemAdded{Item: call})
		results = append(results, item.ItemAdded{Item: item.ToolResult{CallID: call.CallID, Output: item.Output{
			Summary: "done", Content: strings.Repeat("x", rapid.SampledFrom([]int{0, 100, 5000, 60_000}).Draw(t, "bytes")),
			Kind:    rapid.SampledFrom([]item.OutputKind{item.OutputRead, item.OutputEdit, item.OutputShell}).Draw(t, "kind"),
			Path:    rapid.SampledFrom([]string{"", "a.go", "./a.go", "b.go"}).Draw(t, "path"),
			IsError: rapid.IntRange(0, 4).Draw(t, "error") == 0,
		}}})
	}
	usage := item.RequestUsage{Measured: rapid.Bool().Draw(t, "measured")}
	usage.Usage.Input = int64(l.state.Tokens() + rapid.IntRange(0, 3000).Draw(t, "off"))
	usage.Usage.CachedInput = rapid.SampledFrom([]int64{0, 100}).Draw(t, "cached")
	l.append(usage)
	if rapid.Bool().Draw(t, "reversed") {
		slices.Reverse(results)
	}
	l.append(results...)
}

func rules(t interface{ Fatal(...any) }) *fold.Rules {
	r, err := fold.NewRules(fold.ContextConfig{Limiter: limiter})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reader returns consecutive entries, from any one on.
func reader(entries []item.Entry) fold.Reader {
	return func(after item.Seq, _ fold.Selection) iter.Seq2[item.Entry, error] {
		return func(yield func(item.Entry, error) bool) {
			for _, e := range entries {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
		}
	}
}

func restored(t interface{ Fatal(...any) }, base []byte, log []item.Entry) *fold.Fold {
	f, err := rules(t).Restore(base, reader(log))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func baseOf(t interface{ Fatal(...any) }, f *fold.Fold) []byte {
	b, err := f.Save()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A base may be made at any point: a fold restored from it and from the items in the next
// request continues like the fold of the whole log. It sends, estimates and decides the
// same, and makes the same base.
func TestRestoredGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newPodLog(t)
		for range rapid.IntRange(0, 25).Draw(t, "before") {
			l.drawEntries(t)
		}
		from := len(l.entries)
		f := restored(t, baseOf(t, l.fold), l.entries)
		s := f.Context
		for range rapid.IntRange(0, 15).Draw(t, "after") {
			l.drawEntries(t)
		}
		for _, e := range l.entries[from:] {
			f.Add(e)
		}
		if !reflect.DeepEqual(s.Request(), l.state.Request()) {
			t.Fatalf("it sends\n%+v\nwant\n%+v", s.Request(), l.state.Request())
		}
		gotParts, gotSize := s.Explain(time.Time{})
		wantParts, wantSize := l.state.Explain(time.Time{})
		if !reflect.DeepEqual(gotParts, wantParts) || gotSize != wantSize {
			t.Fatalf("it explains\n%+v %+v\nwant\n%+v %+v", gotParts, gotSize, wantParts, wantSize)
		}
		for _, later := range []time.Duration{0, time.Hour} {
			if got, want := s.Decide(l.now.Add(later)), l.state.Decide(l.now.Add(later)); !reflect.DeepEqual(got, want) {
				t.Fatalf("it decides\n%+v\nwant\n%+v", got, want)
			}
		}
		for n := range l.calls + 2 {
			if id := fmt.Sprint("c", n); s.KnownCall(id) != l.state.KnownCall(id) {
				t.Fatalf("it knows the call %s: %t", id, s.KnownCall(id))
			}
		}
		if s.First() != l.state.First() || !bytes.Equal(baseOf(t, f), baseOf(t, l.fold)) {
			t.Fatal("it makes another base")
		}
	})
}

// A fold makes no base while a call has no result. Restore refuses other data, and a base
// whose items are missing.
func TestBaseIsRefused(t *testing.T) {
	folded := func(k item.Kind) (*fold.Fold, []item.Entry) {
		l := newPodLog(t)
		l.append(k)
		return l.fold, l.entries
	}
	if f, _ := folded(item.ItemAdded{Item: item.ToolCall{CallID: "c1"}}); true {
		if _, err := f.Save(); err == nil {
			t.Error("a base has an open call")
		}
	}
	if _, err := rules(t).Restore([]byte("x"), reader(nil)); err == nil {
		t.Error("a state was restored of nothing")
	}
	f, log := folded(item.ItemAdded{Item: item.UserMessage{Text: "hi"}})
	base := baseOf(t, f)
	restored(t, base, log)
	log[0].Seq = 2
	if _, err := rules(t).Restore(base, reader(log)); err == nil {
		t.Error("a state was restored without its items")
	}
	other, err := fold.NewRules(fold.ContextConfig{Limiter: limiter, Prune: fold.Config{Floor: 81}})
	if err != nil {
		t.Fatal(err)
	}
	log[0].Seq = 1
	if _, err := other.Restore(base, reader(log)); err == nil {
		t.Error("a state was restored under other rules")
	}
}

// A restored setup equals the stored one, even if one of its lists is empty.
func TestRestoredSetup(t *testing.T) {
	l := newPodLog(t)
	setup := item.Setup{Model: "m", Tools: []item.ToolSpec{}, OutputLimits: []item.OutputLimit{}}
	l.append(setup, item.ItemAdded{Item: item.UserMessage{Text: "hi"}})
	got, ok := restored(t, baseOf(t, l.fold), l.entries).Context.Setup()
	if !ok || !got.Equal(setup) || !setup.Equal(got) {
		t.Errorf("%#v", got)
	}
	for name, change := range map[string]func(*item.Setup){
		"the model": func(s *item.Setup) { s.Model = "n" }, "a tool": func(s *item.Setup) { s.Tools = make([]item.ToolSpec, 1) },
		"a limit": func(s *item.Setup) { s.OutputLimits = make([]item.OutputLimit, 1) },
	} {
		other := setup
		if change(&other); other.Equal(got) || got.Equal(other) {
			t.Errorf("another one in %s is treated as the same", name)
		}
	}
}

// A base does not grow with the past, except for 8 bytes per call.
func TestBaseIsSmall(t *testing.T) {
	l := newPodLog(t)
	l.append(item.Setup{Model: "m"}, item.ItemAdded{Item: item.UserMessage{Text: "go"}})
	const calls = 5000
	for range calls {
		l.step("{}", item.Output{Summary: "read", Content: strings.Repeat("x", 1000), Kind: item.OutputRead, Path: fmt.Sprint("file", l.calls)})
	}
	n, _ := l.state.CompactionPoint(1000)
	l.append(item.Compaction{Summary: item.SystemMessage{Text: "They went on."}, UpTo: l.state.SeqOf(n)})
	if got := len(baseOf(t, l.fold)); got > 10*calls+3000 {
		t.Errorf("the base has %d bytes", got)
	}
}
