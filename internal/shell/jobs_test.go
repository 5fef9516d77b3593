package shell_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"podd/internal/shell"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/tooltest"
)

// start starts a job and stores the result that names it.
func (b *bench) start(id string, pairs ...any) (out tool.Output, entries []item.Kind) {
	b.t.Helper()
	tl := b.tool("shell")
	arguments, err := tl.Check(object(append(pairs, "background", true)...))
	if err != nil {
		b.t.Fatal(err)
	}
	var later []func()
	out, err = tl.Run(b.t.Context(), &tool.Invocation{
		Arguments: arguments, Pod: "p", Turn: 1, CallID: id,
		Entry: func(k item.Kind) { entries = append(entries, k) },
		Later: func(work func()) { later = append(later, work) },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	tooltest.CheckOutput(b.t, out)
	for _, work := range later {
		work()
	}
	return out, entries
}

// job calls the job tool.
func (b *bench) job(pairs ...any) tool.Output {
	b.t.Helper()
	return b.call("job", object(pairs...))
}

// server is a command that prints that it is ready, and runs until the file go exists.
const server = "echo $$ >pid; echo ready; : >up; while ! [ -e go ]; do sleep 0.01; done; echo done; exit 4"

func TestJobThatExitsAtOnceIsACommand(t *testing.T) {
	b := newBench(t, nil, quickly)
	out, entries := b.start("c1", "command", "echo hi; exit 3")
	// On a busy machine it is a job before it exits.
	for len(entries) > 0 {
		b = newBench(t, nil, quickly)
		out, entries = b.start("c1", "command", "echo hi; exit 3")
	}
	want := b.call("shell", object("command", "echo hi; exit 3"))
	if out.Summary != want.Summary || out.Content != want.Content || !out.IsError || len(entries) > 0 {
		t.Errorf("%+v and entries %v, want %+v", out, entries, want)
	}
	if all, left := b.jobs.List(), b.spooled(); len(all) > 0 || len(left) > 0 {
		t.Errorf("jobs %v and files %v remain", all, left)
	}
}

// A job that a restart leaves runs, but nobody who waits for its end waits longer than for the podd that leaves it.
func TestLeftJobHoldsNobody(t *testing.T) {
	b := newBench(t, nil, quickly)
	b.start("c1", "command", server)
	defer func() {
		if left, err := shell.EndLeft(filepath.Dir(b.spool)); left > 0 || err != nil {
			t.Errorf("left %d, %v", left, err)
		}
	}()
	b.allJobs.Leave()
	<-b.jobs.Stop("1", "somebody asks")
	if jobs := b.jobs.List(); len(jobs) != 1 || jobs[0].State != item.JobRunning || len(b.jobs.Ended()) > 0 {
		t.Errorf("the jobs are %+v", jobs)
	}
	if out := b.job("action", "stop", "id", "1"); !out.IsError {
		t.Errorf("a job that runs on is said to have ended: %+v", out)
	}
}

func TestJobIsReadAndStopped(t *testing.T) {
	b := newBench(t, nil, quickly)
	ended := make(chan struct{}, 1)
	b.jobs.Keep(nil, 4, func() { ended <- struct{}{} })
	out, entries := b.start("c1", "command", server)
	if out.IsError || !strings.Contains(out.Summary, ", runs as job 5; ") {
		t.Fatalf("it starts with %+v", out)
	}
	awaitFile(t, b.path("up")) // On a busy machine it says later that it is ready.
	if len(entries) != 1 || entries[0] != item.Kind(item.Job{ID: "5", CallID: "c1", State: item.JobRunning}) {
		t.Errorf("entries %v", entries)
	}
	for _, c := range []struct {
		pairs            []any
		summary, content string
	}{
		{[]any{"action", "read", "id", "5"}, "job: 5 runs; 1 line, mark 6", "ready\n"},
		{[]any{"action", "read", "id", "5", "after", 2}, "job: 5 runs; 1 line, mark 6", "ady\n"},
		{[]any{"action", "read", "id", "5", "after", 6}, "job: 5 runs; no output, mark 6", ""},
		{[]any{"action", "read", "id", "5", "after", 600}, "job: 5 runs; no output, mark 6", ""},
		{[]any{"action", "read", "id", "5", "after", 0, "until", "^re"}, "job: 5 runs; 1 line, mark 6", "ready\n"},
		{[]any{"action", "read", "id", "5", "after", 6, "until", "^re", "wait_seconds", 1}, "job: 5 printed no line that matches ^re within 1 s, runs; no output, mark 6", ""},
	} {
		if out := b.job(c.pairs...); out.IsError || out.Summary != c.summary || out.Content != c.content {
			t.Errorf("%v: %+v", c.pairs, out)
		}
	}
	list := b.job("action", "list")
	if list.Summary != "job: 1 running, 0 ended" || !strings.HasPrefix(list.Content, "5: running for ") || !strings.HasSuffix(list.Content, "; 6 bytes of output; "+server+"\n") {
		t.Errorf("list: %+v", list)
	}
	pid := b.pidIn("pid")
	if out := b.job("action", "stop", "id", "5"); out.IsError || !strings.HasPrefix(out.Summary, "job: 5 has ended: stopped after ") || out.Content != "ready\n" {
		t.Errorf("stop: %+v", out)
	}
	if alive(pid) {
		t.Error("its process goes on")
	}
	<-ended
	ends := b.jobs.Ended()
	if len(ends) != 1 || ends[0].Note != "" || ends[0].State != item.JobEnded || !strings.HasPrefix(ends[0].Status, "stopped after") {
		t.Errorf("ends %+v", ends)
	}
	b.jobs.Stored("5")
	if out := b.job("action", "read", "id", "5", "after", 0); out.IsError || !strings.HasPrefix(out.Summary, "job: 5 has ended: stopped after ") || out.Content != "ready\n" {
		t.Errorf("read of an ended one: %+v", out)
	}
}

// The model gets a note about the end of a job that it has not read. The note starts a
// turn unless the job is quiet.
func TestJobEndsByItself(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		b := newBench(t, nil, quickly)
		ended := make(chan struct{}, 1)
		b.jobs.Keep(nil, 0, func() { ended <- struct{}{} })
		b.start("c1", "command", server, "quiet", quiet)
		b.write("go", "")
		<-ended
		ends := b.jobs.Ended()
		if len(ends) != 1 || ends[0].Status != "exit 4" || ends[0].Wake == quiet || !strings.HasPrefix(ends[0].Note, "Job 1 (echo $$ >pid;") ||
			!strings.HasSuffix(ends[0].Note, " has ended: exit 4: done; 2 lines. The end of its output:\nready\ndone") {
			t.Errorf("quiet %v: ends %+v", quiet, ends)
		}
	}
}

func TestJobsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, quickly)
	b.start("c1", "command", "sleep 600")
	b.start("c2", "command", "sleep 600")
	if out, entries := b.start("c3", "command", "sleep 600"); !out.IsError || len(entries) > 0 || out.Summary != "shell: not run: 2 jobs run, the most that [jobs] max allows: stop one of 1, 2 first" {
		t.Errorf("the third: %+v", out)
	}
	b.job("action", "stop", "id", "1")
	if out, _ := b.start("c4", "command", "sleep 600"); out.IsError {
		t.Errorf("the next: %+v", out)
	}
}

