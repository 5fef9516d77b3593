package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"podd/internal/testing/logs"
	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// process is podd in its own process.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	state  string
	log    logBuffer
	exited chan struct{}
}

// startPodd starts podd on a state directory and waits until it is ready or has ended.
func startPodd(t *testing.T, state, baseURL string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"--state-dir", state}, args...)...)
	cmd.Env = []string{
		runAsPodd + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + state, "OPENAI_BASE_URL=" + baseURL,
		// The race detector's own exit code would hide podd's.
		"GORACE=exitcode=99 atexit_sleep_ms=0",
	}
	return startProcess(t, state, cmd)
}

// startProcess starts a podd and waits until it is ready or has ended.
func startProcess(t *testing.T, state string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, state: state, cmd: cmd, exited: make(chan struct{})}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go p.read(stderr, ready)
	t.Cleanup(func() { p.signal(syscall.SIGKILL); <-p.exited })
	select {
	case <-ready:
	case <-p.exited:
	}
	return p
}

// read collects the log and reaps the process.
func (p *process) read(stderr io.Reader, ready chan struct{}) {
	defer close(p.exited)
	once := sync.OnceFunc(func() { close(ready) })
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		p.log.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"msg":"podd ready"`) {
			once()
		}
	}
	_ = p.cmd.Wait()
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// wait waits for the end and gives the exit code.
func (p *process) wait() int {
	<-p.exited
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) client() *client.Client {
	p.t.Helper()
	c, err := client.New(client.Config{Socket: filepath.Join(p.state, "podd.sock"), StateDir: p.state, RetryFor: -1})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.Close() })
	return c
}

// logBuffer is the log of a podd: one goroutine writes, others wait for more.
type logBuffer struct {
	mu    sync.Mutex
	text  strings.Builder
	grows chan struct{}
}

// WriteString adds to the log and wakes the waiting goroutines.
func (b *logBuffer) WriteString(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.WriteString(s)
	if b.grows != nil {
		close(b.grows)
		b.grows = nil
	}
}

// read returns the whole log, and a channel that is closed when more arrives.
func (b *logBuffer) read() (text string, grows <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.grows == nil {
		b.grows = make(chan struct{})
	}
	return b.text.String(), b.grows
}

// String is the whole log.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func stateDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	logs.AtEnd(t, dir)
	return dir
}

func model(t *testing.T, h scripted.Handler) string {
	t.Helper()
	s, err := scripted.Serve(scripted.Config{Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.URL()
}

// createAndSubmit creates the pod "p" and submits a prompt to it.
func createAndSubmit(t *testing.T, c *client.Client, dir string) *poddv1.SubmitResponse {
	t.Helper()
	spec := &poddv1.PodSpec{Dir: dir}
	if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: spec}); err != nil {
		t.Fatal(err)
	}
	return submit(t, c, "go")
}

func submit(t *testing.T, c *client.Client, text string) *poddv1.SubmitResponse {
	t.Helper()
	return submitTo(t, c, "p", text)
}

func submitTo(t *testing.T, c *client.Client, pod, text string) *poddv1.SubmitResponse {
	t.Helper()
	got, err := c.Submit(t.Context(), &poddv1.SubmitRequest{
		Pod: pod, Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: text}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// until follows the log of the pod "p" from its start to the first entry that matches, and
// returns all entries up to it.
func until(t *testing.T, c *client.Client, match func(*poddv1.Entry) bool) []*poddv1.Entry {
	t.Helper()
	return untilOf(t, c, "p", match)
}

// untilOf is until for any pod.
func untilOf(t *testing.T, c *client.Client, pod string, match func(*poddv1.Entry) bool) []*poddv1.Entry {
	t.Helper()
	var entries []*poddv1.Entry
	for r, err := range c.Stream(t.Context(), client.StreamOptions{Pod: pod, After: beforeFirst(t, c, pod), Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if e := r.GetEntry(); e != nil {
			entries = append(entries, e)
			if match(e) {
				return entries
			}
		}
	}
	t.Fatal("the stream ended")
	return nil
}

// beforeFirst is the sequence before the first entry of a log: 0, unless the log was purged.
func beforeFirst(t *testing.T, c *client.Client, pod string) int64 {
	t.Helper()
	// GetPod looks at the workspace, which may hang.
	list, err := c.Pods().ListPods(t.Context(), &poddv1.ListPodsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.GetPods() {
		if p.GetName() == pod {
			return max(p.GetFirstSeq(), 1) - 1
		}
	}
	return 0
}

func turnEnded(turn int64) func(*poddv1.Entry) bool {
	return func(e *poddv1.Entry) bool { return e.GetTurnEnded() != nil && e.GetTurn() == turn }
}

// podd is killed in the middle of a command. After the restart it continues the turn and
// waits for the command, which still runs, without running it again. The next submit
// continues from the same history.
func TestKill(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo $$ >> ran; while [ ! -e gate ]; do sleep 0.01; done; echo through"}`})
		}
		return scripted.Say(scripted.Text("on we go"))
	})
	p := startPodd(t, state, url)
	c := p.client()
	createAndSubmit(t, c, dir)
	until(t, c, func(e *poddv1.Entry) bool { return e.GetToolStarted() != nil })
	defer waitForPID(t, filepath.Join(dir, "ran"))()
	before := until(t, c, func(e *poddv1.Entry) bool { return e.GetToolStarted() != nil })
	p.signal(syscall.SIGKILL)
	p.wait()

	p = startPodd(t, state, url)
	c = p.client()
	until(t, c, func(e *poddv1.Entry) bool { return e.GetRecovered() != nil })
	if err := os.WriteFile(filepath.Join(dir, "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := until(t, c, turnEnded(1))
	for i, e := range before {
		if log[i].String() != e.String() {
			t.Errorf("entry %d changed:\n%v\n%v", i+1, e, log[i])
		}
	}
	end := log[len(log)-1].GetTurnEnded()
	if end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
		t.Errorf("end %v", end)
	}
	results := 0
	for _, e := range log {
		if r := e.GetItem().GetToolResult(); r != nil {
			results++
			if r.GetIsError() || r.GetContent() != "through\n" {
				t.Errorf("result %v", r)
			}
		}
	}
	if results != 1 {
		t.Errorf("%d results", results)
	}
	submit(t, c, "again")
	log = until(t, c, turnEnded(2))
	if end := log[len(log)-1].GetTurnEnded(); end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
		t.Errorf("second end %v", end)
	}
	if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); strings.Count(string(ran), "\n") != 1 {
		t.Errorf("the command ran again: %q", ran)
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d after SIGTERM", code)
	}
}

