package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/llm/scripted"
)

var regexpID = regexp.MustCompile(`submitted to p as (\S+),`)

// saysYes answers each prompt.
func saysYes(context.Context, scripted.Request) scripted.Reply {
	return scripted.Say(scripted.Text("Yes."))
}

// podd is killed between a submit and its answer: podctl sends it again to the next podd
// by itself, is told that it had been taken, and the prompt is there once.
func TestSubmitCountsOnceOverARestart(t *testing.T) {
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	proxy := newProxy(t, w.dir+"/state/podd.sock", "mark-7781")
	p := w.podctl("submit", "--socket", proxy.path(), "-p", "p", "this is mark-7781").start()
	<-proxy.passed
	follow := w.podctl("tail", "-f", "p", "--after", "0").start()
	follow.out.await(t, "mark-7781")
	w.kill()
	w.start()
	if code, out := p.wait(), p.out.String(); code != 0 || !strings.Contains(out, "it had been submitted before; nothing is done twice") {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, out, p.err.String())
	}
	follow.out.await(t, "turn 1 finished")
	_ = follow.cmd.Process.Signal(os.Interrupt)
	follow.wait()
	if whole, _ := w.podctl("tail", "p", "--after", "0", "-o", "json").run(0); strings.Count(whole, `"submitted":`) != 1 {
		t.Errorf("the log is\n%s", whole)
	}
	// With the answer lost and no retry, the same id tells; another content is refused.
	id := regexpID.FindStringSubmatch(p.out.String())[1]
	if out, _ := w.podctl("submit", "-p", "p", "--request-id", id, "this is mark-7781").run(0); !strings.Contains(out, "nothing is done twice") {
		t.Errorf("the same submit again says %q", out)
	}
	if _, errs := w.podctl("submit", "-p", "p", "--request-id", id, "something else").run(1); !strings.Contains(errs, "was used for another submit") {
		t.Errorf("another content says %q", errs)
	}
}

// A follower outlives as many restarts as there are, orderly or not, and shows each
// entry once.
func TestTailAcrossRestarts(t *testing.T) {
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	tail := w.podctl("tail", "-f", "p", "--after", "0").start()
	alerts := w.podctl("alerts", "-f").start()
	for _, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
		w.podctl("submit", "-f", "-p", "p", "hello").run(0)
		if err := w.daemon.end(end); err != nil {
			t.Fatal(err)
		}
		w.start()
	}
	w.podctl("submit", "-f", "-p", "p", "hello").run(0)
	for _, p := range []*podctlProcess{tail, alerts} {
		p.out.await(t, "turn 5 finished")
		_ = p.cmd.Process.Signal(os.Interrupt)
		if code := p.wait(); code != 130 {
			t.Errorf("exit code %d: %s", code, p.err.String())
		}
	}
	whole, _ := w.podctl("tail", "p", "--after", "0").run(0)
	if a, b := entries(tail.out.String()), entries(whole); a != b {
		t.Errorf("followed:\n%s\nread at once:\n%s", a, b)
	}
	if all, _ := w.podctl("alerts").run(0); all != alerts.out.String() {
		t.Errorf("followed alerts:\n%s\nlisted:\n%s", alerts.out.String(), all)
	}
}
