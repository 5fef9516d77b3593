package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/store"
	poddv1 "podd/proto/podd/v1"
)

// After a failed sync podd does not know what it wrote last: it acknowledges nothing
// more, exits with 1 and says why. The next start checks the file first; then everything
// acknowledged exists, and at most the submit of unknown outcome besides.
func TestFailedSync(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace makes a sync fail, and is not installed")
	}
	url := model(t, say)
	hit := 0
	for _, when := range []int{3, 6, 9, 14} {
		t.Run(fmt.Sprint(when), func(t *testing.T) {
			// The syncs of a new database are not the subject.
			state := stateDir(t)
			first := startPodd(t, state, url)
			first.signal(syscall.SIGTERM)
			first.wait()
			acknowledged, failed := submitUntilFailure(t, state, url, when)
			if !failed {
				t.Skip("no sync was hit")
			}
			hit++
			p := startPodd(t, state, url)
			if !strings.Contains(p.log.String(), "checking the database") {
				t.Errorf("the file was not checked: %s", p.log.String())
			}
			found := submits(t, p.client())
			for _, id := range acknowledged {
				if !found[id] {
					t.Errorf("submit %s was acknowledged and is lost", id)
				}
			}
			if len(found) > len(acknowledged)+1 {
				t.Errorf("%d submits are there, %d were acknowledged", len(found), len(acknowledged))
			}
		})
	}
	if hit == 0 {
		t.Error("no sync failed")
	}
}

// submitUntilFailure runs podd with a failing sync and returns the acknowledged request
// ids.
func submitUntilFailure(t *testing.T, state, url string, when int) (acknowledged []string, failed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-qq", "-o", filepath.Join(t.TempDir(), "strace"),
		"-e", "trace=fdatasync", "-e", fmt.Sprintf("inject=fdatasync:error=EIO:when=%d+", when),
		os.Args[0], "--state-dir", state)
	cmd.Env = []string{runAsPodd + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + state, "OPENAI_BASE_URL=" + url, "GORACE=exitcode=99 atexit_sleep_ms=0"}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			log.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), `"msg":"podd ready"`) {
				close(ready)
			}
		}
	}()
	select {
	case <-ready:
		acknowledged = submitMany(t, state)
	case <-ended:
	}
	<-ended
	err = cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	served := strings.Contains(log.String(), "podd ready")
	if !ok || exit.ExitCode() != exitFailed || served && !strings.Contains(log.String(), "unknown") {
		t.Errorf("podd ended with %v: %s", err, log.String())
	}
	return acknowledged, served
}

// submitMany submits until podd is gone.
func submitMany(t *testing.T, state string) (acknowledged []string) {
	t.Helper()
	c, err := client.New(client.Config{Socket: filepath.Join(state, "podd.sock"), StateDir: state, RetryFor: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	spec := &poddv1.PodSpec{Dir: t.TempDir()}
	if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: spec}); err != nil {
		t.Log("no pod was made:", err)
		return nil
	}
	for n := range 5000 {
		id := fmt.Sprint("r", n)
		_, err := c.Pods().Submit(t.Context(), &poddv1.SubmitRequest{
			Pod: "p", RequestId: id, Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: id}}}},
		})
		if item.ReasonOf(err) == store.ReasonInboxFull {
			continue
		}
		if err != nil {
			t.Logf("after %d submits: %v", len(acknowledged), err)
			return acknowledged
		}
		acknowledged = append(acknowledged, id)
	}
	t.Error("podd goes on")
	return acknowledged
}

// submits are the request ids in the pod's log; empty without a pod.
func submits(t *testing.T, c *client.Client) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for r, err := range c.Stream(t.Context(), client.StreamOptions{Pod: "p"}) {
		if err != nil {
			break
		}
		if s := r.GetEntry().GetSubmitted(); s != nil {
			found[s.GetRequestId()] = true
		}
	}
	return found
}