// podd is killed while one pod waits for a sub-pod. After the restart both are as they
// were: no second sub-pod is spawned, the task is submitted once, and the answer arrives.
func TestKillWithASpawnedPod(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case r.Steps() > 0:
			return scripted.Say(scripted.Text("that was " + r.LastUser()))
		case r.LastUser() == "go":
			return scripted.Say(scripted.Call{Name: "spawn_pod", Arguments: `{"task":"the task"}`})
		}
		return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo $$ >> ran; while [ ! -e gate ]; do sleep 0.01; done"}`})
	})
	p := startPodd(t, state, url)
	c := p.client()
	spec := &poddv1.PodSpec{Dir: dir, SubPods: 1}
	if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: spec}); err != nil {
		t.Fatal(err)
	}
	submit(t, c, "go")
	defer waitForPID(t, filepath.Join(dir, "ran"))()
	p.signal(syscall.SIGKILL)
	p.wait()

	p = startPodd(t, state, url)
	c = p.client()
	if err := os.WriteFile(filepath.Join(dir, "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := until(t, c, turnEnded(1))
	if end := log[len(log)-1].GetTurnEnded(); end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
		t.Errorf("end %v", end)
	}
	for _, e := range log {
		if r := e.GetItem().GetToolResult(); r != nil && (r.GetIsError() || r.GetContent() != "that was the task") {
			t.Errorf("result %v", r)
		}
	}
	list, err := c.Pods().ListPods(t.Context(), &poddv1.ListPodsRequest{})
	if err != nil || len(list.GetPods()) != 2 || list.GetPods()[1].GetSpec().GetParent() != list.GetPods()[0].GetId() {
		t.Errorf("pods %v, %v", list, err)
	}
	if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); strings.Count(string(ran), "\n") != 1 {
		t.Errorf("the command ran again: %q", ran)
	}
}

