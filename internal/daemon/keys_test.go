package daemon_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/config"
	"podd/internal/daemon"
	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// Two endpoints echo both their secrets in errors, and a command prints them. No stream,
// alert, log line or file of podd's has one of them, and each is named by its endpoint.
// Commands do not get a key from podd's environment.
func TestKeysOfEndpointsStayOut(t *testing.T) {
	secrets := []string{"key-of-the-first-1", "query-of-the-first", "header-of-the-first", "key-of-the-second-2"}
	all := strings.Join(secrets, " , ")
	t.Setenv("SECOND_KEY", secrets[3])
	serve := func() string {
		model, err := scripted.Serve(scripted.Config{Handler: func(_ context.Context, r scripted.Request) scripted.Reply {
			if r.Steps() == 0 {
				return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"cat env; env"}`})
			}
			return scripted.Fail(400, "bad", "I know "+all, 0)
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = model.Close() })
		return model.URL()
	}
	dir := t.TempDir()
	key, file := filepath.Join(dir, "key"), filepath.Join(dir, "config.toml")
	write(t, key, secrets[0])
	write(t, file, `
model = "first/m"
[endpoints.first]
base_url = "`+serve()+`?token=`+secrets[1]+`"
key_file = "`+key+`"
headers = { X-Team = "${TEAM}" }
[endpoints.second]
base_url = "`+serve()+`"
key_env = "SECOND_KEY"
[sandbox]
mode = "off"
env = ["SECOND_KEY", "PATH"]
`)
	c := newConfig(t)
	var err error
	c.Settings, err = config.Load(file, true, func(name string) string {
		return map[string]string{"TEAM": secrets[2], "SECOND_KEY": secrets[3]}[name]
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
	work := t.TempDir()
	write(t, filepath.Join(work, "env"), all)
	seen := turnOf(t, c, work) + secondTurn(t, c)
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	places := map[string]string{"the stream": seen, "the log": log.String()}
	err = filepath.WalkDir(c.StateDir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		places[path] = string(bytes.ToValidUTF8(data, nil))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, text := range places {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", place, secret)
			}
		}
	}
	for _, want := range []string{"[key of first]", "[key of second]", "I know [key of first]"} {
		if !strings.Contains(seen, want) {
			t.Errorf("no %s in %s", want, seen)
		}
	}
	if strings.Contains(seen, "SECOND_KEY=") {
		t.Error("a command got a key from podd's environment")
	}
}

// secondTurn moves the pod to the other endpoint, whose answer is an error.
func secondTurn(t *testing.T, c daemon.Config) string {
	t.Helper()
	cl, err := client.New(client.Config{Socket: c.Socket, StateDir: c.StateDir})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	r, err := cl.Submit(t.Context(), &poddv1.SubmitRequest{
		Pod: "p", Model: "second/m", Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "again"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for r, err := range cl.Stream(t.Context(), client.StreamOptions{Pod: "p", After: r.GetSeq(), Follow: true, Deltas: true}) {
		if err != nil {
			t.Fatal(err)
		}
		seen.WriteString(r.String())
		if r.GetEntry().GetTurnEnded() != nil {
			break
		}
	}
	return seen.String()
}