func TestJobArguments(t *testing.T) {
	b := newBench(t, nil)
	b.start("c1", "command", "sleep 600")
	for _, c := range []struct{ tool, arguments, want string }{
		{"shell", `{"command":"x","quiet":true}`, "quiet is for a job: set background too, or leave it out"},
		{"shell", `{"command":"x","background":true,"timeout_seconds":5}`, "timeout_seconds is for a command in the foreground"},
		{"job", `{"action":"read"}`, "id is missing: action list shows the jobs"},
		{"job", `{"action":"eat","id":"1"}`, "action"},
		{"job", `{"action":"list","id":"1"}`, "list takes no other argument"},
		{"job", `{"action":"stop","id":"1","after":4}`, "after, wait_seconds and until are for read and write"},
		{"job", `{"action":"read","id":"1","after":-1}`, "after must be 0 or more, not -1"},
		{"job", `{"action":"read","id":"1","wait_seconds":601}`, "wait_seconds must be 0 to 600, not 601"},
		{"job", `{"action":"read","id":"1","until":"("}`, "until is no RE2 expression"},
	} {
		if _, err := b.tool(c.tool).Check(c.arguments); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.arguments, err, c.want)
		}
	}
	if out := b.job("action", "read", "id", "7"); !out.IsError || out.Summary != `job: no job has the id "7": running are 1 (sleep 600)` {
		t.Errorf("an unknown one: %+v", out)
	}
}

