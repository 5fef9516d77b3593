package daemon_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/internal/config"
	"podd/internal/daemon"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// reloadable is a serving podd with a configuration file.
type reloadable struct {
	t      *testing.T
	path   string
	env    map[string]string
	hangup chan os.Signal
	client *client.Client
}

func serveWith(t *testing.T, text string, env map[string]string) *reloadable {
	t.Helper()
	r := &reloadable{t: t, path: filepath.Join(t.TempDir(), "config.toml"), env: env, hangup: make(chan os.Signal)}
	write(t, r.path, text)
	c := newConfig(t)
	c.ConfigFile, c.ConfigPath, c.Hangup = r.path, r.path, r.hangup
	c.Reread = func() (config.Config, error) {
		return config.Load(r.path, true, func(n string) string { return r.env[n] })
	}
	var err error
	if c.Settings, err = c.Reread(); err != nil {
		t.Fatal(err)
	}
	d, err := daemon.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- d.Serve(ctx, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	if r.client, err = client.New(client.Config{Socket: c.Socket, StateDir: c.StateDir}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.client.Close() })
	return r
}

func (r *reloadable) reload(text string) (*poddv1.ReloadResponse, error) {
	r.t.Helper()
	write(r.t, r.path, text)
	return r.client.Admin().Reload(r.t.Context(), &poddv1.ReloadRequest{})
}

func (r *reloadable) status() *poddv1.GetStatusResponse {
	r.t.Helper()
	status, err := r.client.Admin().GetStatus(r.t.Context(), &poddv1.GetStatusRequest{})
	if err != nil {
		r.t.Fatal(err)
	}
	return status
}

// A reload says which keys apply and which need a restart; the latter until the file has
// podd's initial value again.
func TestReload(t *testing.T) {
	r := serveWith(t, "model = 'a'\n", nil)
	got, err := r.reload("model = 'b'\nimages = false\n[store]\nmax_bytes = 100000000\n[limits]\nmax_steps = 3\n[tool_output]\nspool_bytes = 2000000\n")
	if err != nil || !slices.Equal(got.GetReloaded(), []string{"model", "images", "limits.max_steps"}) ||
		!slices.Equal(got.GetNeedRestart(), []string{"tool_output.spool_bytes", "store.max_bytes"}) {
		t.Errorf("reloaded %v, %v", got, err)
	}
	status := r.status()
	if status.GetModel() != "b" || len(status.GetNeedRestart()) != 2 || !status.GetConfigLoadedAt().AsTime().After(status.GetStartedAt().AsTime()) {
		t.Errorf("status %v", status)
	}
	if got, err = r.reload("model = 'b'\nimages = false\n[limits]\nmax_steps = 3\n"); err != nil || len(got.GetReloaded())+len(got.GetNeedRestart()) != 0 {
		t.Errorf("reloaded %v, %v", got, err)
	}
}

// An invalid file is refused with its sentence, in the answer, as an alert and in the
// status, and the old configuration stays in effect; this is so for each kind of error.
func TestReloadRefused(t *testing.T) {
	r := serveWith(t, "model = 'a'\n", nil)
	for text, want := range map[string]string{
		"model = ":  "config.toml:1",
		"model = 7": "config.toml:1",
		"mood = ''": "mood",
		"model = 'b'\n[[rule]]\ntool = 'shel'\ndecision = 'deny'":                  "shel",
		"model = 'b'\n[[hook]]\nname = 'x'\non = ['alert']\ncommand = ['./x']":     "config.toml:2: x",
		"model = 'b'\n[tool_output.tools.fly]\nmax_lines = 10\n":                   "fly",
		"model = 'b'\nbase_url = 'http://user:pw@127.0.0.1/v1'\napi = 'responses'": "config.toml:2",
	} {
		_, err := r.reload(text)
		if item.KindOf(err) != item.KindInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngives %v, want %s", text, err, want)
			continue
		}
		status := r.status()
		if status.GetModel() != "a" || !strings.Contains(status.GetConfigError(), want) {
			t.Errorf("status %v", status)
		}
	}
	alerts, err := r.client.Alerts().ListAlerts(t.Context(), &poddv1.ListAlertsRequest{})
	if err != nil || len(alerts.GetAlerts()) != 7 || alerts.GetAlerts()[0].GetSource() != "config" {
		t.Errorf("alerts %v, %v", alerts, err)
	}
	if _, err := r.reload("model = 'c'"); err != nil || r.status().GetConfigError() != "" || r.status().GetModel() != "c" {
		t.Errorf("%v, %v", err, r.status())
	}
}

