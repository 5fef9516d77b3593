package extern_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/extend/extern"
	"podd/pkg/interceptor"
)

// Every mistake of a command becomes one sentence, and the event's subject continues.
func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"exit status":       {"echo first >&2; echo 'it broke' >&2; exit 1", "ended with exit status 1: it broke"},
		"not found":         {"no-such-program-anywhere", "ended with exit status 127: "},
		"killed":            {"kill -9 $$", "was killed by a signal: killed"},
		"too long":          {"yes", "wrote more than 1048576 bytes to its standard output"},
		"too long, at once": {"head -c 1048577 /dev/zero", "wrote more than 1048576 bytes"},
		"no JSON":           {"echo ok", "wrote an invalid verdict: it is not one JSON value"},
		"trailing data":     {says(`{"verdict":"finish"} {"verdict":"finish"}`), "it is not one JSON value"},
		"a list":            {says(`["finish"]`), "it is not a JSON object"},
		"a string":          {says(`"finish"`), "it is not a JSON object"},
		"null":              {says(`null`), "it is not a JSON object"},
		"no UTF-8":          {`printf '{"verdict":"pause","reason":"\377"}'`, "it is not valid UTF-8"},
		"no verdict":        {says(`{"reason":"x"}`), `the field "verdict" is missing`},
		"wrong type":        {says(`{"verdict":1}`), `the field "verdict" has the wrong type`},
		"null verdict":      {says(`{"verdict":null}`), `the field "verdict" is null`},
		"other edge":        {says(`{"verdict":"deny"}`), `unknown verdict "deny" at turn_end: use "finish", "continue_with", "pause"`},
		"unknown field":     {says(`{"verdict":"finish","colour":"red"}`), `the field "colour" does not belong to the verdict "finish" at turn_end`},
		"other case":        {says(`{"Verdict":"finish"}`), `the field "verdict" is missing`},
		"field of another":  {says(`{"verdict":"pause","items":["a"]}`), `the field "items" does not belong to the verdict "pause"`},
		"twice":             {says(`{"verdict":"pause","verdict":"finish"}`), `the field "verdict" occurs twice`},
		"version":           {says(`{"version":2,"verdict":"finish"}`), "its version is 2, but this podd reads version 1"},
		"no items":          {says(`{"verdict":"continue_with"}`), `the field "items" is missing`},
		"none":              {says(`{"verdict":"continue_with","items":[]}`), "items has 0 texts: it must have 1 to 16"},
		"too many":          {says(`{"verdict":"continue_with","items":[` + strings.Repeat(`"a",`, 16) + `"a"]}`), "items has 17 texts"},
		"blank":             {says(`{"verdict":"continue_with","items":[" "]}`), "items has an empty text"},
		"no texts":          {says(`{"verdict":"continue_with","items":[{"text":"a"}]}`), `the field "items" has the wrong type`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			d, err := b.script(t, tt.script).TurnEnd(t.Context(), aTurn)
			if err != nil || len(d.Warnings) != 1 || len(d.Items) > 0 || d.Paused != "" {
				t.Fatalf("%+v, %v", d, err)
			}
			wantIn(t, d.Warnings[0], tt.want, `; it was skipped at turn_end (on_failure = "allow")`)
			if !strings.HasPrefix(d.Warnings[0], "x: ") || strings.Contains(d.Warnings[0], "\n") || len(d.Warnings[0]) > 500 {
				t.Errorf("that is no sentence: %q", d.Warnings[0])
			}
			wantIn(t, b.logged(), "interceptor failed", "interceptor=x", "event=turn_end", "pod=p1", "turn=3")
		})
	}
}

