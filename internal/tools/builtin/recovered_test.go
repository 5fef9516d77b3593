package builtin_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// started is a call as podd stores it when it begins.
func (b *bench) started(name, arguments string) *tool.Invocation {
	b.t.Helper()
	canonical, err := b.tool(name).Check(arguments)
	if err != nil {
		b.t.Fatal(err)
	}
	call := &tool.Invocation{Arguments: canonical}
	call.Planned = b.tool(name).(tool.Previewer).Plan(b.t.Context(), call)
	return call
}

// wantRecovered recovers a call as a podd does that was killed during it.
func (b *bench) wantRecovered(name string, call *tool.Invocation, want item.Recovery, summary string) {
	b.t.Helper()
	out, how, err := b.tool(name).Recover(b.t.Context(), call)
	if err != nil || how != want || !strings.Contains(out.Summary, summary) || out.IsError != (want != item.RecoveryFound) {
		b.t.Errorf("%s is %q, %v: %+v; want %q: %s", name, how, err, out, want, summary)
	}
}

func TestRecoversChangesOfFiles(t *testing.T) {
	for _, c := range []struct{ name, tool, arguments string }{
		{"a new file", "write_file", object("path", "new", "content", "x\n")},
		{"an edit", "edit_file", object("path", "a", "old", "1", "new", "2")},
		{"a patch", "apply_patch", object("input", patch("*** Update File: a", "@@", "-1", "+2", "*** Delete File: b", "*** Add File: c", "+3"))},
		{"a move", "apply_patch", object("input", patch("*** Update File: a", "*** Move to: d/a", "@@", "-1", "+2"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a": "1\n", "b": "1\n"})
			call := b.started(c.tool, c.arguments)
			b.wantRecovered(c.tool, call, item.RecoveryNoEffect, "not done: podd ended before the call changed")
			if out := b.call(c.tool, c.arguments); out.IsError {
				t.Fatalf("%+v", out)
			}
			b.wantRecovered(c.tool, call, item.RecoveryFound, "podd ended during the call")
			b.write(call.Planned[0].Path, "a person's\n")
			b.wantRecovered(c.tool, call, item.RecoveryUnknown, call.Planned[0].Path+" has neither")
		})
	}
}

// A call that would fail when it begins has no effect, as long as its files are as they were.
func TestRecoversCallsThatWouldFail(t *testing.T) {
	for _, c := range []struct{ name, tool, arguments string }{
		{"an unread file", "write_file", object("path", "a", "content", "x\n")},
		{"no such text", "edit_file", object("path", "a", "old", "9", "new", "2")},
		{"no such line", "apply_patch", object("input", patch("*** Update File: a", "@@", "-9", "+2", "*** Add File: c", "+3"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a": "1\n"})
			call := b.started(c.tool, c.arguments)
			b.wantRecovered(c.tool, call, item.RecoveryNoEffect, "not done: podd ended before the call changed")
			b.write("a", "a person's\n")
			b.wantRecovered(c.tool, call, item.RecoveryUnknown, "a has neither")
		})
	}
}

// When a later call on the file began, this one had ended: what the file has since says nothing of it.
func TestRecoversWhatALaterCallFollowed(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	first := b.started("edit_file", object("path", "a", "old", "1", "new", "2"))
	b.write("a", "2\n")
	later := b.started("edit_file", object("path", "a", "old", "2", "new", "1"))
	b.write("a", "1\n")
	first.Since = map[string]string{"a": later.Planned[0].Before}
	b.wantRecovered("edit_file", first, item.RecoveryFound, "podd ended during the call")
	b.wantRecovered("edit_file", later, item.RecoveryFound, "podd ended during the call")
}

func TestRecoversHalfAPatch(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n", "b": "1\n"})
	call := b.started("apply_patch", object("input", patch("*** Update File: a", "@@", "-1", "+2", "*** Update File: b", "@@", "-1", "+2")))
	b.write("a", "2\n")
	out, how, err := b.tool("apply_patch").Recover(t.Context(), call)
	if err != nil || how != item.RecoveryFound || !out.IsError || !strings.HasSuffix(out.Summary, "done: a; not done: b") {
		t.Errorf("%q, %v: %+v", how, err, out)
	}
}

// Whatever a patch says: before it podd knows that it had no effect, and after it that it was done.
func TestRecoversAnyPatch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, map[string]string{"a": "1\n", "b": "1\n", "d/f": "1\n"})
		b.link("a", "link")
		b.link("d", "dl")
		path := rapid.SampledFrom([]string{"a", "b", "d/f", "dl/f", "link", "./a", "new", "x/y"})
		var lines []string
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			switch rapid.IntRange(0, 3).Draw(rt, "verb") {
			case 0:
				lines = append(lines, "*** Delete File: "+path.Draw(rt, "path"))
			case 1:
				lines = append(lines, "*** Add File: "+path.Draw(rt, "path"), "+1")
			case 2:
				lines = append(lines, "*** Update File: "+path.Draw(rt, "path"), "*** Move to: "+path.Draw(rt, "to"), "@@", "-1", "+1", "+2")
			default:
				lines = append(lines, "*** Update File: "+path.Draw(rt, "path"), "@@", " 1", "+2")
			}
		}
		arguments := object("input", patch(lines...))
		call := b.started("apply_patch", arguments)
		want := []item.Recovery{item.RecoveryNoEffect, item.RecoveryFound}
		if len(call.Planned) == 0 {
			want = []item.Recovery{item.RecoveryUnknown, item.RecoveryUnknown}
		}
		_, before, _ := b.tool("apply_patch").Recover(t.Context(), call)
		out := b.call("apply_patch", arguments)
		_, after, _ := b.tool("apply_patch").Recover(t.Context(), call)
		if out.IsError {
			want[1] = want[0]
		}
		if got := []item.Recovery{before, after}; !slices.Equal(got, want) {
			rt.Fatalf("%q\n%s\nplanned %+v: %q, want %q", lines, out.Summary, call.Planned, got, want)
		}
	})
}
