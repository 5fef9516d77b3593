package view_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podd/internal/clients/view"
	"podd/pkg/item"
)

// screenOf is what a terminal shows after the bytes that views write.
func screenOf(written string) string {
	lines, row := []string{""}, 0
	col := 0
	for written != "" {
		var n int
		switch {
		case written[0] == '\n':
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
			col, written = 0, written[1:]
		case written[0] == '\r':
			col, written = 0, written[1:]
		case strings.HasPrefix(written, "\x1b[K"):
			lines[row], written = lines[row][:col], written[3:]
		case strings.HasPrefix(written, "\x1b[J"):
			lines[row], lines, written = lines[row][:col], lines[:row+1], written[3:]
		case strings.HasPrefix(written, "\x1b["):
			end := strings.IndexAny(written, "mA")
			if _, err := fmt.Sscanf(written, "\x1b[%dA", &n); err == nil && written[end] == 'A' {
				row = max(0, row-n)
			}
			written = written[end+1:]
		default:
			lines[row] = lines[row][:col] + written[:1] + lines[row][min(len(lines[row]), col+1):]
			col, written = col+1, written[1:]
		}
	}
	return strings.Join(lines, "\n")
}

// The unfinished block is redrawn in place, in half the screen; final ones stay above it.
func TestRenderedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := &terminal{width: 41}
		c := term.console()
		c.Render, c.Height = true, func() int { return 10 }
		v := view.NewTurn(c, ours)
		say := func(piece string) {
			t.Helper()
			if _, err := v.Show(delta(text(3, "b", piece))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
			synctest.Wait()
		}
		shows := func(want string) {
			t.Helper()
			got := screenOf(term.String())
			if at := strings.LastIndex(got, "\n"); at >= 0 && strings.Contains(got[at:], "answering") {
				got = got[:at]
			}
			if got != want {
				t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
			}
		}
		if _, err := v.Show(started(1)); err != nil {
			t.Fatal(err)
		}
		whole := "# Title\n\nSome **bold** text.\n\n1. a\n2. b\n3. c\n4. d\n5. e\n6. f\n"
		say(whole[:12])
		shows("Title\n\nSom")
		say(whole[12:30])
		shows("Title\n\nSome bold text.")
		say(whole[30:])
		shows("Title\n\nSome bold text.\n3. c\n4. d\n5. e\n6. f")
		if _, err := v.Show(added(2, 3, answer(whole))); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Show(added(3, 3, item.ToolResult{CallID: "c", Tool: "shell", Output: item.Output{Summary: "exit 0"}})); err != nil {
			t.Fatal(err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		shows("Title\n\nSome bold text.\n\n1. a\n2. b\n3. c\n4. d\n5. e\n6. f\n· shell: exit 0  (0 ms)\n")
	})
}

// Without redrawing, text appears block by block, and there is no status line.
func TestRenderedStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := &terminal{width: 41}
		c := term.console()
		c.Render, c.Still = true, true
		v := view.NewTurn(c, ours)
		if err := shown(delta(text(3, "b", "*one*\n\ntwo\n")))(v); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := term.String(); got != "\x1b[3mone\x1b[0m\n" {
			t.Errorf("the screen shows %q", got)
		}
		if err := v.Close(); err != nil || !strings.HasSuffix(term.String(), "\n\ntwo\n") {
			t.Errorf("after Close (%v) it shows %q", err, term.String())
		}
	})
}

