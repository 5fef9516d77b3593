package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/llm/scripted"
)

// startsJob has the first request of a conversation start a job, and answers the others.
func startsJob(command string) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		if strings.Contains(string(r.Body), "runs as job") {
			return scripted.Say(scripted.Text("Yes."))
		}
		return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"` + command + `","background":true}`})
	}
}

// Whoever follows a job's output sees each byte once, over a killed podd, and an orderly
// stop ends the job.
func TestJobLogsAcrossRestarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startsJob("echo one; for n in two three; do until [ -e $n ]; do sleep 0.01; done; echo $n; done; sleep 600"))
	dir := filepath.Join(w.dir, "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.podctl("create", "p", "--dir", dir).run(0)
	w.podctl("submit", "-f", "-p", "p", "go").run(0)
	logs := w.podctl("jobs", "logs", "p", "1", "-f").start()
	logs.out.await(t, "one\n")
	w.kill()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("two")
	w.start()
	logs.out.await(t, "two\n")
	write("three")
	logs.out.await(t, "three\n")
	if err := w.daemon.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.start()
	if code := logs.wait(); code != 0 || logs.out.String() != "one\ntwo\nthree\n" ||
		!strings.Contains(logs.err.String(), "podd stopped; mark 14\n") || strings.Count(logs.err.String(), "lost the connection") < 1 {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, logs.out.String(), logs.err.String())
	}
}

// Interrupting a follower leaves the job alone and says how to continue.
func TestInterruptedJobLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startsJob("echo one; sleep 600"))
	w.podctl("create", "p", "--dir", t.TempDir()).run(0)
	w.podctl("submit", "-f", "-p", "p", "go").run(0)
	logs := w.podctl("jobs", "logs", "p", "1", "-f").start()
	logs.out.await(t, "one\n")
	_ = logs.cmd.Process.Signal(os.Interrupt)
	if code := logs.wait(); code != exitInterrupted || !strings.Contains(logs.err.String(), "continue with podctl jobs logs -f p 1 --after 4\n") {
		t.Errorf("exit code %d, standard error %q", code, logs.err.String())
	}
	if out, _ := w.podctl("jobs").run(0); !strings.Contains(out, "running") {
		t.Errorf("the jobs are %q", out)
	}
}
