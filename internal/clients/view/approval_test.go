package view_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func asks(arguments string) view.Approval {
	return view.Approval{Pod: "greeter", Call: 12, ApprovalRequested: item.ApprovalRequested{
		CallID: "c1", Tool: "shell", Question: "shell leaves the sandbox", Arguments: arguments, Digest: "\x3f\x2a\x9c\x01\xd4\xe5\xff",
	}}
}

// All of what will run is shown, each argument by its name, in lines that no text can
// imitate.
func TestApprovalLines(t *testing.T) {
	tests := map[string]struct {
		arguments string
		columns   int
		want      []string
	}{
		"one line":   {`{"command":"make install","timeout_seconds":120}`, 0, []string{"  command: make install", "  timeout_seconds: 120"}},
		"lines":      {`{"command":"a\nb: c\n"}`, 40, []string{"  command:", "  | a", "  | b: c", "  | "}},
		"hidden":     {`{"command":"ls \u202e\u001b[2J\tx"}`, 0, []string{`  command: ls \u202e\x1b[2J\tx`}},
		"wrapped":    {`{"command":"0123456789abcdefghijklm"}`, 14, []string{"  command:", "  | 0123456789", "  ↳ abcdefghij", "  ↳ klm"}},
		"wide runes": {`{"command":"世界世界世界"}`, 14, []string{"  command:", "  | 世界世界世", "  ↳ 界"}},
		"too narrow": {`{"command":"0123456789abc"}`, 1, []string{"  command:", "  | 0123456789", "  ↳ abc"}},
		"empty text": {`{"a":""}`, 0, []string{"  a:", "  | "}},
		"nested":     {`{"edits":[{"old":"a\nb"}]}`, 0, []string{`  edits: [{"old":"a\nb"}]`}},
		"twice":      {`{"a":"1","a":"2"}`, 0, []string{"  a: 1", "  a: 2"}},
		"no object":  {`[1]`, 0, []string{"  | [1]"}},
		"no JSON":    {"{\"a\":\nrm", 0, []string{`  | {"a":`, "  | rm"}},
		"more":       {`{"a":1} {"b":2}`, 0, []string{`  | {"a":1} {"b":2}`}},
	}
	for name, tt := range tests {
		got := asks(tt.arguments).Lines(tt.columns)
		var middle []string
		for _, line := range got {
			if strings.HasPrefix(line, "  ") {
				middle = append(middle, line)
			}
		}
		if strings.Join(middle, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: shown\n%s\nwant\n%s", name, strings.Join(middle, "\n"), strings.Join(tt.want, "\n"))
		}
	}
	a := asks(`{}`)
	a.Expires = noon
	if got := a.Lines(0); strings.Join(got, "\n") != "shell leaves the sandbox\ndigest 3f2a9c01d4e5, expires 2026-02-03 12:01:07" {
		t.Errorf("shown\n%s", strings.Join(got, "\n"))
	}
}

// However a command is wrapped, no character is lost, and no line is wider than the
// terminal.
func TestApprovalIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.StringOf(rapid.SampledFrom([]rune("ab |↳\n\t世\u202e\x1b:"))).Draw(t, "command")
		columns := rapid.IntRange(14, 60).Draw(t, "columns")
		quoted := strings.NewReplacer("\n", `\n`, "\t", `\t`, "\x1b", `\u001b`).Replace(command)
		var shown strings.Builder
		for _, line := range asks(`{"command":"` + quoted + `"}`).Lines(columns) {
			if got := columnsOf(line); got > columns {
				t.Fatalf("%q has %d columns", line, got)
			}
			switch {
			case strings.HasPrefix(line, "  | "):
				shown.WriteString("\n" + line[4:])
			case strings.HasPrefix(line, "  ↳ "):
				shown.WriteString(strings.TrimPrefix(line, "  ↳ "))
			case strings.HasPrefix(line, "  command: "):
				shown.WriteString("\n" + line[len("  command: "):])
			}
		}
		var want strings.Builder
		for line := range strings.SplitSeq(command, "\n") {
			want.WriteString("\n" + sanitize.Line(line))
		}
		if shown.String() != want.String() {
			t.Fatalf("shown %q, want %q", shown.String(), want.String())
		}
	})
}

