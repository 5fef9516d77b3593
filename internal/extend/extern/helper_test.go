package extern_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podd/internal/extend/extern"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// bench is a Runner over one pod, "p1" named demo, whose workspace is dir.
type bench struct {
	*extern.Runner
	dir string
	// away is how often the pod cannot be found because the store does not answer.
	away atomic.Int32

	mu     sync.Mutex
	log    bytes.Buffer
	alerts []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir()}
	var err error
	b.Runner, err = extern.New(t.Context(), extern.Config{
		Pod: func(_ context.Context, id string) (item.Pod, error) {
			if id != "p1" {
				return item.Pod{}, item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "there is no pod %q", id)
			}
			if b.away.Add(-1) >= 0 {
				return item.Pod{}, item.Errorf(item.KindUnavailable, "STORE_AWAY", "the database does not answer")
			}
			return item.Pod{ID: id, Name: "demo", Spec: item.PodSpec{Dir: b.dir}}, nil
		},
		Alert: func(text string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.alerts = append(b.alerts, text)
		},
		Environ: []string{"PATH=.:" + os.Getenv("PATH") + "::bin", "HOME=" + b.dir, "LC_ALL=C", "OPENAI_API_KEY=secret", "OTHER=x", "GIVEN=y"},
		Logger:  slog.New(slog.NewTextHandler(b, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Write receives the log.
func (b *bench) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(p)
}

func (b *bench) logged() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// script is a chain of one interceptor, "x", that runs a shell script at every edge.
func (b *bench) script(t *testing.T, script string, change ...func(*extern.Command, *extern.OnFailure)) interceptor.Chain {
	t.Helper()
	c, f := extern.Command{Name: "x", On: extern.Edges(), Argv: []string{"sh", "-c", script}}, extern.OnFailure("")
	for _, fn := range change {
		fn(&c, &f)
	}
	i, err := b.Interceptor(c, f)
	if err != nil {
		t.Fatal(err)
	}
	return interceptor.Chain{i}
}

func onFailure(want extern.OnFailure) func(*extern.Command, *extern.OnFailure) {
	return func(_ *extern.Command, f *extern.OnFailure) { *f = want }
}

func within(d time.Duration) func(*extern.Command, *extern.OnFailure) {
	return func(c *extern.Command, _ *extern.OnFailure) { c.Timeout = d }
}

// file is the content of a file in the workspace.
func (b *bench) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// says is a script that prints a text.
func says(text string) string { return "cat <<'END'\n" + text + "\nEND" }

// same is a check that accepts any arguments unchanged.
func same(arguments string) (string, error) { return arguments, nil }

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}
