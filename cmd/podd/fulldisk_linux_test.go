package main

import (
	"context"
	"fmt"
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
	disk := smallDisk(t, "size=4m")
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

// On a full disk podd refuses webhooks with 503. A sender that tries again loses no delivery, and none has two receipts.
func TestFullDiskWhileWebhooksArrive(t *testing.T) {
	if os.Getenv(onSmallDisk) == "" {
		inMountNamespace(t)
		return
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("curl is not installed: make test installs it")
	}
	disk := smallDisk(t, "size=4m")
	gate := make(chan struct{})
	defer close(gate)
	url := model(t, func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Wait(gate), scripted.Text("done"))
	})
	state := filepath.Join(disk, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	p := startPodd(t, state, url, listening(t)...)
	setTriggers(t, p.client(), 1, 1)
	base, hooks := hooksOf(t, p.client())
	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	var ids []string
	for refused := false; !refused; {
		id := fmt.Sprint(len(ids))
		status, answer := deliver(t, base, hooks["pod-0/t-0"], id, strings.Repeat("more ", 12_000))
		if refused = status == "503 30"; !refused && status != "202" {
			t.Fatalf("delivery %s: %s, %v", id, status, answer)
		}
		ids = append(ids, id)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	last := ids[len(ids)-1]
	for status := ""; status != "202"; {
		var answer map[string]any
		if status, answer = deliver(t, base, hooks["pod-0/t-0"], last, "again"); status != "202" && status != "503 30" {
			t.Fatalf("the last delivery again: %s, %v", status, answer)
		}
	}
	receipts, err := p.client().Triggers().ListReceipts(t.Context(), &poddv1.ListReceiptsRequest{Pod: "pod-0", Name: "t-0"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range receipts.GetReceipts() {
		got = append(got, r.GetEventId())
	}
	if strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("the receipts are of %v, want %v", got, ids)
	}
}

// smallDisk mounts a disk of memory, in the mount namespace of the test.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, options+",mode=0700"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	return disk
}

// The disk of the workspace is full while changes are taken back: an alert says so, and podd goes on when there is space, also
// after a kill.
func TestFullDiskWhileChangesAreTakenBack(t *testing.T) {
	if os.Getenv(onSmallDisk) == "" {
		inMountNamespace(t)
		return
	}
	for _, kill := range []bool{false, true} {
		takeBackOnAFullDisk(t, kill)
	}
}

func takeBackOnAFullDisk(t *testing.T, kill bool) {
	t.Helper()
	dir := smallDisk(t, "nr_inodes=60") // A disk without inodes is full, and has room for bytes.
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("kept", "before")
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch r.Steps() {
		case 0:
			return scripted.Say(scripted.Call{Name: "read_file", Arguments: `{"path":"kept"}`})
		case 1:
			return scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path":"kept","content":"after"}`})
		}
		return scripted.Say(scripted.Text("done"))
	})
	state := stateDir(t)
	p := startPodd(t, state, url)
	createAndSubmit(t, p.client(), dir)
	until(t, p.client(), turnEnded(1))
	if text, err := os.ReadFile(filepath.Join(dir, "kept")); err != nil || string(text) != "after" {
		t.Fatalf("kept has %q, %v", text, err)
	}
	var ballast []string
	for n := 0; ; n++ {
		name := filepath.Join(dir, fmt.Sprint("ballast-", n))
		if err := os.Mkdir(name, 0o700); err != nil {
			break
		}
		ballast = append(ballast, name)
	}
	empty := func() {
		t.Helper()
		for _, name := range ballast {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		ballast = nil
	}
	restored := make(chan error, 1)
	go func() {
		_, err := p.client().Files().RestoreFiles(t.Context(), &poddv1.RestoreFilesRequest{Pod: "p"})
		restored <- err
	}()
	first := waitsForSpace(t, p.client(), 0)
	if kill {
		p.signal(syscall.SIGKILL)
		p.wait()
		p = startPodd(t, state, url)
		waitsForSpace(t, p.client(), first)
		empty()
		if err := <-restored; err == nil {
			t.Error("the restore of a killed podd has an answer")
		}
	} else {
		empty()
		if err := <-restored; err != nil {
			t.Error(err)
		}
	}
	until(t, p.client(), func(e *poddv1.Entry) bool { return e.GetRestore().GetEnded() })
	if text, err := os.ReadFile(filepath.Join(dir, "kept")); err != nil || string(text) != "before" {
		t.Errorf("kept has %q, %v", text, err)
	}
}

// waitsForSpace awaits the alert that a restore waits for space, after another one. The same alert counts up.
func waitsForSpace(t *testing.T, c *client.Client, after int64) int64 {
	t.Helper()
	for a, err := range c.StreamAlerts(t.Context(), client.AlertOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(a.GetText(), "waits for space on the disk") && a.GetSeq() > after {
			return a.GetSeq()
		}
	}
	return 0
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