func columnsOf(line string) int {
	n := 0
	for _, r := range line {
		if n++; r == '世' {
			n++
		}
	}
	return n
}

func TestApprovalFromProto(t *testing.T) {
	asked := wire.EntryToProto(item.Entry{Time: noon}).GetTime()
	expires := wire.EntryToProto(item.Entry{Time: noon.Add(time.Hour)}).GetTime()
	p := &poddv1.Approval{
		Pod: "pod_1", PodName: "greeter", Turn: 3, CallSeq: 12, CallId: "c1", Tool: "shell", Arguments: "{}", Question: "why",
		Digest: []byte("digest"), Time: asked, Expires: expires,
	}
	want := view.Approval{Pod: "greeter", Turn: 3, Call: 12, Time: noon.UTC(), ApprovalRequested: item.ApprovalRequested{
		CallID: "c1", Tool: "shell", Arguments: "{}", Question: "why", Digest: "digest", Expires: noon.Add(time.Hour).UTC(),
	}}
	if got := view.ApprovalFromProto(p); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := view.ApprovalFromProto(&poddv1.Approval{Pod: "pod_1"}); got.Pod != "pod_1" || !got.Expires.IsZero() {
		t.Errorf("got %+v", got)
	}
	if got := want.HowTo(want.Expires.Add(-1)); got != "answer with: podctl approve greeter 12 or podctl deny greeter 12" {
		t.Errorf("got %q", got)
	}
	if got := want.HowTo(want.Expires); !strings.HasPrefix(got, "expired: ") || strings.Contains(got, "podctl approve") {
		t.Errorf("after its time: %q", got)
	}
}

