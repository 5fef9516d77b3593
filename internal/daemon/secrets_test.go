package daemon_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"podd/internal/config"
	"podd/internal/daemon"
	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// buffer is a log of several goroutines.
type buffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// podd's key, its key for a collector of traces, and a token of a well-known form are in
// a file, in what commands print in pieces and in megabytes, and in an error of the
// endpoint. None of them is in an entry, delta, alert, request, log line or file of
// podd's, and only podd's user can read those files, whatever the umask.
func TestSecretsStayOut(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	key := "tall-purple-giraffe-hat"
	token := "ghp_" + strings.Repeat("aB3d", 9)
	collector := "wide/orange=zebra"
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=podd,authorization=Bearer%20"+url.QueryEscape(collector))
	work := t.TempDir()
	write(t, filepath.Join(work, "env"), "KEY="+key+"\nTOKEN="+token+"\nOTEL="+collector+" "+url.QueryEscape(collector)+"\n")
	write(t, filepath.Join(work, "big"), strings.Repeat("line "+key+" "+token+"\n", 20_000))
	var requests buffer
	calls := []scripted.Call{
		{Name: "read_file", Arguments: `{"path":"env"}`},
		{Name: "search", Arguments: `{"pattern":"KEY"}`},
		{Name: "shell", Arguments: `{"command":"cat env; printf tall-purple-; sleep 0.3; printf gir; echo affe-hat; cat big; exit 3"}`},
		{Name: "shell", Arguments: `{"command":"cat env >&2; env"}`},
	}
	model, err := scripted.Serve(scripted.Config{Handler: func(_ context.Context, r scripted.Request) scripted.Reply {
		_, _ = requests.Write(r.Body)
		if r.Steps() < len(calls) {
			return scripted.Say(calls[r.Steps()])
		}
		return scripted.Fail(400, "bad", "the key "+key+" with "+token+" is no good", 0)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()

	c := newConfig(t)
	t.Setenv("OPENAI_API_KEY", key)
	c.Settings, err = config.Load("", false, func(name string) string {
		return map[string]string{"OPENAI_BASE_URL": model.URL(), "OPENAI_API_KEY": key}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	var log buffer
	c.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	d, err := daemon.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- d.Serve(ctx, nil) }()
	seen := turnOf(t, c, work)
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	places := map[string]string{"the stream": seen, "the requests": requests.String(), "the log": log.String()}
	err = filepath.WalkDir(c.StateDir, func(path string, e os.DirEntry, err error) error {
		// Files that a command made in its own /tmp are the command's, below a private
		// directory.
		own := !strings.Contains(strings.TrimPrefix(path, c.StateDir), "/tmp/")
		if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 && own {
			t.Errorf("%s is open to others: %v", path, info.Mode())
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		places[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, text := range places {
		for _, secret := range []string{key, token, "giraffe", "zebra"} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s has %s: %q", place, secret, text[max(0, i-100):i+40])
			}
		}
	}
	if n := strings.Count(seen, "[redacted]"); n < 6 || !strings.Contains(seen, "is no good") || len(places) < 6 {
		t.Errorf("%d redactions in %d places: %s", n, len(places), seen)
	}
}

// turnOf runs a turn and returns everything that its stream and the alerts showed.
func turnOf(t *testing.T, c daemon.Config, work string) string {
	t.Helper()
	cl, err := client.New(client.Config{Socket: c.Socket, StateDir: c.StateDir})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := cl.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: &poddv1.PodSpec{Dir: work}}); err != nil {
		t.Fatal(err)
	}
	_, err = cl.Submit(t.Context(), &poddv1.SubmitRequest{
		Pod: "p", ParseRefs: true, Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "look at @env"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for r, err := range cl.Stream(t.Context(), client.StreamOptions{Pod: "p", Follow: true, Deltas: true}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&seen, r)
		if r.GetEntry().GetTurnEnded() != nil {
			break
		}
	}
	alerts, err := cl.Alerts().ListAlerts(t.Context(), &poddv1.ListAlertsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&seen, alerts)
	return seen.String()
}
