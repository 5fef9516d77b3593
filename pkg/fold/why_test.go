package fold_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

func fileRead(path string, bytes int) item.Output {
	return item.Output{Summary: "read " + path, Content: strings.Repeat("line\n", bytes/5), Kind: item.OutputRead, Path: path}
}

// whys are the reasons of the results of the next request, by their summaries.
func (l *podLog) whys() map[string]string {
	parts, _ := l.state.Explain(l.now)
	found := make(map[string]string)
	for _, p := range parts {
		if r, ok := p.Item.(item.ToolResult); ok {
			found[r.Summary] = p.Why
		} else if p.Why != "" {
			found["no result"] = p.Why
		}
	}
	return found
}

// Each result says why it is left out or kept, in the words of what happened to it.
func TestWhy(t *testing.T) {
	l := newPodLog(t)
	l.append(item.ItemAdded{Item: item.UserMessage{Text: "go"}})
	l.step(`{}`, fileRead("old.go", 60_000))
	l.step(`{}`, fileRead("edited.go", 60_000))
	l.step(`{}`, fileRead("again.go", 60_000))
	edited := item.Seq(len(l.entries) + 4)
	l.step(`{}`, item.Output{Summary: "edit", Kind: item.OutputEdit, Path: "edited.go"})
	again := item.Seq(len(l.entries) + 4)
	l.step(`{}`, item.Output{Summary: "second", Content: strings.Repeat("x\n", 500), Kind: item.OutputRead, Path: "again.go"})
	l.step(`{}`, item.Output{Summary: "tasks", Content: strings.Repeat("x\n", 500), Kind: item.OutputOther, Sticky: true})
	for range 30 {
		l.step(`{}`, item.Output{Summary: "small"})
	}
	l.step(`{}`, item.Output{Summary: "failed", Content: strings.Repeat("x\n", 500), Kind: item.OutputShell, IsError: true})
	l.step(`{}`, item.Output{Summary: "a file", Content: strings.Repeat("x\n", 3000), Kind: item.OutputRead, Path: "fresh.go"})
	for range 3 {
		l.step(`{}`, item.Output{Summary: "small"})
	}
	l.step(`{}`, shellOutput(5000))
	at := item.Seq(len(l.entries) + 1)
	l.append(item.Prune{Seqs: []item.Seq{5, 9, 13}, Policy: string(fold.ModeEconomic)})
	got := l.whys()
	want := map[string]string{
		"read old.go":    "left out at #" + text(at) + ": ",
		"read edited.go": "left out at #" + text(at) + ": its file was edited at #" + text(edited),
		"read again.go":  "left out at #" + text(at) + ": its file was read again at #" + text(again),
		"tasks":          "kept: never left out",
		"small":          "",
		"failed":         "kept: an error of this turn",
		"a file":         "kept: ",
	}
	for summary, clause := range want {
		if got[summary] != clause && (!strings.HasSuffix(clause, ": ") || !strings.HasPrefix(got[summary], clause)) {
			t.Errorf("%s: %q, want %q", summary, got[summary], clause)
		}
	}
	if !strings.HasSuffix(got["read old.go"], "requests old") || !strings.HasSuffix(got["a file"], "% likely to be needed again") {
		t.Errorf("%q", got)
	}
	if got["no result"] != "" {
		t.Errorf("an item that no rule is about says %q", got["no result"])
	}
	l.now = l.now.Add(time.Second)
	l.append(item.Prune{Seqs: []item.Seq{at - 1}, Policy: fold.PolicyPressure})
	found := false
	for _, why := range l.whys() {
		found = found || strings.HasSuffix(why, ": the window was nearly full")
	}
	if !found {
		t.Errorf("%q", l.whys())
	}
}

func text(seq item.Seq) string { return fmt.Sprint(int64(seq)) }

// What a prune and a cut keep out of requests counts for each request after them, over a base too.
func TestSpared(t *testing.T) {
	l := newPodLog(t)
	l.append(item.ItemAdded{Item: item.UserMessage{Text: "go"}})
	out := fileRead("a.go", 40_000)
	out.Cut = &item.Cut{TotalBytes: 80_000, KeptBytes: 40_000}
	l.step(`{}`, out)
	l.step(`{}`, item.Output{Summary: "small"}) // Its request carries the cut result whole.
	spared := func() (sum item.Spared) {
		for _, r := range l.state.Totals().Requests {
			sum = sum.Add(r.Spared)
		}
		return sum
	}
	first := spared()
	if first.Pruned != 0 || first.Cut < 9_000 || first.Cut > 11_000 {
		t.Errorf("before the prune %+v", first)
	}
	before := l.state.Tokens()
	l.append(item.Prune{Seqs: []item.Seq{5}, Policy: string(fold.ModeEconomic)})
	saved := int64(before - l.state.Tokens())
	l.step(`{}`, item.Output{Summary: "small"})
	l.step(`{}`, item.Output{Summary: "small"})
	if got, want := spared(), (item.Spared{Pruned: 2 * saved, Cut: 3 * first.Cut}); got != want || saved < 9_000 {
		t.Errorf("after two requests more %+v, want %+v", got, want)
	}
	out.Cut = &item.Cut{TotalBytes: 80_000_000_000, KeptBytes: 40_000}
	l.step(`{}`, out)
	l.step(`{}`, item.Output{Summary: "small"})
	if got := spared().Cut - 5*first.Cut; got != 200_000 {
		t.Errorf("an endless output counts as %d tokens", got)
	}
}