// A cancelled call ends the command that it was about to leave as a job.
func TestJobEndsWithItsCancelledCall(t *testing.T) {
	b := newBench(t, nil, quickly)
	ctx, cancel := context.WithCancelCause(t.Context())
	report := func(string) { cancel(errors.New("enough")) }
	out, err := b.tool("shell").Run(ctx, &tool.Invocation{Arguments: object("command", server, "background", true), CallID: "c1", Report: report})
	if err != nil || !out.IsError || !strings.Contains(out.Summary, "stopped after") || alive(b.pidIn("pid")) {
		t.Errorf("%+v, %v", out, err)
	}
	if all := b.jobs.List(); len(all) > 0 {
		t.Errorf("jobs %v remain", all)
	}
}

// A job outlives a killed podd: the next podd reads what it printed in between, and how
// it ended.
func TestJobOutlivesAKilledPodd(t *testing.T) {
	for _, endsMeanwhile := range []bool{false, true} {
		t.Run(fmt.Sprintf("ends meanwhile %v", endsMeanwhile), func(t *testing.T) {
			dir, spoolDir := t.TempDir(), t.TempDir()
			killAfter(t, dir, spoolDir, object("command", server, "background", true), "returned")
			b := benchAt(t, dir, spoolDir)
			if endsMeanwhile {
				b.write("go", "")
				b.ends("pid")
			}
			ended := make(chan struct{}, 2)
			b.jobs.Keep([]item.Job{{ID: "1", CallID: theCall.CallID, State: item.JobRunning}}, 1, func() { ended <- struct{}{} })
			if !endsMeanwhile {
				if out := b.job("action", "read", "id", "1", "after", 0, "until", "ready"); out.Content != "ready\n" || out.IsError {
					t.Errorf("read: %+v", out)
				}
				b.write("go", "")
			}
			<-ended
			if ends := b.jobs.Ended(); len(ends) != 1 || ends[0].Status != "exit 4" || !ends[0].Wake || !strings.HasSuffix(ends[0].Note, "\nready\ndone") {
				t.Errorf("ends %+v", ends)
			}
			b.jobs.Stored("1")
			// The record stays, too: it says what was typed.
			if left := b.spooled(); len(left) != 2 || filepath.Ext(left[0]) != ".ended" || filepath.Ext(left[1]) != ".out" {
				t.Errorf("files %v remain", left)
			}
			if alive(b.pidIn("pid")) {
				t.Error("its process goes on")
			}
		})
	}
}

// A call that was open when podd was killed gets the result that it would have had, and
// its job keeps running.
func TestJobOfAnOpenCallIsRecovered(t *testing.T) {
	arguments := object("command", server, "background", true)
	dir, spoolDir := t.TempDir(), t.TempDir()
	killAfter(t, dir, spoolDir, arguments, "up")
	b := benchAt(t, dir, spoolDir)
	var entries []item.Kind
	call := with(theCall, arguments)
	call.Entry = func(k item.Kind) { entries = append(entries, k) }
	out, how, err := b.tool("shell").Recover(t.Context(), call)
	if err != nil || how != item.RecoveryFound || out.IsError || len(entries) != 1 || !strings.Contains(out.Summary, "runs as job 1") || out.Content != "ready\n" {
		t.Fatalf("%v, %v: %+v, entries %v", how, err, out, entries)
	}
	if out := b.job("action", "stop", "id", "1"); out.IsError || alive(b.pidIn("pid")) {
		t.Errorf("stop: %+v", out)
	}
}

