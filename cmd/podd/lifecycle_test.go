package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// Of several podds that start at once on one state directory, one serves and the others
// exit with one sentence. The same happens on the state of a killed podd.
func TestStartsAtOnce(t *testing.T) {
	state := stateDir(t)
	for round := range 3 {
		all := make([]*process, 4)
		var started sync.WaitGroup
		for i := range all {
			started.Go(func() { all[i] = startPodd(t, state, "http://127.0.0.1:1/v1") })
		}
		started.Wait()
		var serving *process
		for _, p := range all {
			select {
			case <-p.exited:
				if code, log := p.wait(), p.log.String(); code != exitFailed || !strings.HasPrefix(log, "podd: another podd") || strings.Count(log, "\n") != 1 {
					t.Errorf("round %d: exit code %d: %s", round, code, log)
				}
			default:
				if serving != nil {
					t.Fatalf("round %d: two serve:\n%s\n%s", round, serving.log.String(), p.log.String())
				}
				serving = p
			}
		}
		if serving == nil {
			t.Fatalf("round %d: none serves", round)
		}
		if _, err := serving.client().Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{}); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		serving.signal(syscall.SIGKILL)
		serving.wait()
	}
}

// podd recreates its socket after someone removes it. If someone put another file there,
// podd reports that file and leaves it alone.
func TestSocketIsTaken(t *testing.T) {
	t.Parallel()
	state := stateDir(t)
	p := startPodd(t, state, "http://127.0.0.1:1/v1")
	socket := filepath.Join(state, "podd.sock")
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	p.await("the socket was removed; podd creates it again")
	if _, err := p.client().Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{}); err != nil {
		t.Errorf("podd is not reached at its new socket: %v", err)
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(socket, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.await("was replaced by another file")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}
	if text, err := os.ReadFile(socket); err != nil || string(text) != "mine" {
		t.Errorf("podd removed what is not its own: %q, %v", text, err)
	}
}

// await waits until the log contains a text.
func (p *process) await(part string) {
	p.t.Helper()
	for {
		text, grows := p.log.read()
		if strings.Contains(text, part) {
			return
		}
		select {
		case <-grows:
		case <-p.exited:
			if text = p.log.String(); !strings.Contains(text, part) {
				p.t.Fatalf("podd ended without %q: %s", part, text)
			}
		}
	}
}

// A podd that receives SIGTERM before it is ready shuts down cleanly with exit code 0,
// and the next one starts.
func TestStopBeforeReady(t *testing.T) {
	state := stateDir(t)
	for range 3 {
		code, _, errs := runPodd(t, map[string]string{"PODD_STATE_DIR": state, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
		if code != exitDone {
			t.Errorf("exit code %d: %s", code, errs)
		}
		if _, err := os.Stat(filepath.Join(state, "podd.sock")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
	}
	p := startPodd(t, state, "http://127.0.0.1:1/v1")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}
}

// A step that ends within the grace time is stored completely: podd does not cut its
// command, and the turn continues after it at the next start.
func TestDrainLetsTheStepEnd(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"touch started; while [ ! -e gate ]; do sleep 0.01; done; echo through"}`})
		}
		return scripted.Say(scripted.Text("on we go"))
	})
	p := startPodd(t, state, url)
	c := p.client()
	createAndSubmit(t, c, dir)
	until(t, c, func(e *poddv1.Entry) bool { return e.GetToolStarted() != nil })
	for _, err := os.Stat(filepath.Join(dir, "started")); err != nil; _, err = os.Stat(filepath.Join(dir, "started")) {
		if t.Context().Err() != nil {
			t.Fatal("the command did not start")
		}
	}
	p.signal(syscall.SIGTERM)
	p.await("podd is stopping")
	if err := os.WriteFile(filepath.Join(dir, "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}
	log := until(t, startPodd(t, state, url).client(), turnEnded(1))
	results := 0
	for _, e := range log {
		if r := e.GetItem().GetToolResult(); r != nil {
			if results++; r.GetIsError() || r.GetContent() != "through\n" {
				t.Errorf("result %v", r)
			}
		}
	}
	if end := log[len(log)-1].GetTurnEnded(); results != 1 || end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
		t.Errorf("%d results, end %v", results, end)
	}
}

// A turn cut before its first answer continues with its first step, and the log says so.
func TestKillBeforeTheFirstAnswer(t *testing.T) {
	state, asked := stateDir(t), make(chan struct{}, 1)
	var first sync.Once
	url := model(t, func(ctx context.Context, _ scripted.Request) scripted.Reply {
		first.Do(func() {
			asked <- struct{}{}
			<-ctx.Done()
		})
		return scripted.Say(scripted.Text("on we go"))
	})
	p := startPodd(t, state, url)
	createAndSubmit(t, p.client(), t.TempDir())
	<-asked
	p.signal(syscall.SIGKILL)
	p.wait()

	p = startPodd(t, state, url)
	wantFinished(t, until(t, p.client(), turnEnded(1)))
	p.signal(syscall.SIGTERM)
	p.wait()
	log := p.log.String()
	if !strings.Contains(log, `"msg":"turn goes on"`) || !strings.Contains(log, `"step":1`) || strings.Contains(log, `"step":0`) {
		t.Errorf("log: %s", log)
	}
}

// On SIGHUP podd reads the configuration again and keeps running, whatever the file says.
func TestSIGHUP(t *testing.T) {
	state := stateDir(t)
	file := filepath.Join(state, "podd.toml")
	put := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("model = 'a'\n")
	p := startPodd(t, state, "http://127.0.0.1:1/v1", "--config", file)
	put("model = 'b'\n")
	p.signal(syscall.SIGHUP)
	p.await("configuration reloaded")
	put("model = 7\n")
	p.signal(syscall.SIGHUP)
	p.await("podd.toml:1: model must be")
	status, err := p.client().Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
	if err != nil || status.GetModel() != "b" || !strings.Contains(status.GetConfigError(), "podd.toml:1") {
		t.Errorf("status %v, %v", status, err)
	}
}