func TestOutputVerdictFailures(t *testing.T) {
	for output, want := range map[string]string{
		`"text"`:                         "output: it is not a JSON object",
		`{}`:                             "output has neither summary nor content",
		`{"is_error":true}`:              "output has neither summary nor content",
		`{"summary":1}`:                  `output: the field "summary" has the wrong type`,
		`{"summary":"a","text":"b"}`:     `output: unknown field "text"`,
		`{"summary":"a","summary":"b"}`:  `output: the field "summary" occurs twice`,
		`{"summary":"a","content":null}`: `output: the field "content" is null`,
	} {
		d, err := newBench(t).script(t, says(`{"verdict":"replace","output":`+output+`}`)).AfterTool(t.Context(), aResult)
		if err != nil || len(d.Warnings) != 1 || d.Output != aResult.Output {
			t.Fatalf("%s: %+v, %v", output, d, err)
		}
		wantIn(t, d.Warnings[0], want)
	}
	d, err := newBench(t).script(t, says(`{"verdict":"rewrite","arguments":["a"]}`)).BeforeTool(t.Context(), aCall, same)
	if err != nil || !strings.Contains(d.Denied, `the field "arguments" has the wrong type`) {
		t.Errorf("%+v, %v", d, err)
	}
}

// on_failure decides what a failure means for each event.
func TestOnFailure(t *testing.T) {
	const why = "ended with exit status 1"
	outcomes := func(f extern.OnFailure) []string {
		b := newBench(t)
		chain := b.script(t, "exit 1", onFailure(f))
		s, _ := chain.PromptSubmit(t.Context(), aSubmit)
		r, _ := chain.BeforeRequest(t.Context(), aRequest)
		c, _ := chain.BeforeTool(t.Context(), aCall, same)
		a, _ := chain.AfterTool(t.Context(), aResult)
		e, _ := chain.TurnEnd(t.Context(), aTurn)
		for _, warnings := range [][]string{s.Warnings, r.Warnings, c.Warnings, a.Warnings, e.Warnings} {
			if len(warnings) != 1 {
				t.Errorf("warnings %q, want one", warnings)
			}
		}
		return []string{s.Cancelled, r.Cancelled, c.Denied, a.Output.Summary, e.Paused}
	}
	refused := []string{
		"x cancelled the submit: " + why, "x cancelled the turn: " + why, "denied by x: " + why,
		"the output is withheld: x " + why, "x paused the pod: " + why,
	}
	shown := aResult.Output.Summary
	if got := outcomes(extern.Deny); !reflect.DeepEqual(got, refused) {
		t.Errorf("deny: %q", got)
	}
	if got := outcomes(extern.Allow); !reflect.DeepEqual(got, []string{"", "", "", shown, ""}) {
		t.Errorf("allow: %q", got)
	}
	if got := outcomes(""); !reflect.DeepEqual(got, []string{"", "", refused[2], shown, ""}) {
		t.Errorf("by default: %q", got)
	}
}