// A hangup has the same effect as the call.
func TestHangup(t *testing.T) {
	r := serveWith(t, "model = 'a'\n", nil)
	write(t, r.path, "model = 'b'\n")
	r.hangup <- nil
	r.hangup <- nil // Received once the first has been handled.
	if got := r.status().GetModel(); got != "b" {
		t.Errorf("the model is %q", got)
	}
}

// The next turn uses another key and endpoint, and the new key is as secret as the old
// one. Another key file waits for a restart.
func TestReloadEndpoint(t *testing.T) {
	var first, second buffer
	serve := func(seen *buffer, key string) string {
		model, err := scripted.Serve(scripted.Config{Key: key, Handler: func(_ context.Context, r scripted.Request) scripted.Reply {
			_, _ = seen.Write(r.Body)
			if len(r.Results()) == 0 {
				return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"printf 'second-key-%s' 2222"}`})
			}
			return scripted.Say(scripted.Text("done"))
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = model.Close() })
		return "base_url = '" + model.URL() + "'\n"
	}
	key := filepath.Join(t.TempDir(), "key")
	write(t, key, "first-key-1111\n")
	file := "api_key_file = '" + key + "'\n"
	one, two := serve(&first, "first-key-1111"), serve(&second, "second-key-2222")
	r := serveWith(t, file+one, nil)
	if _, err := r.client.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: &poddv1.PodSpec{Dir: t.TempDir()}}); err != nil {
		t.Fatal(err)
	}
	r.turn("hello")
	write(t, key, "second-key-2222\n")
	if got, err := r.reload(file + two); err != nil || !slices.Equal(got.GetReloaded(), []string{"base_url", "api_key"}) {
		t.Errorf("reloaded %v, %v", got, err)
	}
	said := r.turn("hello again")
	if !strings.Contains(second.String(), "hello again") || strings.Contains(said, "key-2222") || !strings.Contains(said, "[key of default]") {
		t.Errorf("the turn said %s", said)
	}
	other := filepath.Join(t.TempDir(), "other")
	write(t, other, "third-key-3333\n")
	got, err := r.reload("api_key_file = '" + other + "'\n" + two)
	if err != nil || len(got.GetReloaded()) != 0 || !slices.Equal(got.GetNeedRestart(), []string{"api_key_file"}) {
		t.Errorf("reloaded %v, %v", got, err)
	}
	if said := r.turn("and again"); !strings.Contains(said, "OUTCOME_FINISHED") {
		t.Errorf("the old key is not used any more: %s", said)
	}
}

// turn submits text and returns the stream's text up to the turn's end.
func (r *reloadable) turn(text string) string {
	r.t.Helper()
	resp, err := r.client.Submit(r.t.Context(), &poddv1.SubmitRequest{
		Pod: "p", Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: text}}}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	var seen bytes.Buffer
	for m, err := range r.client.Stream(r.t.Context(), client.StreamOptions{Pod: "p", After: resp.GetSeq(), Follow: true}) {
		if err != nil {
			r.t.Fatal(err)
		}
		seen.WriteString(m.String())
		if m.GetEntry().GetTurnEnded() != nil {
			break
		}
	}
	return seen.String()
}
