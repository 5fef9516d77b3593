package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	"podd/pkg/tool/spool"
	poddv1 "podd/proto/podd/v1"
)

// makeStates is the variable with the version for which TestStoredStates makes a stored state
// before it opens all of them: make states VERSION=v0.1.0.
const makeStates = "PODD_MAKE_STATES"

// statesRoot is where a state is made and opened: the paths of workspaces are in it.
const statesRoot = "/tmp/podd-states"

// A podd opens what each released podd left when it was killed with pods in every state: all
// entries are as they were, open turns go on, and what was asked, queued, deleted, changed and left
// running is there. A change of format without a migration fails here.
func TestStoredStates(t *testing.T) {
	t.Parallel()
	defer alone(t)()
	places, err := filepath.Abs("testdata/states")
	if err != nil {
		t.Fatal(err)
	}
	if version := os.Getenv(makeStates); version != "" {
		killWithStates(t, filepath.Join(places, version+".tar.gz"))
	}
	files, err := filepath.Glob(filepath.Join(places, "*.tar.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no stored states: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), func(t *testing.T) { openStates(t, file) })
	}
}

// alone waits until no other test of this machine uses statesRoot, and empties it then and when
// done is called.
func alone(t *testing.T) (done func()) {
	t.Helper()
	lock, err := openLock(statesRoot + "-lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	empty := func() {
		if err := os.RemoveAll(statesRoot); err != nil {
			t.Error(err)
		}
	}
	empty()
	return func() {
		empty()
		_ = lock.Close()
	}
}

// openLock opens a file that every user of this machine can lock. Linux may refuse to create what another user
// has in a directory of all.
func openLock(path string) (*os.File, error) {
	for {
		lock, err := os.Open(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return lock, err
		}
		if lock, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o644); !errors.Is(err, fs.ErrExist) {
			return lock, err
		}
	}
}

// statesConfig keeps what a podd would remove in years, and removes at once what it may remove of
// logs.
const statesConfig = `ask = "never"
[retention]
bytes = 1
trash = "876000h"
[tool_output]
spool_age = "876000h"
[compaction]
keep_tokens = 1000
`

// states is a podd on statesRoot, with the model.
type states struct {
	*process
	c *client.Client
	// gate lets the model go on with what it holds.
	gate chan struct{}
}

func startStates(t *testing.T) *states {
	t.Helper()
	s := &states{gate: make(chan struct{})}
	s.process = startPodd(t, filepath.Join(statesRoot, "s"), model(t, s.reply), "--config", filepath.Join(statesRoot, "config.toml"))
	s.c = s.client()
	return s
}

// reply does what the prompt says: run a command, put it into the background, write a file, stall,
// or just answer.
func (s *states) reply(_ context.Context, r scripted.Request) scripted.Reply {
	line, _, _ := strings.Cut(r.LastUser(), "\n")
	verb, rest, _ := strings.Cut(line, " ")
	switch {
	case strings.Contains(r.Messages[len(r.Messages)-1].Text, "summary that replaces the conversation"):
		return scripted.Say(scripted.Text("There were three turns."))
	case verb == "stall":
		return scripted.Say(scripted.Text("half"), scripted.Wait(s.gate), scripted.Text(" whole"))
	case len(r.Results()) > 0:
		return scripted.Say(scripted.Text("done"))
	case verb == "run":
		return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"` + rest + `","timeout_seconds":600}`})
	case verb == "background":
		return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"` + rest + `","background":true}`})
	case verb == "write":
		return scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path":"` + rest + `","content":"written"}`})
	}
	return scripted.Say(scripted.Text("the answer to " + rest))
}

// create makes a pod, and its workspace.
func (s *states) create(pod string, spec *poddv1.PodSpec, worktree *poddv1.Worktree) {
	s.t.Helper()
	if spec.Dir == "" {
		spec.Dir = workOf(pod)
	}
	if err := os.MkdirAll(spec.GetDir(), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.c.Pods().CreatePod(s.t.Context(), &poddv1.CreatePodRequest{Name: pod, Spec: spec, Worktree: worktree}); err != nil {
		s.t.Fatal(err)
	}
}

func workOf(pod string) string { return filepath.Join(statesRoot, "w", pod) }

// turn submits a prompt and waits for the end of its turn.
func (s *states) turn(pod, prompt string, number int64) []*poddv1.Entry {
	s.t.Helper()
	submitTo(s.t, s.c, pod, prompt)
	return s.finished(pod, number)
}

// finished waits for the end of a turn, which must be good.
func (s *states) finished(pod string, number int64) []*poddv1.Entry {
	s.t.Helper()
	log := untilOf(s.t, s.c, pod, turnEnded(number))
	if end := log[len(log)-1].GetTurnEnded(); end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
		s.t.Errorf("%s: turn %d ended as %v", pod, number, end)
	}
	return log
}

// begun waits until a command has written a file of the workspace.
func (s *states) begun(pod string) {
	s.t.Helper()
	path := filepath.Join(workOf(pod), "ran")
	s.await(path, func() bool { return exists(path) })
}

