package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// onSmallDisk marks a test process that runs in its own mount namespace.
const onSmallDisk = "PODD_TEST_ON_SMALL_DISK"

// podd's disk, 4 MiB of tmpfs, fills up in the middle of a turn. An alert says so, podd
// keeps answering, and nothing acknowledged is lost. When there is space again, the turn
// continues without help. podd has asked the model once for its answer and run the tool
// call once.
func TestFullDisk(t *testing.T) {
	if os.Getenv(onSmallDisk) == "" {
		inMountNamespace(t)
		return
	}
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })

	dir, gate := t.TempDir(), make(chan struct{})
	var first atomic.Int32
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			first.Add(1)
			return scripted.Say(scripted.Wait(gate), scripted.Call{Name: "write_file", Arguments: `{"path":"made","content":"x"}`})
		}
		return scripted.Say(scripted.Text("on we go"))
	})
	state := filepath.Join(disk, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	p := startPodd(t, state, url)
	c := p.client()
	acked := []string{createAndSubmit(t, c, dir).GetRequestId()}
	until(t, c, func(e *poddv1.Entry) bool { return e.GetTurnStarted() != nil })

	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	// podd still accepts submits that fit into free pages of the database, until none does.
	for refused := false; !refused; {
		got, err := c.Submit(t.Context(), &poddv1.SubmitRequest{Pod: "p", Segments: []*poddv1.Segment{
			{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: strings.Repeat("more ", 20_000)}}},
		}})
		if refused = err != nil; !refused {
			acked = append(acked, got.GetRequestId())
		}
	}
	close(gate)
	for state := poddv1.PodState_POD_STATE_UNSPECIFIED; state != poddv1.PodState_POD_STATE_WAITING; {
		got, err := c.Pods().GetPod(t.Context(), &poddv1.GetPodRequest{Pod: "p"})
		if err != nil {
			t.Fatalf("podd does not answer on a full disk: %v\n%s", err, p.log.String())
		}
		state = got.GetPod().GetState()
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	log := until(t, c, turnEnded(int64(len(acked))))
	checkFullDisk(t, c, log, acked)
	if n := first.Load(); n != 1 {
		t.Errorf("the model was asked %d times for the answer that waited for space", n)
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}
}

// checkFullDisk checks the outcome in the log and the alerts.
func checkFullDisk(t *testing.T, c *client.Client, log []*poddv1.Entry, acked []string) {
	t.Helper()
	taken := map[string]int{}
	results := 0
	for _, e := range log {
		if s := e.GetSubmitted(); s != nil {
			taken[s.GetRequestId()]++
		}
		if e.GetItem().GetToolResult() != nil {
			results++
		}
		if end := e.GetTurnEnded(); end != nil && end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
			t.Errorf("turn %d: %v", e.GetTurn(), end)
		}
	}
	for _, id := range acked {
		if taken[id] != 1 {
			t.Errorf("the submit %s, which was acknowledged, is %d times in the log", id, taken[id])
		}
	}
	if len(taken) != len(acked) || results != 1 {
		t.Errorf("%d submits, %d acknowledged, %d results", len(taken), len(acked), results)
	}
	// The alert about the stopped turn waits for space itself.
	for a, err := range c.StreamAlerts(t.Context(), client.AlertOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(a.GetText(), "blocked") && strings.Contains(a.GetText(), "no space left") {
			return
		}
	}
}

// fill writes until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(chunk)
	}
}

// inMountNamespace runs the test again in its own mount namespace, where no other process
// sees its mounts.
func inMountNamespace(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), onSmallDisk+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), ContainerID: 0, Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.Process == nil:
		t.Skipf("this system gives the test no mount namespace (%v), so that no small disk can be made", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}
