package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/internal/guard/devices"
	"podd/internal/web/webtest"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// webProcess is podd web in its own process.
type webProcess struct {
	*exec.Cmd
	log logBuffer
}

// startWeb starts podd web, without waiting for anything.
func startWeb(t *testing.T, state string, args ...string) *webProcess {
	t.Helper()
	w := &webProcess{Cmd: exec.Command(os.Args[0], append([]string{"--state-dir", state, "web"}, args...)...)}
	w.Env = []string{runAsPodd + "=1", "SECRET=s3cret", "GORACE=exitcode=99 atexit_sleep_ms=0"}
	w.Stderr = logWriter{&w.log}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sync.OnceFunc(func() {
		_ = w.Process.Kill()
		_ = w.Wait()
		if t.Failed() {
			t.Logf("podd web: %s", w.log.String())
		}
	}))
	return w
}

// logWriter makes a writer of a logBuffer.
type logWriter struct{ *logBuffer }

// Write adds to the log.
func (w logWriter) Write(p []byte) (int, error) {
	w.WriteString(string(p))
	return len(p), nil
}

// says waits until podd web has said a text, and returns what it has said.
func (w *webProcess) says(t *testing.T, text string) string {
	t.Helper()
	late := time.After(time.Minute)
	for {
		log, grows := w.log.read()
		if strings.Contains(log, text) {
			return log
		}
		select {
		case <-grows:
		case <-late:
			t.Fatalf("podd web does not say %q: %s", text, log)
		}
	}
}

// where is where the page is, once it is served, and the address if it has another name.
func (w *webProcess) where(t *testing.T) (origin, address string) {
	t.Helper()
	where, _, _ := strings.Cut(strings.TrimPrefix(w.says(t, "confined"), "podd web: "), ",")
	origin, address, _ = strings.Cut(where, " at ")
	return origin, address
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

const getPod = "/podd.v1.PodService/GetPod"

// The page serves a browser from its pairing to the end of a turn, over a podd that is killed
// and one that is started again. It ends with its parent, however that ends.
func TestWeb(t *testing.T) {
	state := stateDir(t)
	url := model(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("hello")) })
	podd := startPodd(t, state, url)
	w := startWeb(t, state, "--listen", "127.0.0.1:0")
	origin, _ := w.where(t)
	page := &webtest.Page{T: t, Origin: origin, Client: &http.Transport{}}
	t.Cleanup(page.Client.CloseIdleConnections)
	c := podd.client()
	eventually(t, "podd knows the page", func() bool {
		list, err := c.Web().ListDevices(t.Context(), &poddv1.ListDevicesRequest{})
		return err == nil && list.GetOrigin() == page.Origin && list.GetConfinement() == devices.ReadPage(state).Confinement && list.GetConfinement() != ""
	})
	if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: &poddv1.PodSpec{Dir: t.TempDir()}}); err != nil {
		t.Fatal(err)
	}
	b := webtest.New(page)
	b.Pair(t.Context(), c.Web(), &poddv1.StartPairingRequest{Scope: poddv1.DeviceScope_DEVICE_SCOPE_CONTROL})
	turn := func(bearer string) {
		t.Helper()
		watch := b.Stream("/podd.v1.FleetService/Watch", bearer, `{"pod":"p","deltas":true,"beats":true}`)
		if a := b.Call("/podd.v1.PodService/Submit", bearer, `{"pod":"p","segments":[{"text":{"text":"hi"}}]}`); a.Status != http.StatusOK {
			t.Fatalf("Submit: %d %s %v", a.Status, a.Body, a.Err)
		}
		for {
			m, last := watch.Next()
			if last {
				t.Fatalf("the stream ended: %s %v", m.Body, m.Err)
			}
			if strings.Contains(string(m.Body), `"turnEnded"`) {
				_ = watch.Body.Close()
				return
			}
		}
	}
	turn(b.Login())

	podd.signal(syscall.SIGKILL)
	podd.wait()
	if a := page.Document(); a.Status != http.StatusOK {
		t.Errorf("without podd, the page is %d %v", a.Status, a.Err)
	}
	if a := b.Call(getPod, "old", `{"pod":"p"}`); a.Status != http.StatusServiceUnavailable {
		t.Errorf("without podd, a call is answered with %d %s %v", a.Status, a.Body, a.Err)
	}
	startPodd(t, state, url)
	eventually(t, "podd is back", func() bool { return b.Challenge() != "" })
	turn(b.Login())

	// Who ends podd web ends the process that reads requests, even by kill -9.
	open := b.Stream("/podd.v1.FleetService/Watch", b.Login(), `{"beats":true}`)
	_ = w.Process.Kill()
	open.Ended()
	_ = w.Wait()
	again := startWeb(t, state, "--listen", "127.0.0.1:0")
	page.Origin, _ = again.where(t)
	turn(b.Login())
	_ = again.Process.Signal(syscall.SIGTERM)
	if err := again.Wait(); err != nil {
		t.Errorf("podd web ends with %v: %s", err, again.log.String())
	}
	if a := page.Document(); a.Err == nil {
		t.Errorf("somebody still serves the page: %d", a.Status)
	}
}