// A waiting call shows in full; its answer, and who gave it, take one line.
func TestTurnThatAsks(t *testing.T) {
	request := item.ApprovalRequested{CallID: "c1", Tool: "shell"}
	var p pipes
	v := view.NewTurn(p.console(), ours)
	show := func(m *poddv1.StreamResponse) {
		t.Helper()
		if _, err := v.Show(m); err != nil {
			t.Fatal(err)
		}
	}
	show(started(1))
	show(entry(2, 3, request))
	show(entry(2, 3, item.AlertRaised{Alert: item.Alert{Seq: 1, Source: "approval", Text: "shell waits for approval: why"}}))
	v.Approval(asks(`{"command":"make"}`))
	v.Say("still waiting")
	v.Warn("too late")
	show(entry(3, 3, item.ApprovalResolved{CallID: "c1", By: "podctl (ada)", Reason: "not\nnow"}))
	show(entry(4, 3, item.ApprovalResolved{CallID: "c2", Approved: true, By: "x"}))
	show(added(5, 3, item.SystemMessage{Origin: item.OriginNote, Text: "look\nhere"}))
	show(added(5, 3, item.SystemMessage{Origin: item.OriginInterceptor, Text: "go test fails"}))
	show(added(5, 3, item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: x]\n"}))
	show(finished(6))
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	want := `? call 12 of pod greeter needs approval: shell
shell leaves the sandbox
  command: make
digest 3f2a9c01d4e5
still waiting
! too late
· shell: denied by podctl (ada): not | now
· a tool: approved by x
· note: look | here
· interceptor: go test fails
turn 3 finished: 2 steps, 1,234 tokens in (800 cached), 56 out
`
	if p.err.String() != want {
		t.Errorf("standard error is\n%s\nwant\n%s", p.err.String(), want)
	}
}

// A question stays below all later lines until it is answered or void.
func TestQuestionOnATerminal(t *testing.T) {
	term := &terminal{width: 60}
	v := view.NewTurn(term.console(), ours)
	for _, m := range []*poddv1.StreamResponse{started(1), delta(text(3, "b", "Working"))} {
		if _, err := v.Show(m); err != nil {
			t.Fatal(err)
		}
	}
	v.Approval(asks(`{"command":"make"}`))
	v.Ask("Run it?")
	if got := term.seen(); !strings.HasSuffix(got, "digest 3f2a9c01d4e5\nRun it? ") || !strings.HasPrefix(got, "Working\n? call 12") {
		t.Errorf("the screen shows\n%s", got)
	}
	v.Lost(errors.New("away"))
	v.Say("beside")
	if got := term.seen(); !strings.HasSuffix(got, "beside\nRun it? ") || strings.Count(got, "Run it?") != 1 {
		t.Errorf("the screen shows\n%s", got)
	}
	_, _ = term.Write([]byte("y\n")) // The terminal's echo.
	v.Answered(true)
	if _, err := v.Show(entry(3, 3, item.ApprovalResolved{CallID: "c1", Approved: true, By: "me"})); err != nil {
		t.Fatal(err)
	}
	if got := term.seen(); !strings.HasSuffix(got, "Run it? y\n· shell: approved by me\n") {
		t.Errorf("the screen shows\n%s", got)
	}
	v.Ask("and this?")
	v.Answered(false)
	v.Ask("and that?")
	if _, err := v.Show(finished(4)); err != nil {
		t.Fatal(err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if got := term.seen(); strings.Contains(got, "and th") {
		t.Errorf("void questions stay:\n%s", got)
	}
}

// The answer to a call of the previous turn shows if the call was shown.
func TestApprovalOfTheTurnBefore(t *testing.T) {
	var p pipes
	v := view.NewTurn(p.console(), ours)
	v.Approval(asks(`{}`))
	for _, m := range []*poddv1.StreamResponse{
		entry(2, 2, item.ApprovalResolved{CallID: "c1", Approved: true, By: "me"}),
		entry(3, 2, item.ApprovalResolved{CallID: "c2", By: "another"}),
		entry(4, 2, item.TurnEnded{Outcome: item.OutcomeFinished}),
	} {
		if _, err := v.Show(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if got := p.err.String(); !strings.HasSuffix(got, "\n· shell: approved by me\n") {
		t.Errorf("standard error is\n%s", got)
	}
}

// The text of what a command executes follows its arguments, for every client.
func TestScriptsFollowTheArguments(t *testing.T) {
	a := asks(`{"command":"sh x.sh"}`)
	a.Previews = []item.Preview{
		{Path: "x.sh", Base: "b", Runs: true, Diff: "@@ -1,2 +1,2 @@\n echo one\n rm -r out\u202e\n"},
		{Path: "bin", Base: "b", Runs: true, Omitted: "the file is binary: 6 bytes"},
	}
	for what, lines := range map[string][]string{"all": a.Lines(0), "beside diffs": a.LinesBesideDiffs(0)} {
		text, from := strings.Join(lines, "\n"), 0
		for _, want := range []string{"sh x.sh", "runs x.sh", "echo one", `rm -r out\u202e`, "runs bin", "! the file is binary", "1 hidden character"} {
			at := strings.Index(text[from:], want)
			if at < 0 {
				t.Errorf("%s: no %q in its place:\n%s", what, want, text)
				break
			}
			from += at
		}
	}
}

// A client that shows diffs itself gets the other lines, and the diffs that hide characters.
func TestLinesBesideDiffs(t *testing.T) {
	for diff, shown := range map[string]bool{
		"@@ -1 +1 @@\n-old\n+new\n":        false,
		"@@ -1 +1 @@\n-old\n+new\u202e\n":  true,
		"@@ -1 +1 @@\n-old\n+new\r\n":      true,
		"@@ -1 +1 @@\n-old\n+\x1b[2Jnew\n": true,
	} {
		a := asks(`{"path":"f"}`)
		a.Previews = []item.Preview{{Path: "f", Diff: diff, Omitted: "the rest"}}
		beside, all := strings.Join(a.LinesBesideDiffs(0), "\n"), strings.Join(a.Lines(0), "\n")
		if strings.Contains(beside, "new") != shown || !strings.Contains(beside, "! the rest") || !strings.Contains(all, "new") {
			t.Errorf("of %q beside the diffs:\n%s\nand in all:\n%s", diff, beside, all)
		}
	}
}
