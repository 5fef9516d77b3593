package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// hang mounts a file system that never answers on a directory. When the test ends, it
// answers with an error.
func hang(t *testing.T, dir string) int {
	t.Helper()
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("there is no FUSE: %v", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", fd, os.Getuid(), os.Getgid())
	if err := syscall.Mount("hangs", dir, "fuse", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		_ = syscall.Close(fd)
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() {
		_ = syscall.Close(fd)
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return fd
}

// hangsNow waits until a process hangs in the file system behind fd. First the kernel
// asks for the file system's version.
func hangsNow(t *testing.T, fd int) {
	t.Helper()
	request := make([]byte, 1<<17)
	if _, err := syscall.Read(fd, request); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, 16+64)
	binary.NativeEndian.PutUint32(reply, uint32(len(reply)))
	copy(reply[8:16], request[8:16]) // which request
	binary.NativeEndian.PutUint32(reply[16:], 7)
	binary.NativeEndian.PutUint32(reply[20:], 31)
	if _, err := syscall.Write(fd, reply); err != nil {
		t.Fatal(err)
	}
	// After its request was read, the waiting process can't be killed any more.
	for {
		var asked syscall.FdSet
		asked.Bits[fd/64] |= 1 << (fd % 64)
		if _, err := syscall.Select(fd+1, &asked, nil, nil, nil); err == nil {
			return
		} else if !errors.Is(err, syscall.EINTR) {
			t.Fatal(err)
		}
	}
}

// A workspace on a hanging file system blocks neither other pods nor podd's start or end,
// and its turn can be cancelled.
func TestHungWorkspace(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), stateDir(t)
	url := model(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.LastUser() == "go" {
			<-ctx.Done()
		}
		return scripted.Say(scripted.Text("hello"))
	})
	p := startPodd(t, state, url)
	c := p.client()
	createAndSubmit(t, c, dir)
	until(t, c, func(e *poddv1.Entry) bool { return e.GetTurnStarted() != nil })
	other := &poddv1.CreatePodRequest{Name: "other", Spec: &poddv1.PodSpec{Dir: t.TempDir()}}
	if _, err := c.Pods().CreatePod(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGKILL)
	p.wait()
	hang(t, dir)

	p = startPodd(t, state, url)
	c = p.client()
	if _, err := c.Approvals().ListApprovals(t.Context(), &poddv1.ListApprovalsRequest{}); err != nil {
		t.Fatalf("approvals: %v\n%s", err, p.log.String())
	}
	segments := []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "hi"}}}}
	// These calls give up.
	looks := map[string]func() error{
		"trust": func() error {
			_, err := c.Admin().TrustDir(t.Context(), &poddv1.TrustDirRequest{Dir: dir})
			return err
		},
		"create": func() error {
			_, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "new", Spec: &poddv1.PodSpec{Dir: dir}})
			return err
		},
		"list": func() error {
			_, err := c.Pods().ListPods(t.Context(), &poddv1.ListPodsRequest{Dir: dir})
			return err
		},
		"servers": func() error {
			_, err := c.MCP().ListMcpServers(t.Context(), &poddv1.ListMcpServersRequest{Pod: "p"})
			return err
		},
	}
	var silent sync.WaitGroup
	for name, look := range looks {
		silent.Go(func() {
			if err := look(); item.ReasonOf(err) != "WORKSPACE_SILENT" {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if got, err := c.Pods().GetPod(t.Context(), &poddv1.GetPodRequest{Pod: "p", Branch: true}); err != nil || got.GetPod().GetName() != "p" {
		t.Errorf("the pod is not shown: %v, %v", got, err)
	}
	refused := make(chan error, 1)
	go func() {
		_, err := c.Submit(t.Context(), &poddv1.SubmitRequest{Pod: "p", Segments: segments})
		refused <- err
	}()
	if _, err := c.Submit(t.Context(), &poddv1.SubmitRequest{Pod: "other", Segments: segments}); err != nil {
		t.Fatal(err)
	}
	for r, err := range c.Stream(t.Context(), client.StreamOptions{Pod: "other", Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.GetEntry().GetTurnEnded() != nil {
			break
		}
	}
	for reason := ""; !strings.Contains(reason, "does not answer"); {
		list, err := c.Pods().ListPods(t.Context(), &poddv1.ListPodsRequest{})
		if err != nil || len(list.GetPods()) != 2 {
			t.Fatal(list, err)
		}
		reason = list.GetPods()[1].GetStateReason()
	}
	if got, err := c.Pods().Cancel(t.Context(), &poddv1.CancelRequest{Pod: "p"}); err != nil || !got.GetCancelled() {
		t.Errorf("cancel: %v, %v", got, err)
	}
	until(t, c, turnEnded(1))
	if err := <-refused; item.ReasonOf(err) != "WORKSPACE_SILENT" {
		t.Errorf("a submit gives %v", err)
	}
	silent.Wait()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}
}

// A tool that hangs in the kernel does not keep podd from ending: soon after the second
// signal it ends cleanly, at the third at once.
func TestEndWhileAToolHangs(t *testing.T) {
	url := model(t, func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Call{Name: "read_file", Arguments: `{"path":"sub/file"}`})
	})
	twice := func(t *testing.T) *process {
		dir := t.TempDir()
		sub := filepath.Join(dir, "sub")
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		fd := hang(t, sub)
		p := startPodd(t, stateDir(t), url)
		createAndSubmit(t, p.client(), dir)
		hangsNow(t, fd)
		p.signal(syscall.SIGTERM)
		p.await("podd is stopping")
		p.signal(syscall.SIGTERM)
		return p
	}
	t.Run("two signals", func(t *testing.T) {
		p := twice(t)
		if code := p.wait(); code != exitDone || !strings.Contains(p.log.String(), "although a system call hangs") {
			t.Errorf("exit code %d: %s", code, p.log.String())
		}
	})
	t.Run("three signals", func(t *testing.T) {
		p := twice(t)
		// podd may take a third signal for the second if it has not seen that yet, so send
		// several. A flood of them would leave podd no time to see any.
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for ended := false; !ended; {
			select {
			case <-p.exited:
				ended = true
			case <-again.C:
				p.signal(syscall.SIGTERM)
			}
		}
		if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
			t.Errorf("%v: %s", p.cmd.ProcessState, p.log.String())
		}
	})
}

