package fold_test

import (
	"fmt"
	"strings"
	"testing"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Only a read that shows the lines of an earlier one again supersedes it, however each of them reads.
func TestReadsOfOtherLines(t *testing.T) {
	read := func(arguments string) (string, item.Output) { return arguments, fileRead("a.go", 30_000) }
	cut := func(arguments string, kept int64) (string, item.Output) {
		arguments, out := read(arguments)
		out.Cut = &item.Cut{TotalBytes: 90_000, TotalLines: 3 * kept, KeptBytes: 30_000, KeptLines: kept}
		return arguments, out
	}
	shell := func(command string) (string, item.Output) {
		out := fileRead("a.go", 30_000)
		out.Kind, out.Path = item.OutputShell, ""
		return fmt.Sprintf(`{"command":%q}`, command), out
	}
	failed := func() (string, item.Output) {
		arguments, out := read(`{}`)
		out.IsError = true
		return arguments, out
	}
	type call func() (string, item.Output)
	of := func(arguments string, out item.Output) call {
		return func() (string, item.Output) { return arguments, out }
	}
	for i, c := range []struct {
		first, second call
		again         bool
	}{
		{of(read(`{}`)), of(read(`{}`)), true},
		{of(read(`{}`)), of(read(`{"start_line":1}`)), true},
		{of(read(`{}`)), of(read(`{"start_line":2}`)), false},
		{of(read(`{"start_line":2}`)), of(read(`{}`)), true},
		{of(read(`{"start_line":2,"end_line":9}`)), of(read(`{"start_line":1,"end_line":9}`)), true},
		{of(read(`{"start_line":2,"end_line":9}`)), of(read(`{"start_line":3,"end_line":12}`)), false},
		{of(read(`{"start_line":2}`)), of(read(`{"start_line":2,"end_line":900}`)), false},
		{of(cut(`{}`, 100)), of(read(`{"start_line":101}`)), false},
		{of(cut(`{}`, 100)), of(read(`{"end_line":100}`)), true},
		{of(read(`{"start_line":101}`)), of(cut(`{}`, 100)), false},
		{of(cut(`{}`, 100)), of(cut(`{}`, 100)), true},
		{of(cut(`{"start_line":50}`, 100)), of(read(`{"start_line":50,"end_line":149}`)), true},
		{of(read(`{}`)), failed, false},
		{of(shell("cat a.go")), of(shell("nl -ba a.go")), true},
		{of(shell("sed -n 1,50p a.go")), of(shell("sed -n '51,$p' a.go")), false},
		{of(shell("sed -n 10,50p a.go")), of(shell("nl a.go | sed -n '1,60p'")), true},
		{of(shell("sed -n 10,50p a.go")), of(read(`{"start_line":10,"end_line":50}`)), true},
		{of(shell("head -n 40 a.go")), of(shell("head -50 a.go")), true},
		{of(shell("head -n40 a.go")), of(shell("sed -n 40p a.go")), false},
		{of(shell("tail -5 a.go")), of(shell("tail -5 a.go")), false},
		{of(shell("tail -5 a.go")), of(shell("cat a.go")), true},
		{of(shell("head a.go")), of(shell("sed -n '1,5p;7,20p' a.go")), false},
		{of(shell("sed -n 1,9p a.go | head -n 3")), of(shell("sed -n 1,20p a.go")), false},
		{of(shell("sed -n 9,1p a.go")), of(shell("sed -n 1,20p a.go")), false},
		{of(shell("sed -n 1,5p a.go; sed -n 8,9p a.go")), of(shell("sed -n 1,9p a.go")), false},
		{of(shell("sed -n -e 1p -e 3p a.go")), of(shell("sed -n 1p a.go")), false},
	} {
		l := newPodLog(t)
		l.append(item.ItemAdded{Item: item.UserMessage{Text: "go"}})
		for _, call := range []call{c.first, c.second} {
			arguments, out := call()
			l.step(arguments, out)
		}
		for range 3 {
			l.step(`{}`, item.Output{Summary: "small"})
		}
		l.append(item.Prune{Seqs: []item.Seq{5}, Policy: string(fold.ModeEconomic)})
		parts, _ := l.state.Explain(l.now)
		if why := parts[3].Why; strings.Contains(why, "read again") != c.again {
			_, a := c.first()
			t.Errorf("case %d, %s: %q", i, a.Summary, why)
		}
	}
}