// waitForPID reads the process id that a command wrote and returns a function that kills
// it.
func waitForPID(t *testing.T, path string) func() {
	t.Helper()
	for t.Context().Err() == nil {
		b, err := os.ReadFile(path)
		if err == nil && bytes.HasSuffix(b, []byte("\n")) {
			pid := strings.TrimSpace(string(b))
			return func() { _ = exec.Command("kill", "-9", pid).Run() }
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	t.Fatal("the command did not start")
	return nil
}

// After SIGTERM the running step may end; a second SIGTERM cuts it. Either way podd exits
// with 0 and removes its socket, and the next podd continues the turn.
func TestDrain(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo $$ > started; sleep 1000"}`})
		}
		return scripted.Say(scripted.Text("on we go"))
	})
	p := startPodd(t, state, url)
	c := p.client()
	createAndSubmit(t, c, dir)
	waitForPID(t, filepath.Join(dir, "started"))
	p.signal(syscall.SIGTERM)
	p.await("podd is stopping")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}
	if _, err := os.Stat(filepath.Join(state, "podd.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
	c = startPodd(t, state, url).client()
	log := until(t, c, turnEnded(1))
	if end := log[len(log)-1].GetTurnEnded(); end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
		t.Errorf("end %v", end)
	}
	for _, e := range log {
		if r := e.GetItem().GetToolResult(); r != nil && !strings.Contains(r.GetSummary(), "may have taken effect") {
			t.Errorf("result %v", r)
		}
	}
}

// podd restarts in the middle of a command, while a job runs: both run on, and the next podd finds the
// result of the one and follows the other. When podd stops, the job ends.
func TestRestartLeavesCommands(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch r.Steps() {
		case 0:
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo job; sleep 1000","background":true}`})
		case 1:
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo $$ >> ran; while [ ! -e gate ]; do sleep 0.01; done; echo through"}`})
		}
		return scripted.Say(scripted.Text("on we go"))
	})
	p := startPodd(t, state, url)
	createAndSubmit(t, p.client(), dir)
	defer waitForPID(t, filepath.Join(dir, "ran"))()
	p.signal(syscall.SIGUSR1)
	p.await("podd is stopping")
	p.signal(syscall.SIGUSR1) // It need not wait for the command.
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}
	if log := p.log.String(); strings.Contains(log, `"level":"WARN","msg":"commands that`) || strings.Contains(log, "has ended before them") {
		t.Errorf("podd warns of what it leaves on purpose: %s", log)
	}
	if err := os.WriteFile(filepath.Join(dir, "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p = startPodd(t, state, url)
	c := p.client()
	var results []string
	for _, e := range until(t, c, turnEnded(1)) {
		if r := e.GetItem().GetToolResult(); r != nil {
			results = append(results, r.GetContent())
		}
	}
	// A busy machine may not have run the job yet when its call ends.
	if len(results) != 2 || strings.TrimSuffix(results[0], "job\n") != "" || results[1] != "through\n" {
		t.Errorf("results %q", results)
	}
	if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); strings.Count(string(ran), "\n") != 1 {
		t.Errorf("the command ran again: %q", ran)
	}
	jobs := func(c *client.Client) *poddv1.JobInfo {
		list, err := c.Jobs().ListJobs(t.Context(), &poddv1.ListJobsRequest{Pod: "p"})
		if err != nil || len(list.GetJobs()) != 1 {
			t.Fatalf("the jobs %v, %v", list, err)
		}
		return list.GetJobs()[0]
	}
	if j := jobs(c); j.GetState() != poddv1.JobState_JOB_STATE_RUNNING {
		t.Errorf("the job is %v", j)
	}
	p.signal(syscall.SIGTERM)
	p.wait()
	c = startPodd(t, state, url).client()
	j := jobs(c)
	for ; j.GetState() == poddv1.JobState_JOB_STATE_RUNNING; j = jobs(c) { // podd finds out how it ended.
		runtime.Gosched()
	}
	if !strings.Contains(j.GetStatus(), "podd stopped") {
		t.Errorf("after a stop the job is %v", j)
	}
}

// A second podd on the same state directory or socket exits at once and names the first
// one, which keeps running.
func TestSecondPodd(t *testing.T) {
	state := stateDir(t)
	first := startPodd(t, state, "http://127.0.0.1:1/v1")
	for name, args := range map[string][]string{
		"state directory": {"--state-dir", state},
		"socket":          {"--state-dir", stateDir(t), "--socket", filepath.Join(state, "podd.sock")},
	} {
		second := startPodd(t, state, "http://127.0.0.1:1/v1", args...)
		if code := second.wait(); code != exitFailed {
			t.Errorf("same %s: exit code %d", name, code)
		}
		log := second.log.String()
		if !strings.HasPrefix(log, "podd: ") || strings.Count(log, "\n") != 1 {
			t.Errorf("same %s: %s", name, log)
		}
	}
	if _, err := first.client().Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{}); err != nil {
		t.Errorf("the first podd is disturbed: %v", err)
	}
}
