package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/llm/scripted"
)

var regexpID = regexp.MustCompile(`submitted as (\S+)`)

// saysYes answers "yes" to each prompt.
func saysYes(context.Context, scripted.Request) scripted.Reply {
	return scripted.Say(scripted.Text("Yes."))
}

// podd is killed between a submit and its answer. podctl resends the submit to the next
// podd, which reports that it already has it, and the prompt exists once.
func TestSubmitCountsOnceOverARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	proxy := newProxy(t, w.dir+"/state/podd.sock", "mark-7781")
	p := w.podctl("submit", "--socket", proxy.path(), "-p", "p", "this is mark-7781").start()
	<-proxy.passed
	follow := w.podctl("tail", "-f", "p", "--after", "0").start()
	follow.out.await(t, "mark-7781")
	w.kill()
	w.start()
	if code, out := p.wait(), p.out.String(); code != 0 || !strings.Contains(out, "already submitted to p (#") {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, out, p.err.String())
	}
	follow.out.await(t, "turn 1 finished")
	_ = follow.cmd.Process.Signal(os.Interrupt)
	follow.wait()
	if whole, _ := w.podctl("tail", "p", "--after", "0", "-o", "json").run(0); strings.Count(whole, `"submitted":`) != 1 {
		t.Errorf("the log is\n%s", whole)
	}
	// When the answer is lost and podctl does not retry, a resend with the same id finds the
	// submit; other content under that id is refused.
	id := regexpID.FindStringSubmatch(follow.out.String())[1]
	if out, _ := w.podctl("submit", "-p", "p", "--request-id", id, "this is mark-7781").run(0); !strings.Contains(out, "already submitted to p (#") {
		t.Errorf("the same submit again says %q", out)
	}
	if _, errs := w.podctl("submit", "-p", "p", "--request-id", id, "something else").run(1); !strings.Contains(errs, "belongs to another submit") {
		t.Errorf("another content says %q", errs)
	}
}

// A prompt that a person sends while podd is away waits, and nothing is written across the view.
func TestAttachSendsOnceBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	p, typed := w.onTerminal("attach", "p")
	p.out.await(t, "Enter send")
	w.kill()
	p.out.await(t, "lost the connection to podd; retrying")
	typed("hello\r")
	p.out.await(t, "sending")
	w.start()
	p.out.await(t, "turn 1 finished")
	typed("\x04")
	if code := p.wait(); code != exitDone || strings.Contains(p.out.String(), "cannot accept") {
		t.Errorf("exit code %d:\n%q", code, p.out.String())
	}
}

// What a person sends just before leaving reaches podd; if it cannot, podctl says so.
func TestAttachSendsBeforeItLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	follow := w.podctl("tail", "-f", "p", "--after", "0").start()
	for i := range 5 {
		p, typed := w.onTerminal("attach", "p")
		p.out.await(t, "Enter send")
		typed(fmt.Sprintf("prompt %d\r\x04", i))
		if code := p.wait(); code != exitDone {
			t.Errorf("exit code %d:\n%q", code, p.out.String())
		}
		if log, _ := w.podctl("tail", "p", "--after", "0").run(0); !strings.Contains(log, fmt.Sprintf("prompt %d\n", i)) {
			t.Errorf("prompt %d is not in the log:\n%s", i, log)
		}
		follow.out.await(t, fmt.Sprintf("turn %d finished", i+1)) // The view of a pod at work has other keys.
	}
	_ = follow.cmd.Process.Signal(os.Interrupt)
	follow.wait()

	p, typed := w.onTerminal("attach", "p")
	p.out.await(t, "Enter send")
	w.kill()
	p.out.await(t, "lost the connection to podd; retrying")
	typed("hello\r")
	p.out.await(t, "sending")
	typed("\x04")
	if code := p.wait(); code != exitUnreachable || !strings.Contains(p.out.String(), "podd may not have what you sent last: ") {
		t.Errorf("exit code %d:\n%q", code, p.out.String())
	}
	w.start()
}