// On a terminal a turn shows what calls change in files.
func TestDiffsOfATurn(t *testing.T) {
	term := &terminal{width: 60}
	v := view.NewTurn(term.console(), ours)
	diffs := item.NewDiffs(item.FileDiff{Path: "a.go", Diff: "@@ -1 +1,14 @@\n-x\n" + strings.Repeat("+\x1b[2J\n", 14)})
	result := added(3, 3, item.ToolResult{CallID: "c", Tool: "edit_file", Output: item.Output{Summary: "edit_file: a.go", Diffs: diffs}})
	if err := shown(result)(v); err != nil {
		t.Fatal(err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	want := "· edit_file: a.go  (0 ms)\n    a.go\n    1 -x\n    1 +\\x1b[2J\n"
	if got := screenOf(term.String()); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "    7 +\\x1b[2J\n      +7 more, podctl tail --full\n") {
		t.Errorf("the screen shows\n%s", got)
	}
	out, errs, _ := show(t, started(1), result)
	if out+errs != "· edit_file: a.go  (0 ms)\n" {
		t.Errorf("pipes get %q", out+errs)
	}
}

func TestRenderedLog(t *testing.T) {
	var p pipes
	c := p.console()
	c.Render, c.Color = true, true
	l := view.NewLog(c, false)
	for _, m := range []item.Item{item.UserMessage{Text: "*as typed*"}, answer("**bold**\n\n`x`")} {
		if err := l.Show(added(2, 3, m)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Show(added(4, 3, item.ToolResult{Tool: "x", Output: item.Output{Summary: "done", Diffs: item.NewDiffs(item.FileDiff{Path: "f", Diff: "@@ -0,0 +1 @@\n+a\n"})}})); err != nil {
		t.Fatal(err)
	}
	const diff = "    done\n    \x1b[1mf\x1b[0m\n    \x1b[2m1 \x1b[0m\x1b[32m+\x1b[0m\x1b[32ma\x1b[0m\n"
	if !strings.HasSuffix(p.out.String(), diff) {
		t.Errorf("the log ends with %q", p.out.String())
	}
	p.out.Truncate(strings.Index(p.out.String(), "#4 "))
	if got := p.out.String(); !strings.Contains(got, "    *as typed*\n") || !strings.HasSuffix(got, "    \x1b[1mbold\x1b[0m\n\n    \x1b[36mx\x1b[0m\n") {
		t.Errorf("the log is %q", got)
	}
}

// Live text of the log is rendered too, block by block; the entry then refers to it.
func TestRenderedLiveLog(t *testing.T) {
	var p pipes
	c := p.console()
	c.Render, c.Color = true, true
	l := view.NewLog(c, true)
	for _, piece := range []string{"**bo", "ld**\n\n- a\n", "- \x1b[2Jb"} {
		if err := l.Show(delta(text(3, "b", piece))); err != nil {
			t.Fatal(err)
		}
		if shows := strings.HasSuffix(p.out.String(), "\x1b[1mbold\x1b[0m\n"); shows != (piece != "**bo") {
			t.Errorf("after %q it shows %q", piece, p.out.String())
		}
	}
	if err := l.Show(added(2, 3, answer("**bold**\n\n- a\n- \x1b[2Jb\n"))); err != nil {
		t.Fatal(err)
	}
	got := p.out.String()
	if !strings.HasPrefix(got, "(live: assistant)\n    \x1b[1mbold\x1b[0m\n\n    \x1b[2m• \x1b[0ma\n    \x1b[2m• \x1b[0m\\x1b[2Jb\n") || !strings.Contains(got, "(above)\n") || strings.Count(got, "bold") != 1 {
		t.Errorf("it shows %q", got)
	}
}

// A terminal that has become narrower has broken the lines that are drawn again: no piece of
// them stays.
func TestNarrowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var width atomic.Int64
		width.Store(61)
		term := &terminal{}
		c := term.console()
		c.Render, c.Width = true, func() int { return int(width.Load()) }
		v := view.NewTurn(c, ours)
		if err := shown(started(1))(v); err != nil {
			t.Fatal(err)
		}
		if err := shown(delta(text(3, "b", strings.Repeat("word ", 20))))(v); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		before := len(term.String())
		width.Store(21)
		time.Sleep(130 * time.Millisecond)
		synctest.Wait()
		// Lines of 59 and 39 columns and the state are 3, 2 and 1 rows now.
		if got := term.String()[before:]; !strings.HasPrefix(got, "\x1b[5A\r\x1b[K") || !strings.HasSuffix(got, "\x1b[J") {
			t.Errorf("the next frame is %q", got)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
}