// A turn is cancelled at once although a file system hangs while podd looks where the path of a call leads, or what
// the files are before it.
func TestCancelWhileALookHangs(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"path": "sub/new", "checkpoint": "new"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sub := filepath.Join(dir, "sub")
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			url := model(t, func(context.Context, scripted.Request) scripted.Reply {
				return scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path":"` + path + `","content":"x"}`})
			})
			fd := hang(t, sub)
			p := startPodd(t, stateDir(t), url)
			c := p.client()
			createAndSubmit(t, c, dir)
			hangsNow(t, fd)
			if got, err := c.Pods().Cancel(t.Context(), &poddv1.CancelRequest{Pod: "p"}); err != nil || !got.GetCancelled() {
				t.Errorf("cancel: %v, %v", got, err)
			}
			until(t, c, turnEnded(1))
			p.signal(syscall.SIGTERM)
			p.signal(syscall.SIGTERM)
			if code := p.wait(); code != exitDone {
				t.Errorf("exit code %d: %s", code, p.log.String())
			}
		})
	}
}

// Calls about the files of pods whose file system hangs end with a sentence, or with their callers. Other pods work, and
// podd ends.
func TestFilesOfAHungWorkspace(t *testing.T) {
	t.Parallel()
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if len(r.Results()) == 0 {
			return scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path":"new","content":"x"}`})
		}
		return scripted.Say(scripted.Text("hello"))
	})
	p := startPodd(t, stateDir(t), url)
	c := p.client()
	source := t.TempDir()
	if out, err := exec.Command("sh", "-c", "cd "+source+" && git init -q -b main . && git -c user.name=n -c user.email=e commit -q --allow-empty -m first").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dirs := map[string]string{"plain": t.TempDir(), "other": t.TempDir(), "land": source, "apply": source}
	for name, dir := range dirs {
		r := &poddv1.CreatePodRequest{Name: name, Spec: &poddv1.PodSpec{Dir: dir}}
		if dir == source {
			r.Worktree = &poddv1.Worktree{}
		}
		if _, err := c.Pods().CreatePod(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		submitTo(t, c, name, "go")
		untilOf(t, c, name, turnEnded(1))
	}
	hang(t, dirs["plain"])
	hang(t, source)
	var silent sync.WaitGroup
	for name, call := range map[string]func(context.Context) error{
		"diff": func(ctx context.Context) error {
			stream, err := c.Files().DiffFiles(ctx, &poddv1.DiffFilesRequest{Pod: "plain", LeftOut: true})
			for err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"restore": func(ctx context.Context) error {
			_, err := c.Files().RestoreFiles(ctx, &poddv1.RestoreFilesRequest{Pod: "plain"})
			return err
		},
		"apply": func(ctx context.Context) error {
			_, err := c.Checkouts().ApplyCheckout(ctx, &poddv1.ApplyCheckoutRequest{Pod: "apply"})
			return err
		},
		"land": func(ctx context.Context) error {
			_, err := c.Checkouts().LandCheckout(ctx, &poddv1.LandCheckoutRequest{Pod: "land"})
			return err
		},
		"create": func(ctx context.Context) error {
			_, err := c.Pods().CreatePod(ctx, &poddv1.CreatePodRequest{Name: "new", Spec: &poddv1.PodSpec{Dir: source}, Worktree: &poddv1.Worktree{}})
			return err
		},
	} {
		silent.Go(func() {
			if err := call(t.Context()); item.ReasonOf(err) != "WORKSPACE_SILENT" {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	submitTo(t, c, "other", "go")
	untilOf(t, c, "other", turnEnded(2))
	silent.Wait()
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}
}