// await waits until something is so.
func (s *states) await(what string, so func() bool) {
	s.t.Helper()
	again, enough := time.NewTicker(10*time.Millisecond), time.After(2*time.Minute)
	defer again.Stop()
	for !so() {
		select {
		case <-again.C:
		case <-enough:
			s.t.Fatalf("podd does not come to %s: %s", what, s.log.String())
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// holding is a command that runs until the gate is open.
const holding = "run echo x >>ran; until [ -e gate ]; do sleep 0.02; done; echo through"

// open lets the command of a pod go on.
func open(t *testing.T, pod string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(workOf(pod), "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// picture is an image for a submit.
func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// repository is a person's, with one commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(statesRoot, "repo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "--template="}, {"config", "user.name", "Person"},
		{"config", "user.email", "person@example.org"}, {"commit", "-q", "--allow-empty", "-m", "first"},
	} {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, said)
		}
	}
	return dir
}

// killWithStates brings pods into all states, kills podd, and packs what it leaves.
func killWithStates(t *testing.T, file string) {
	if err := os.MkdirAll(filepath.Join(statesRoot, "s"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(statesRoot, "config.toml"), []byte(statesConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startStates(t)
	s.create("compacted", &poddv1.PodSpec{}, nil)
	for turn := range int64(3) {
		s.turn("compacted", "say "+strings.Repeat("something long ", 400), turn+1)
	}
	if _, err := s.c.Pods().Compact(t.Context(), &poddv1.CompactRequest{Pod: "compacted"}); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGKILL)
	s.wait()
	s = startStates(t) // It purges at its start.
	s.is("compacted", func(p *poddv1.Pod) bool { return p.GetFirstSeq() > 1 })

	s.create("idle", &poddv1.PodSpec{}, nil)
	_, err := s.c.Submit(t.Context(), &poddv1.SubmitRequest{Pod: "idle", Segments: []*poddv1.Segment{
		{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "run seq 2000"}}},
		{Kind: &poddv1.Segment_Image{Image: &poddv1.ImageSegment{MediaType: "image/png", Data: picture(t), Name: "a.png"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.finished("idle", 1)
	if _, err := s.c.Pods().ForkPod(t.Context(), &poddv1.ForkPodRequest{Pod: "idle", Name: "fork"}); err != nil {
		t.Fatal(err)
	}
	s.turn("idle", "write made.txt", 2)
	s.create("trash", &poddv1.PodSpec{}, nil)
	s.turn("trash", "say goodbye", 1)
	if _, err := s.c.Pods().DeletePod(t.Context(), &poddv1.DeletePodRequest{Pod: "trash"}); err != nil {
		t.Fatal(err)
	}
	s.create("checkout", &poddv1.PodSpec{Dir: repository(t)}, &poddv1.Worktree{})
	s.turn("checkout", "write work.txt", 1)
	s.create("streaming", &poddv1.PodSpec{}, nil)
	submitTo(t, s.c, "streaming", "stall")
	s.create("job", &poddv1.PodSpec{}, nil)
	s.turn("job", "background until [ -e gate ]; do sleep 0.02; done", 1)
	s.create("approval", &poddv1.PodSpec{Ask: "always"}, nil)
	submitTo(t, s.c, "approval", "run echo x >>ran")
	untilOf(t, s.c, "approval", func(e *poddv1.Entry) bool { return e.GetApprovalRequested() != nil })
	for _, pod := range []string{"tool", "lost", "queued", "paused"} {
		s.create(pod, &poddv1.PodSpec{}, nil)
		submitTo(t, s.c, pod, holding)
		s.begun(pod)
	}
	submitTo(t, s.c, "queued", "say one")
	submitTo(t, s.c, "queued", "say two")
	if _, err := s.c.Pods().Pause(t.Context(), &poddv1.PauseRequest{Pod: "paused"}); err != nil {
		t.Fatal(err)
	}
	open(t, "paused")
	s.is("paused", paused)

	s.saveLogs()
	s.signal(syscall.SIGKILL)
	s.wait()
	// The result of this command is found, those of others are lost with their processes.
	open(t, "tool")
	s.noted(1)
	pack(t, file)
	for _, pod := range []string{"lost", "queued", "job"} {
		open(t, pod)
	}
	s.noted(4)
}

// noted waits until the ends of so many commands are noted for the next podd.
func (s *states) noted(count int) {
	s.t.Helper()
	s.await(fmt.Sprintf("the ends of %d commands", count), func() bool {
		records, err := spool.Records(filepath.Join(s.state, "spool"))
		if err != nil {
			s.t.Fatal(err)
		}
		n := 0
		for _, path := range records {
			if text, _ := os.ReadFile(path); bytes.HasPrefix(text, []byte("0.")) {
				n++
			}
		}
		return n >= count
	})
}

// is waits until a pod is so.
func (s *states) is(pod string, so func(*poddv1.Pod) bool) {
	s.t.Helper()
	s.await("the state of "+pod, func() bool {
		got, err := s.c.Pods().GetPod(s.t.Context(), &poddv1.GetPodRequest{Pod: pod})
		if err != nil {
			s.t.Fatal(err)
		}
		return so(got.GetPod())
	})
}

func paused(p *poddv1.Pod) bool { return p.GetState() == poddv1.PodState_POD_STATE_PAUSED }

// logOf is the log of a pod.
func (s *states) logOf(pod string) (log []*poddv1.Entry) {
	s.t.Helper()
	for r, err := range s.c.Stream(s.t.Context(), client.StreamOptions{Pod: pod, After: beforeFirst(s.t, s.c, pod)}) {
		if err != nil {
			s.t.Fatal(err)
		}
		if e := r.GetEntry(); e != nil {
			log = append(log, e)
		}
	}
	return log
}
