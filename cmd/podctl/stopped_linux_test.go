package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/llm/scripted"
)

// manyCalls answers with 250 calls per step, for the given number of steps.
func manyCalls(steps int) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		n := r.Steps()
		if n >= steps {
			return scripted.Say(scripted.Text("done"))
		}
		var calls []scripted.Part
		for i := range 250 {
			calls = append(calls, scripted.Call{Name: "todo", Arguments: fmt.Sprintf(`{"items":[{"text":"step %d, item %d","status":"done"}]}`, n, i)})
		}
		return scripted.Say(calls...)
	}
}

// While a follower is stopped, the pod writes 10,000 entries. podd queues none of them
// for it: when it continues, it shows them all, each once.
func TestStoppedTail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, manyCalls(14))
	w.configure("[limits]\nmax_tool_calls = 100000\n")
	w.podctl("create", "p").run(0)
	tail := w.podctl("tail", "-f", "p", "--after", "0").start()
	w.podctl("pause", "p").run(0)
	w.podctl("submit", "-p", "p", "go").run(0)
	tail.out.await(t, "submitted")
	if err := tail.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.podctl("resume", "p").run(0)
	fast := w.podctl("tail", "-f", "p", "--after", "0").start()
	fast.out.await(t, "turn 1 finished")
	memory := w.anonymous()
	if err := tail.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	tail.out.await(t, "turn 1 finished")
	for _, p := range []*podctlProcess{tail, fast} {
		_ = p.cmd.Process.Signal(os.Interrupt)
		p.wait()
	}
	all := sequences(tail.out.String())
	for i, seq := range all {
		if seq != i+1 {
			t.Fatalf("behind %d comes %d", i, seq)
		}
	}
	if fast := sequences(fast.out.String()); len(fast) != len(all) || len(all) < 10_000 {
		t.Errorf("the stopped follower shows %d entries, the other %d", len(all), len(fast))
	}
	t.Logf("%d entries, podd had %d MiB of its own while the follower was stopped, %d MiB afterwards", len(all), memory>>20, w.anonymous()>>20)
}

// anonymous is podd's memory without its files, in bytes.
func (w *world) anonymous() int64 {
	w.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.daemon.cmd.Process.Pid))
	if err != nil {
		w.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		w.t.Fatal(err)
	}
	return kib << 10
}
