package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"podd/internal/testing/pgtest"
)

// postgres starts a PostgreSQL of the test's own; without one the test is skipped.
func postgres(t *testing.T) *pgtest.Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := pgtest.Start(context.WithoutCancel(t.Context()), dir)
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(true) })
	return s
}

// useStore configures the store of a podd: a URL, or "" for the file.
func useStore(t *testing.T, state, url string) {
	t.Helper()
	dir := filepath.Join(state, ".config", "podd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := ""
	if url != "" {
		text = "[store]\nurl = \"" + url + "\"\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantRefusal(t *testing.T, want string, state string, args ...string) {
	t.Helper()
	code, out, errs := keep(t, state, args...)
	if code == exitDone || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
		t.Errorf("podd %s: %d %q %q, want %q", strings.Join(args, " "), code, out, errs, want)
	}
	if words := len(strings.Fields(errs)); words > 32 {
		t.Errorf("%d words: %s", words, errs)
	}
}

// A store moves to PostgreSQL. Its pods go on where they were, and no podd opens the file that was left.
func TestMigrate(t *testing.T) {
	db := postgres(t).URL()
	state := stateDir(t)
	url := model(t, say)
	p := startPodd(t, state, url)
	c := p.client()
	createAndSubmit(t, c, t.TempDir())
	log := until(t, c, turnEnded(1))
	wantRefusal(t, "another podd", state, "migrate", "--to", db)
	p.signal(syscall.SIGTERM)
	p.wait()
	wantRefusal(t, "from a file to PostgreSQL", state, "migrate", "--from", db, "--to", db)
	wantRefusal(t, "--to must be", state, "migrate", "--to", filepath.Join(state, "other.db"))
	wantRefusal(t, "without a password", state, "migrate", "--to", "postgres://podd:secret@localhost/podd")
	wantRefusal(t, "cannot open the database", state, "migrate", "--to", "postgres://podd@127.0.0.1:1/podd")
	wantRefusal(t, "no database at", state, "migrate", "--from", filepath.Join(state, "none.db"), "--to", db)
	code, out, errs := keep(t, state, "migrate", "--to", db)
	if code != exitDone || !strings.Contains(out, "copied 1 pods") || !strings.Contains(out, "set store.url") || errs != "" {
		t.Fatalf("to the database: %d %q %q", code, out, errs)
	}
	wantRefusal(t, "were migrated to postgres://", state, "migrate", "--to", strings.Replace(db, "/postgres?", "/template1?", 1))
	// Once more, as someone does who did not see that it was done.
	code, out, errs = keep(t, state, "migrate", "--to", db)
	if code != exitDone || !strings.Contains(out, "nothing was done now") || !strings.Contains(out, "set store.url") || errs != "" {
		t.Errorf("once more: %d %q %q", code, out, errs)
	}
	if p := startPodd(t, state, url); p.wait() == exitDone || !strings.Contains(p.log.String(), "were migrated to postgres://") {
		t.Errorf("podd opens the file that it left: %s", p.log.String())
	}
	useStore(t, state, db)
	p = startPodd(t, state, url)
	same(t, until(t, p.client(), turnEnded(1)), log)
	submit(t, p.client(), "more")
	until(t, p.client(), turnEnded(2))
	p.signal(syscall.SIGTERM)
	p.wait()
	wantRefusal(t, "store.url names a database", state, "migrate", "--to", db)
}

// A damaged file is not migrated.
func TestMigrateDamaged(t *testing.T) {
	t.Parallel()
	db := postgres(t).URL()
	state := stateDir(t)
	p := startPodd(t, state, model(t, say))
	createAndSubmit(t, p.client(), t.TempDir())
	until(t, p.client(), turnEnded(1))
	p.signal(syscall.SIGTERM)
	p.wait()
	path := filepath.Join(state, "podd.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte("done"), []byte("gone")), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, "run podd check", state, "migrate", "--to", db)
	useStore(t, state, db)
	if p := startPodd(t, state, "http://127.0.0.1:1/v1"); !strings.Contains(p.log.String(), "podd ready") {
		t.Errorf("podd does not start with the database: %s", p.log.String())
	}
}

// stall lets n pieces of data pass a proxy and then none, until end is called, which breaks the
// connections.
func stall(p *pgtest.Proxy, n int64) (stalled <-chan struct{}, end func()) {
	reached, ended := make(chan struct{}), make(chan struct{})
	var passed atomic.Int64
	p.Cut(func(bool) bool {
		switch at := passed.Add(1); {
		case at < n:
			return false
		case at == n:
			close(reached)
		}
		<-ended
		return true
	})
	return reached, func() {
		close(ended)
		p.Cut(nil)
	}
}

// Wherever a migration is killed, podd refuses a target that is not complete, and another
// migration completes it.
func TestMigrateKilled(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	state := stateDir(t)
	url := model(t, say)
	p := startPodd(t, state, url)
	createAndSubmit(t, p.client(), t.TempDir())
	log := until(t, p.client(), turnEnded(1))
	p.signal(syscall.SIGTERM)
	p.wait()
	// podd treats a database that it has opened but not used as empty.
	useStore(t, state, server.URL())
	p = startPodd(t, state, url)
	p.signal(syscall.SIGTERM)
	p.wait()

	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	proxy, err := server.NewProxy(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	refused, part := 0, int64(2)
	if testing.Short() {
		part = 1
	}
	for n := int64(4); ; n += n / part {
		useStore(t, state, "")
		stalled, end := stall(proxy, n)
		cmd := exec.Command(os.Args[0], "--state-dir", state, "migrate", "--to", proxy.URL())
		cmd.Env = []string{runAsPodd + "=1", "HOME=" + state, "GORACE=exitcode=99 atexit_sleep_ms=0"}
		out := &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-stalled:
			_ = cmd.Process.Kill()
			<-done
			end()
		case err := <-done:
			end()
			if err != nil {
				t.Fatalf("after %d pieces: %v\n%s", n, err, out)
			}
		}
		useStore(t, state, server.URL())
		p := startPodd(t, state, url)
		if strings.Contains(p.log.String(), "is incomplete: run podd migrate again") {
			refused++
			continue
		}
		// A kill after the last commit leaves a migration that is done but has not said so.
		if said := out.String(); strings.Contains(said, "copied 1 pods") || strings.Contains(said, "has been copied to postgres://") {
			same(t, until(t, p.client(), turnEnded(1)), log)
			break
		}
		p.signal(syscall.SIGTERM)
		p.wait()
	}
	if refused == 0 {
		t.Error("no migration was killed in the middle: the test shows nothing")
	}
	t.Logf("%d times incomplete", refused)
}

// A backup of a file is restored to a database, which podd checks, running or not. Backups of it and its
// space are left to PostgreSQL.
func TestStoreVerbsOfDatabase(t *testing.T) {
	server := postgres(t)
	state := stateDir(t)
	url := model(t, say)
	useStore(t, state, server.URL())
	wantRefusal(t, "has no tables of podd", state, "check")
	useStore(t, state, "")
	p := startPodd(t, state, url)
	createAndSubmit(t, p.client(), t.TempDir())
	log := until(t, p.client(), turnEnded(1))
	file := filepath.Join(t.TempDir(), "backup.db")
	if code, _, errs := keep(t, state, "backup", file); code != exitDone || errs != "" {
		t.Fatalf("backup: %d %q", code, errs)
	}
	p.signal(syscall.SIGTERM)
	p.wait()
	if err := server.Run(t.Context(), "CREATE DATABASE other"); err != nil {
		t.Fatal(err)
	}
	// A backup stays as it is.
	for _, to := range []string{strings.Replace(server.URL(), "/postgres?", "/other?", 1), server.URL()} {
		if code, _, errs := keep(t, state, "migrate", "--from", file, "--to", to); code != exitDone || errs != "" {
			t.Fatalf("restore: %d %q", code, errs)
		}
		useStore(t, state, to)
		p = startPodd(t, state, url)
		same(t, until(t, p.client(), turnEnded(1)), log)
		for _, running := range []bool{true, false} {
			if code, out, errs := keep(t, state, "check"); code != exitDone || out != "the store is sound\n" || errs != "" {
				t.Errorf("running %v: check: %d %q %q", running, code, out, errs)
			}
			wantRefusal(t, "pg_dump", state, "backup", filepath.Join(t.TempDir(), "none.db"))
			wantRefusal(t, "VACUUM", state, "compact-store")
			if running {
				p.signal(syscall.SIGTERM)
				p.wait()
			}
		}
		useStore(t, state, "")
	}
	wantRefusal(t, "is not empty", state, "migrate", "--from", file, "--to", server.URL())
	useStore(t, state, server.URL())
	if err := server.Run(t.Context(), "UPDATE entries SET record = set_byte(record, 0, 255 - get_byte(record, 0)) WHERE seq = 2"); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := keep(t, state, "check"); code != exitDamaged || !strings.Contains(out, "entry 2 of pod") || !strings.Contains(errs, "the store is damaged") {
		t.Errorf("check: %d %q %q", code, out, errs)
	}
}