func TestCannotBeStarted(t *testing.T) {
	b := newBench(t)
	i, err := b.Interceptor(extern.Command{Name: "x", On: extern.Edges(), Argv: []string{"/no/such/program"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := interceptor.Chain{i}.TurnEnd(t.Context(), aTurn)
	if err != nil || len(d.Warnings) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	wantIn(t, d.Warnings[0], "x: cannot start: /no/such/program: no such file or directory")
	b.dir = "/no/such/workspace"
	d, err = b.script(t, "exit 0").TurnEnd(t.Context(), aTurn)
	if err != nil || len(d.Warnings) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	wantIn(t, d.Warnings[0], "x: cannot start in the workspace: /no/such/workspace: no such file or directory")
	gone := aTurn
	gone.Pod = "p2"
	d, err = b.script(t, "exit 0").TurnEnd(t.Context(), gone)
	if err != nil || len(d.Warnings) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	wantIn(t, d.Warnings[0], `could not find the pod: there is no pod "p2"`)
}

// While the store does not answer, a call waits instead of being denied.
func TestStoreIsAway(t *testing.T) {
	b := newBench(t)
	b.away.Store(3)
	d, err := b.script(t, "exit 0").BeforeTool(t.Context(), aCall, nil)
	if err != nil || d.Denied != "" || b.away.Load() != -1 {
		t.Errorf("%+v, %v, %d looks are left", d, err, b.away.Load())
	}
	b.away.Store(1 << 20)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, err = b.script(t, "exit 0").BeforeTool(ctx, aCall, nil)
	if err != nil || len(d.Warnings) > 0 || b.away.Load() == 1<<20 {
		t.Errorf("a cancelled turn waited: %+v, %v", d, err)
	}
	wantIn(t, d.Denied, "was stopped with its turn")
}

// lingers starts a child that ignores SIGTERM and leaves its session, writes the process
// ids of both and hangs.
const lingers = `rm -f child; setsid sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 1; done' &
while [ ! -s child ]; do sleep 0.01; done; echo partly >&2; echo $$ > leader; while :; do sleep 1; done`

// podd ends a hanging command with all its children, and the command causes no delay
// after that.
func TestTimeout(t *testing.T) {
	b := newBench(t)
	// A command that has not yet come to hang at its timeout gets a longer one.
	for limit := time.Second; b.lacks("leader"); limit *= 2 {
		d, err := b.script(t, lingers, within(limit)).TurnEnd(t.Context(), aTurn)
		if err != nil || len(d.Warnings) != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
		wantIn(t, d.Warnings[0], fmt.Sprintf("x: did not answer within %s and was stopped; it was skipped at turn_end", limit))
	}
	wantIn(t, b.logged(), "stderr=", "partly")
	b.gone(t)
}

// gone checks that the processes of lingers have ended.
func (b *bench) gone(t *testing.T) {
	t.Helper()
	for _, name := range []string{"child", "leader"} {
		pid, err := strconv.Atoi(strings.TrimSpace(b.file(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("the %s runs on", name)
		}
	}
}

// The end of a turn ends the command. That is not an error of the command; the call is
// still denied.
func TestTurnIsCancelled(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for b.lacks("leader") {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	d, err := b.script(t, lingers).BeforeTool(ctx, aCall, same)
	if err != nil || d.Denied != "denied by x: was stopped with its turn" || len(d.Warnings) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
	b.gone(t)
}

func (b *bench) lacks(name string) bool {
	text, err := os.ReadFile(b.dir + "/" + name)
	return err != nil || len(text) == 0
}

// Close ends the running commands, waits for them, and prevents new ones.
func TestClose(t *testing.T) {
	b := newBench(t)
	chain := b.script(t, lingers)
	answered := make(chan interceptor.CallDecision)
	go func() {
		d, _ := chain.BeforeTool(t.Context(), aCall, same)
		answered <- d
	}()
	for b.lacks("leader") {
		time.Sleep(time.Millisecond)
	}
	b.Close()
	b.gone(t)
	if d := <-answered; d.Denied != "denied by x: was stopped because podd is stopping" {
		t.Errorf("%+v", d)
	}
	if d, err := chain.BeforeTool(t.Context(), aCall, same); err != nil || d.Denied == "" {
		t.Errorf("after Close: %+v, %v", d, err)
	}
}

// A command may leave its input unread, close its streams, and write any amount to
// standard error.
func TestStreamsThatNobodyReads(t *testing.T) {
	big := aTurn
	big.Answer = strings.Repeat("a", 1<<20)
	for _, script := range []string{
		"exit 0", "exec 0<&- 1>&- 2>&-; exit 0", "head -c 100000000 /dev/zero >&2", "cat >/dev/null; (sleep 100 &) ; exit 0",
	} {
		d, err := newBench(t).script(t, script).TurnEnd(t.Context(), big)
		if err != nil || !reflect.DeepEqual(d, interceptor.TurnDecision{}) {
			t.Errorf("%s: %+v, %v", script, d, err)
		}
	}
	d, err := newBench(t).script(t, "seq 1000000 >&2; exit 2").TurnEnd(t.Context(), big)
	if err != nil || len(d.Items) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	text := textOf(t, d.Items[0])
	if len(text) > 16<<10 {
		t.Errorf("%d bytes go to the model", len(text))
	}
	wantIn(t, text, "1\n2\n3\n", "[cut: ", "999999\n1000000")
}
