package extern_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"podd/internal/extend/extern"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// aLost is a lost call. Each run of the tests has its own key, for a reconciler ends others of the same call on the machine.
var aLost = tool.Lost{
	Pod: "p1", Turn: 3, CallID: "c1", Key: rand.Text(), Tool: "mcp__pay__charge", Arguments: `{"amount":100}`,
	Began: time.Date(2026, 11, 20, 15, 19, 58, 0, time.FixedZone("", 3600)),
}

// reconcile asks a shell script how a call ended. DIGEST in it is that of the call.
func (b *bench) reconcile(ctx context.Context, t *testing.T, l tool.Lost, script string, timeout time.Duration) (tool.Output, item.Recovery, error) {
	t.Helper()
	return b.ask(ctx, l, script, timeout)
}

func (b *bench) ask(ctx context.Context, l tool.Lost, script string, timeout time.Duration) (tool.Output, item.Recovery, error) {
	ask, err := b.Reconcile([]extern.Command{{
		Name: aLost.Tool, Argv: []string{"sh", "-c", strings.ReplaceAll(script, "DIGEST", l.Digest())}, Timeout: timeout,
	}})
	if err != nil {
		return tool.Output{}, "", err
	}
	return ask(ctx, l)
}

// answers is a script that writes an answer about the call.
func answers(rest string) string { return says(`{"call":"DIGEST",` + rest + `}`) }

func TestReconcilerGetsTheCall(t *testing.T) {
	b := newBench(t)
	if _, _, err := b.reconcile(t.Context(), t, aLost, "cat >event; env >env; "+answers(`"outcome":"done"`), 0); err != nil {
		t.Fatal(err)
	}
	b.wantEvent(t, `{"version":1,"event":"reconcile","name":"mcp__pay__charge","pod":{"id":"p1","name":"demo","dir":"DIR"},"turn":3,"call":{
		"id":"c1","key":"`+aLost.Key+`","tool":"mcp__pay__charge","arguments":{"amount":100},"digest":"`+aLost.Digest()+`","started":"2026-11-20T14:19:58Z"}}`)
	wantIn(t, b.file(t, "env"), "PODD_CALL="+aLost.Key+"\n", "PODD_EVENT=reconcile\n")
	if strings.Contains(b.file(t, "env"), "secret") {
		t.Error("the reconciler gets podd's key")
	}
	if _, how, err := b.reconcile(t.Context(), t, tool.Lost{Pod: "p1", Tool: "shell"}, "exit 1", 0); how != "" || err != nil {
		t.Errorf("the reconciler of another tool says %q, %v", how, err)
	}
}

func TestOutcomes(t *testing.T) {
	for script, want := range map[string]struct {
		summary, content string
		isError          bool
		how              item.Recovery
	}{
		answers(`"outcome":"done","output":"charge ch_17"`):              {"mcp__pay__charge: done: podd ended during the call, and its reconciler found that it took effect", "charge ch_17", false, item.RecoveryFound},
		"cat >/dev/null; " + answers(`"version":1,"outcome":"not_done"`): {"mcp__pay__charge: not done: podd ended during the call, and its reconciler found no effect; call again if it is still needed", "", true, item.RecoveryNoEffect},
	} {
		out, how, err := newBench(t).reconcile(t.Context(), t, aLost, script, 0)
		if err != nil || how != want.how || out.Summary != want.summary || out.Content != want.content || out.IsError != want.isError {
			t.Errorf("%s\ngives %+v, %q, %v", script, out, how, err)
		}
	}
}

// Whatever else a reconciler does, the outcome stays unknown, and the error says why.
func TestReconcilersThatKnowNothing(t *testing.T) {
	const invalid = "its reconciler wrote an invalid answer: "
	for script, want := range map[string]string{
		answers(`"outcome":"unknown","output":"the ledger is offline"`):     "its reconciler does not know",
		says(`{"call":"` + strings.Repeat("0", 64) + `","outcome":"done"}`): "its reconciler answered for another call",
		says(`{"call":"k1","outcome":"done"}`):                              "its reconciler answered for another call",
		"echo yes":                                                          invalid + "it is not one JSON value: ",
		":":                                                                 invalid + "it is not one JSON value: ",
		"head -c 100 /dev/urandom":                                          invalid,
		says(`["done"]`):                                                    invalid + "it is not a JSON object",
		says(`{"outcome":"done"}`):                                          invalid + `the field "call" is missing`,
		answers(`"outcome":"maybe"`):                                        invalid + `unknown outcome "maybe": use "done", "not_done" or "unknown"`,
		answers(`"outcome":"done","outcome":"not_done"`):                    invalid + `the field "outcome" occurs twice`,
		answers(`"outcome":"done","output":7`):                              invalid + `the field "output" has the wrong type`,
		answers(`"outcome":"done","certainly":true`):                        invalid + `unknown field "certainly": use call, outcome and output`,
		answers(`"outcome":"done","version":2`):                             invalid + "its version is 2",
		answers(`"outcome":"done"`) + "\n" + answers(`"outcome":"done"`):    invalid + "it is not one JSON value: ",
		answers(`"outcome":"done"`) + "\necho >&2 no ledger; exit 3":        "its reconciler ended with exit status 3: no ledger",
		"kill -9 $$": "its reconciler was killed by a signal: killed",
		"yes":        "its reconciler wrote more than 1048576 bytes to its standard output",
	} {
		out, how, err := newBench(t).reconcile(t.Context(), t, aLost, script, time.Minute)
		if err == nil || !strings.HasPrefix(err.Error(), want) || how != item.RecoveryUnknown || out.Summary != "" {
			t.Errorf("%s\ngives %+v, %q, %v", script, out, how, err)
		}
	}
}