// A job without files in podd, as in a fork, has ended.
func TestLostJobHasEnded(t *testing.T) {
	b := newBench(t, nil)
	ended := make(chan struct{}, 1)
	b.jobs.Keep([]item.Job{{ID: "1", CallID: "c", State: item.JobRunning}}, 1, func() { ended <- struct{}{} })
	<-ended
	if ends := b.jobs.Ended(); len(ends) != 1 || ends[0].Wake || ends[0].Note != "Job 1 has ended: podd has no record of it; a fork has no jobs." {
		t.Errorf("ends %+v", ends)
	}
}

// The commands of a pod that no log tells of end with the pod, whichever podd started them.
func TestCommandsOfAnAbandonedPodEnd(t *testing.T) {
	for _, background := range []bool{true, false} {
		for _, deleted := range []bool{true, false} {
			t.Run(fmt.Sprintf("background %v, deleted %v", background, deleted), func(t *testing.T) {
				dir, spoolDir := t.TempDir(), t.TempDir()
				killAfter(t, dir, spoolDir, object("command", server, "background", background), "up")
				b := benchAt(t, dir, spoolDir)
				if deleted {
					b.allJobs.Forget("p")
				} else {
					b.allJobs.Abandon("p")
					b.allJobs.Abandon("p")
					b.ends("pid")
				}
				if alive(b.pidIn("pid")) {
					t.Error("its process goes on")
				}
				b.allJobs.Close()
				for _, name := range b.spooled() {
					if ext := filepath.Ext(name); ext != ".out" && ext != ".ended" {
						t.Errorf("the file %s remains", name)
					}
				}
			})
		}
	}
}

// The output of a job takes bounded disk space, and its end stays readable.
func TestJobOutputIsBounded(t *testing.T) {
	b := newBench(t, nil, quickly)
	b.start("c1", "command", "seq 1 400000; echo last; sleep 600")
	out := b.job("action", "read", "id", "1", "until", "^last$", "after", 0, "wait_seconds", 60)
	if out.IsError || !strings.Contains(out.Summary, "bytes more") || strings.Contains(out.Content, "\x00") {
		t.Fatalf("read: %.300s", out.Summary)
	}
	for b.diskUsed() > 2<<20 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	if out := b.job("action", "read", "id", "1"); !strings.HasSuffix(out.Content, "400000\nlast\n") {
		t.Errorf("its end is %.200q", out.Content)
	}
}

func TestSecretsOfJobsAreNotReadInParts(t *testing.T) {
	redact := func(text string) string { return strings.ReplaceAll(text, "secret", "[hidden]") }
	for before, texts := range map[string][2]string{"a sec": {"ret b", "hidden] b"}, "a ": {"secret b", "[hidden] b"}, "secret ": {"b", "b"}} {
		got := shell.WithoutSecrets(redact, before, texts[0])
		if strings.Contains(got, "ret b") || got != texts[1] && got != "["+texts[1] {
			t.Errorf("%q after %q reads as %q", texts[0], before, got)
		}
	}
}

// diskUsed is the disk space of the spool's files, in bytes.
func (b *bench) diskUsed() (bytes int64) {
	b.t.Helper()
	entries, err := os.ReadDir(b.spool)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range entries {
		var stat syscall.Stat_t
		if err := syscall.Stat(filepath.Join(b.spool, e.Name()), &stat); err == nil {
			bytes += stat.Blocks * 512
		}
	}
	return bytes
}

// Whoever waits for another's write of ends of jobs can give up.
func TestStoreGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := shell.StoreBehind(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
