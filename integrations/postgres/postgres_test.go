//go:build integrations

package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/internal/testing/pgtest"
	"podd/pkg/llm/scripted"
)

// start starts a PostgreSQL of the test's own.
func start(t testing.TB) *pgtest.Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := pgtest.Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(true) })
	return s
}

func configure(w *rig.World, url string) {
	w.Configure(fmt.Sprintf("ask = \"never\"\n[store]\nurl = %q\n", url))
}

// entries are the entries of a pod's log, as JSON.
func entries(t *testing.T, w *rig.World, pod string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(w.Podctl("tail", pod, "--after", "0", "-o", "json")) {
		var e struct{ Entry map[string]any }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if e.Entry != nil {
			all = append(all, e.Entry)
		}
	}
	return all
}

// steps answers each prompt with so many commands, each of which adds a line to the file
// named by the prompt, and then "done".
func steps(n int, gate <-chan struct{}) scripted.Handler {
	return func(ctx context.Context, r scripted.Request) scripted.Reply {
		at := r.Steps()
		if at == n/2 && gate != nil {
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		if at >= n {
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(scripted.Call{ID: fmt.Sprintf("c%d", at), Name: "shell", Arguments: fmt.Sprintf(`{"command":"echo %d >> lines"}`, at)})
	}
}

// wantLines checks that each command ran once, in order.
func wantLines(t *testing.T, w *rig.World, n int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.Workspace, "lines"))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range n {
		fmt.Fprintln(&want, i)
	}
	if string(b) != want.String() {
		t.Errorf("the commands wrote %q, want %q", b, want.String())
	}
}

// A pod in PostgreSQL works, outlives a kill of podd in the middle of a turn, and a crash of
// PostgreSQL in the middle of another. Nothing is lost and no command runs twice.
func TestPodd(t *testing.T) {
	server := start(t)
	gate := make(chan struct{})
	w := rig.Prepare(t, steps(6, gate))
	configure(w, server.URL())
	w.Start()
	if status := w.Podctl("status"); !strings.Contains(status, "postgres://") {
		t.Errorf("podctl status does not name the database:\n%s", status)
	}
	w.Podctl("create", "one", "--dir", w.Workspace)
	w.Podctl("submit", "-p", "one", "go")
	rig.Await(t, "the third request", func() bool { return w.Requests() >= 4 })
	w.Kill()
	w.Start()
	close(gate)
	rig.Await(t, "the end of the turn", func() bool { return strings.Contains(w.Podctl("tail", "one", "--after", "0"), "done") })
	wantLines(t, w, 6)
	for i, e := range entries(t, w, "one") {
		if fmt.Sprint(e["seq"]) != fmt.Sprint(i+1) {
			t.Fatalf("entry %d is %v", i+1, e)
		}
	}
	if out, err := w.Command("podd", "check").CombinedOutput(); err != nil || !strings.Contains(string(out), "sound") {
		t.Errorf("podd check says %q", out)
	}
	w.Stop()
	if out, err := w.Command("podd", "check").CombinedOutput(); err != nil || !strings.Contains(string(out), "sound") {
		t.Errorf("podd check of a podd that does not run says %q", out)
	}
}

// While PostgreSQL is down, podd stays up and says why it waits, and so does podctl; afterwards
// everything goes on by itself.
func TestDatabaseIsAway(t *testing.T) {
	server := start(t)
	gate := make(chan struct{})
	w := rig.Prepare(t, steps(6, gate))
	configure(w, server.URL())
	w.Start()
	w.Podctl("create", "one", "--dir", w.Workspace)
	w.Podctl("submit", "-p", "one", "go")
	rig.Await(t, "the third request", func() bool { return w.Requests() >= 4 })
	server.Stop(true)
	close(gate)
	rig.Await(t, "a word about it in the log", func() bool {
		return strings.Contains(w.Log(), "got no answer") || strings.Contains(w.Log(), "pod is blocked")
	})
	if out, err := w.Command("podctl", "list").CombinedOutput(); err == nil || !strings.Contains(string(out), "does not answer") {
		t.Errorf("podctl list without a database: %v, %q", err, out)
	}
	if err := server.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the end of the turn", func() bool {
		out, err := w.Command("podctl", "tail", "one", "--after", "0").Output()
		return err == nil && strings.Contains(string(out), "done")
	})
	wantLines(t, w, 6)
}

// A second podd is refused while the first uses the database, and gets it afterwards.
func TestOnePoddADatabase(t *testing.T) {
	server := start(t)
	first, second := rig.Prepare(t, steps(1, nil)), rig.Prepare(t, steps(1, nil))
	configure(first, server.URL())
	configure(second, server.URL())
	first.Start()
	first.Podctl("create", "one", "--dir", first.Workspace)
	out, err := second.Command("podd").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another podd uses the database") {
		t.Fatalf("the second podd: %v\n%s", err, out)
	}
	first.Kill()
	second.Start()
	if list := second.Podctl("list"); !strings.Contains(list, "one") {
		t.Errorf("podctl list says %q", list)
	}
}