// A reconciler that hangs is ended with everything that it started.
func TestReconcilerThatHangs(t *testing.T) {
	b := newBench(t)
	// One that has not yet come to hang at its timeout gets a longer one.
	for limit := time.Second; b.lacks("leader"); limit *= 2 {
		_, how, err := b.reconcile(t.Context(), t, aLost, lingers, limit)
		if how != item.RecoveryUnknown || err == nil || err.Error() != fmt.Sprintf("its reconciler did not answer within %s and was stopped", limit) {
			t.Errorf("%q, %v", how, err)
		}
	}
	b.gone(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := b.reconcile(ctx, t, aLost, "sleep 600", 0); err == nil || errors.Is(err, tool.ErrGoesOn) {
		t.Errorf("in a cancelled turn: %v", err)
	}
	b.Close()
	if _, _, err := b.reconcile(t.Context(), t, aLost, "sleep 600", 0); !errors.Is(err, tool.ErrGoesOn) {
		t.Errorf("after podd's end: %v", err)
	}
}

// askerVariable makes this program a podd that asks a reconciler which hangs, about a call with this key in this workspace.
const askerVariable = "PODD_TEST_ASKER"

// hangsFirst is a reconciler that hangs the first time, with a child, and then answers.
var hangsFirst = "if [ -e first ]; then\n" + answers(`"outcome":"done"`) + "\nexit\nfi\nsleep 600 & echo $! >child; echo $$ >.first; mv .first first; wait"

func askerMain() {
	key, dir, _ := strings.Cut(os.Getenv(askerVariable), " ")
	aLost.Key = key
	find := func(context.Context, string) (item.Pod, error) {
		return item.Pod{ID: "p1", Spec: item.PodSpec{Dir: dir}}, nil
	}
	r, err := extern.New(context.Background(), extern.Config{Pod: find})
	if err == nil {
		_, _, err = (&bench{Runner: r}).ask(context.Background(), aLost, hangsFirst, time.Hour)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A reconciler that outlives a killed podd has ended when the next podd asks about the call.
func TestReconcilerEndsBeforeTheNextOne(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux finds processes by their marks")
	}
	b := newBench(t)
	podd := exec.Command(os.Args[0])
	podd.Env, podd.Stderr = append(os.Environ(), askerVariable+"="+aLost.Key+" "+b.dir), os.Stderr
	if err := podd.Start(); err != nil {
		t.Fatal(err)
	}
	for b.lacks("first") && running(strconv.Itoa(podd.Process.Pid)) {
		runtime.Gosched()
	}
	if err := podd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = podd.Wait()
	other := aLost
	other.Key = rand.Text()
	for _, l := range []tool.Lost{other, aLost} {
		if !running(b.file(t, "first")) {
			t.Error("the first one has ended before anybody asked")
		}
		if _, how, err := b.reconcile(t.Context(), t, l, hangsFirst, 0); how != item.RecoveryFound || err != nil {
			t.Errorf("the next one says %q, %v", how, err)
		}
	}
	for _, name := range []string{"first", "child"} {
		if running(b.file(t, name)) {
			t.Errorf("the %s of the killed podd runs on", name)
		}
	}
}

// running says whether a process runs; a zombie does not.
func running(pid string) bool {
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestReconcilersThatCannotBe(t *testing.T) {
	for _, c := range []extern.Command{{Name: "a b", Argv: []string{"x"}}, {Name: "shell"}, {Name: "shell", Argv: []string{"./x"}}, {Name: "shell", Argv: []string{"x"}, Env: []string{"OPENAI_API_KEY"}}} {
		if _, err := newBench(t).Reconcile([]extern.Command{c}); item.ReasonOf(err) != "EXTENSION" {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