// A follower survives any number of restarts and kills, and shows each entry once.
func TestTailAcrossRestarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	tail := w.podctl("tail", "-f", "p", "--after", "0").start()
	alerts := w.podctl("alerts", "-f").start()
	w.podctl("submit", "-f", "-p", "p", "hello @./gone-0.txt").run(0)
	// A client that has never reached podd does not wait for it.
	tail.out.await(t, "turn 1 finished")
	alerts.out.await(t, "gone-0.txt")
	for i, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
		w.podctl("submit", "-f", "-p", "p", fmt.Sprintf("hello @./gone-%d.txt", i+1)).run(0)
		if err := w.daemon.end(end); err != nil {
			t.Fatal(err)
		}
		w.start()
	}
	w.podctl("submit", "-f", "-p", "p", "hello @./gone-5.txt").run(0)
	for p, last := range map[*podctlProcess]string{tail: "turn 6 finished", alerts: "gone-5.txt"} {
		p.out.await(t, last)
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

// podctl finds a pod's name although podd is killed during the request.
func TestAlertsNamePodsAcrossARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	w.podctl("submit", "-f", "-p", "p", "hello @./gone.txt").run(0)
	described, _ := w.podctl("show", "p", "-o", "json").run(0)
	proxy := newProxy(t, w.dir+"/state/podd.sock", regexp.MustCompile(`pod_\w+`).FindString(described))
	alerts := w.podctl("alerts", "-f", "--socket", proxy.path()).start()
	<-proxy.passed
	w.kill()
	w.start()
	alerts.out.await(t, "gone.txt")
	if out := alerts.out.String(); !regexp.MustCompile(`(?m)  p  \S+  warn: .*gone\.txt`).MatchString(out) {
		t.Errorf("alerts: %s", out)
	}
	_ = alerts.cmd.Process.Signal(os.Interrupt)
	alerts.wait()
}

// Reading entries that retention removed fails with exit code 4 and a message that says
// where the log begins; from there on the log is complete. A cursor past the end of the
// log fails the same way.
func TestTailOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	for range 3 {
		w.podctl("submit", "-f", "-p", "p", strings.Repeat("hello ", 15_000)).run(0)
	}
	w.podctl("compact", "p").run(0)
	before, _ := w.podctl("tail", "p", "--after", "0").run(0)
	w.configure("[retention]\nbytes = 1\n")
	if err := w.daemon.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.startWith("--log-level", "debug")
	w.daemon.log.await(t, "checked the age and the size of all logs")
	if !strings.Contains(w.daemon.logged(), "removed old entries") {
		t.Fatalf("nothing was removed:\n%s", w.daemon.logged())
	}
	_, errs := w.podctl("tail", "p", "--after", "1").run(4)
	first := regexp.MustCompile(`its log begins at (\d+)`).FindStringSubmatch(errs)
	if first == nil {
		t.Fatalf("podctl says %q", errs)
	}
	begin, _ := strconv.Atoi(first[1])
	rest, _ := w.podctl("tail", "p", "--after", strconv.Itoa(begin-1)).run(0)
	if all := sequences(rest); len(all) == 0 || all[0] != begin || all[len(all)-1] != len(sequences(before)) {
		t.Errorf("behind it there is\n%s", rest)
	}
	if _, errs := w.podctl("image", "p").run(0); errs != "pod p has no images\n" {
		t.Errorf("podctl image says %q", errs)
	}
	if _, errs := w.podctl("tail", "-f", "p", "--after", "9999").run(4); !strings.Contains(errs, "its log ends at") {
		t.Errorf("podctl says %q", errs)
	}
}

// sequences are those of the entries that tail printed.
func sequences(text string) (all []int) {
	for _, m := range regexp.MustCompile(`(?m)^#(\d+) `).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		all = append(all, n)
	}
	return all
}

// configure writes another configuration for podd and makes podd read it.
func (w *world) configure(text string) {
	w.t.Helper()
	dir := filepath.Join(w.dir, "home", ".config", "podd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.podctl("reload").run(0)
}

// podctl waits for a podd that is just starting, and for the token that its first start
// makes.
func TestPoddThatIsBeingStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gated(nil))
	w.drain()
	if err := os.Remove(filepath.Join(w.dir, "state", "client.token")); err != nil {
		t.Fatal(err)
	}
	exited := make(chan int, 1)
	go func() {
		code, _ := w.runHere([]string{"create", "p"})
		exited <- code
	}()
	w.start()
	if code := <-exited; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A pod that is followed gets another name; its followers go on, also over a restart.
func TestFollowersOutliveARename(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "before").run(0)
	w.podctl("submit", "-f", "-p", "before", "hello").run(0)
	tail := w.podctl("tail", "-f", "before", "--after", "0").start()
	tail.out.await(t, "turn 1 finished")
	w.podctl("rename", "before", "after").run(0)
	w.podctl("submit", "-f", "-p", "after", "hello").run(0)
	tail.out.await(t, "turn 2 finished")
	w.kill()
	w.start()
	w.podctl("submit", "-f", "-p", "after", "hello").run(0)
	tail.out.await(t, "turn 3 finished")
	if err := tail.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := tail.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, standard error %q", code, tail.err.String())
	}
}
