package keys_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/internal/guard/keys"
	"podd/pkg/llm"
)

// door accepts one key and records the keys that it receives.
type door struct {
	mu    sync.Mutex
	opens string
	came  []string
	*httptest.Server
}

func newDoor(t *testing.T, opens string) *door {
	t.Helper()
	d := &door{opens: opens}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("Api-Key")
		d.mu.Lock()
		defer d.mu.Unlock()
		d.came = append(d.came, key+" "+r.Header.Get("X-Team")+" "+string(body))
		if !strings.HasSuffix(key, d.opens) {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(d.Close)
	return d
}

// send sends a request and returns its status.
func (d *door) send(t *testing.T, r *keys.Ring) (int, error) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: r.Over(transport)}).Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestHeaders(t *testing.T) {
	for header, want := range map[string]string{"": "Bearer one", keys.Bearer: "Bearer one", keys.XAPIKey: "one", keys.APIKey: "one"} {
		d := newDoor(t, "one")
		r := keys.New(keys.Config{Source: keys.Source{Value: "one"}, Header: header, Headers: map[string]string{"X-Team": "blue"}})
		if status, err := d.send(t, r); status != http.StatusOK || err != nil || !slices.Equal(d.came, []string{want + " blue hello"}) {
			t.Errorf("%q: %d, %v, %q", header, status, err, d.came)
		}
	}
	d := newDoor(t, "")
	if status, err := d.send(t, keys.New(keys.Config{})); status != http.StatusOK || err != nil || d.came[0] != "  hello" {
		t.Errorf("without a key: %d, %v, %q", status, err, d.came)
	}
}

// A refused key of a file is read again, and another one is tried once, with the whole
// body. The key of a variable cannot have changed.
func TestRefusedKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	write(t, file, "new\n", 0o600)
	var learned []string
	r := keys.New(keys.Config{Source: keys.Source{Value: "old", File: file}, Learn: func(key string) { learned = append(learned, key) }})
	d := newDoor(t, "new")
	for range 2 {
		if status, err := d.send(t, r); status != http.StatusOK || err != nil {
			t.Errorf("%d, %v", status, err)
		}
	}
	if want := []string{"Bearer old  hello", "Bearer new  hello", "Bearer new  hello"}; !slices.Equal(d.came, want) || !slices.Equal(learned, []string{"new"}) {
		t.Errorf("came %q, learned %q", d.came, learned)
	}
	d = newDoor(t, "other")
	if status, err := d.send(t, r); status != http.StatusUnauthorized || err != nil || len(d.came) != 1 {
		t.Errorf("the same key again: %d, %v, %q", status, err, d.came)
	}
	write(t, file, "two keys", 0o600)
	if status, err := d.send(t, r); status != http.StatusUnauthorized || err != nil || len(d.came) != 2 {
		t.Errorf("no key: %d, %v, %q", status, err, d.came)
	}
	d = newDoor(t, "other")
	if status, err := d.send(t, keys.New(keys.Config{Source: keys.Source{Value: "old"}})); status != http.StatusUnauthorized || err != nil || len(d.came) != 1 {
		t.Errorf("a variable: %d, %v, %q", status, err, d.came)
	}
}

// A command runs when its key is needed, when that has expired, and when it is refused.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	file, runs := filepath.Join(dir, "key"), filepath.Join(dir, "runs")
	write(t, file, "one", 0o600)
	source := keys.Source{
		Setting: "endpoints.work.key_command", Command: []string{"/bin/sh", "-c", "echo x >> " + runs + "; cat " + file + "; echo"}, Environ: os.Environ(), TTL: time.Hour,
	}
	r := keys.New(keys.Config{Source: source})
	ran := func() int {
		text, err := os.ReadFile(runs)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return len(text) / 2
	}
	if ran() != 0 {
		t.Error("the command ran before a request")
	}
	d := newDoor(t, "one")
	for range 2 {
		if status, err := d.send(t, r); status != http.StatusOK || err != nil {
			t.Errorf("%d, %v", status, err)
		}
	}
	if ran() != 1 {
		t.Errorf("the command ran %d times within its time", ran())
	}
	write(t, file, "two", 0o600)
	d = newDoor(t, "two")
	if status, err := d.send(t, r); status != http.StatusOK || err != nil || len(d.came) != 2 || ran() != 2 {
		t.Errorf("after a refusal: %d, %v, %q, %d runs", status, err, d.came, ran())
	}
	r.Expire()
	for range 2 {
		if status, err := d.send(t, r); status != http.StatusOK || err != nil || ran() != 3 {
			t.Errorf("after it expired: %d, %v, %d runs", status, err, ran())
		}
	}
	source.TTL = time.Nanosecond
	r = keys.New(keys.Config{Source: source})
	for range 2 {
		if status, err := d.send(t, r); status != http.StatusOK || err != nil {
			t.Errorf("%d, %v", status, err)
		}
	}
	if ran() != 5 {
		t.Errorf("%d runs with keys that expire at once", ran())
	}
	// A command that fails later leaves the key that there was.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if status, err := d.send(t, r); status != http.StatusOK || err != nil {
		t.Errorf("with the key before: %d, %v", status, err)
	}
}

func TestNoKey(t *testing.T) {
	d := newDoor(t, "one")
	for says, source := range map[string]keys.Source{
		"no key is set: set WORK_KEY (endpoints.work.key_env) and start podd again": {Setting: "WORK_KEY (endpoints.work.key_env)"},
		"the command of S does not start":                                           {Setting: "S", Command: []string{"/no/such/program"}},
		"the command of S failed (exit status 3): wrong password":                   {Setting: "S", Command: []string{"sh", "-c", "echo wrong password >&2; echo more >&2; exit 3"}, Environ: os.Environ()},
		"the command of S printed no key":                                           {Setting: "S", Command: []string{"true"}, Environ: os.Environ()},
		"printed no key: it must print one line":                                    {Setting: "S", Command: []string{"printf", "two words"}, Environ: os.Environ()},
		"one line of printable ASCII":                                               {Setting: "S", Command: []string{"head", "-c", "20000", "/dev/zero"}, Environ: os.Environ()},
	} {
		_, err := d.send(t, keys.New(keys.Config{Source: source}))
		if llm.ClassOf(err) != llm.ClassNoKey || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if len(d.came) > 0 {
		t.Errorf("requests left without a key: %q", d.came)
	}
}

// A command that does not end in time gives no key, and no request leaves.
func TestCommandThatHangs(t *testing.T) {
	d := newDoor(t, "one")
	source := keys.Source{Setting: "S", Command: []string{"sleep", "600"}, Environ: os.Environ(), Limit: 50 * time.Millisecond}
	_, err := d.send(t, keys.New(keys.Config{Source: source}))
	if llm.ClassOf(err) != llm.ClassNoKey || !strings.Contains(err.Error(), "the command of S did not end within 50ms") || len(d.came) > 0 {
		t.Errorf("%v, %q", err, d.came)
	}
}

// A request that is cancelled does not wait for a command.
func TestCancelledWhileTheCommandRuns(t *testing.T) {
	r := keys.New(keys.Config{Source: keys.Source{Setting: "S", Command: []string{"sleep", "60"}, Environ: os.Environ()}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := r.Over(http.DefaultTransport).RoundTrip(req); !errors.Is(err, context.Canceled) {
		if err == nil {
			_ = resp.Body.Close()
		}
		t.Errorf("%v", err)
	}
}
