package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/store"
	poddv1 "podd/proto/podd/v1"
)

// keep runs a verb on a state directory in this process.
func keep(t *testing.T, state string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := map[string]string{"HOME": state, "PODD_STATE_DIR": state}
	code = run(t.Context(), args, program{stdout: &out, stderr: &errs, env: func(k string) string { return env[k] }})
	return code, out.String(), errs.String()
}

func say(context.Context, scripted.Request) scripted.Reply {
	return scripted.Say(scripted.Text("done"))
}

// The verbs on the store return the same through a running podd and on the file of a
// stopped one. The backup has podd's data, and the store is unchanged.
func TestStoreVerbs(t *testing.T) {
	state := stateDir(t)
	url := model(t, say)
	p := startPodd(t, state, url)
	c := p.client()
	createAndSubmit(t, c, t.TempDir())
	log := until(t, c, turnEnded(1))
	for _, running := range []bool{true, false} {
		if code, out, errs := keep(t, state, "check"); code != exitDone || out != "the store is sound\n" || errs != "" {
			t.Errorf("running %v: check: %d %q %q", running, code, out, errs)
		}
		file := filepath.Join(t.TempDir(), "backup.db")
		code, out, errs := keep(t, state, "backup", file)
		if code != exitDone || !strings.HasPrefix(out, "backed up the store to "+file+", ") || errs != "" {
			t.Errorf("running %v: backup: %d %q %q", running, code, out, errs)
		}
		if code, _, errs := keep(t, state, "backup", file); code != exitFailed || !strings.Contains(errs, "already exists") {
			t.Errorf("running %v: a second backup: %d %q", running, code, errs)
		}
		nowhere := filepath.Join(t.TempDir(), "nowhere", "backup.db")
		if code, _, errs := keep(t, state, "backup", nowhere); code != exitFailed || errs != "podd: cannot write the backup "+nowhere+": no such file or directory\n" {
			t.Errorf("running %v: a backup in no directory: %d %q", running, code, errs)
		}
		code, out, errs = keep(t, state, "compact-store")
		if code != exitDone || !strings.HasPrefix(out, "compacted the store from ") || errs != "" {
			t.Errorf("running %v: compact-store: %d %q %q", running, code, out, errs)
		}
		if left, _ := filepath.Glob(file + ".*"); len(left) > 0 {
			t.Errorf("running %v: %q is left", running, left)
		}
		restored(t, file, url, log)
		if running {
			p.signal(syscall.SIGTERM)
			p.wait()
		}
	}
	c = startPodd(t, state, url).client()
	same(t, until(t, c, turnEnded(1)), log)
}

// restored starts a podd from a backup.
func restored(t *testing.T, file, url string, log []*poddv1.Entry) {
	t.Helper()
	state := stateDir(t)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "podd.db"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	p := startPodd(t, state, url)
	same(t, until(t, p.client(), turnEnded(1)), log)
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}
}

func same(t *testing.T, got, want []*poddv1.Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].String() != want[i].String() {
			t.Errorf("entry %d is\n%v\nwant\n%v", i+1, got[i], want[i])
		}
	}
}

// Without the client token podd returns no backup, and runs no check.
func TestStoreVerbsNeedTheToken(t *testing.T) {
	state := stateDir(t)
	p := startPodd(t, state, "http://127.0.0.1:1/v1")
	c, err := client.New(client.Config{Socket: filepath.Join(p.state, "podd.sock"), RetryFor: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	stream, err := c.Admin().Backup(t.Context(), &poddv1.BackupRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if err == nil || !strings.Contains(err.Error(), "client token") {
		t.Errorf("a backup: %v", err)
	}
	if _, err := c.Admin().Check(t.Context(), &poddv1.CheckRequest{}); err == nil {
		t.Error("a check without the token")
	}
	if _, err := c.Admin().CompactStore(t.Context(), &poddv1.CompactStoreRequest{}); err == nil {
		t.Error("a compaction without the token")
	}
}

// A garbled database crashes no podd that looks at it: check says what is wrong and exits
// with 1. After a kill podd moves the database aside, says so, and starts neither then
// nor the next time.
func TestGarbledDatabase(t *testing.T) {
	state := stateDir(t)
	url := model(t, say)
	p := startPodd(t, state, url)
	c := p.client()
	createAndSubmit(t, c, t.TempDir())
	until(t, c, turnEnded(1))
	p.signal(syscall.SIGKILL)
	p.wait()
	path := filepath.Join(state, "podd.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2 * os.Getpagesize(); i < len(b); i++ {
		b[i] = 0xff
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := keep(t, state, "check"); code != exitDamaged || !strings.Contains(out, "podd.db") || strings.Count(errs, "\n") != 1 {
		t.Errorf("check: %d %q %q", code, out, errs)
	}
	for range 2 {
		p = startPodd(t, state, url)
		if code := p.wait(); code != exitDamaged || !strings.Contains(p.log.String(), "was moved to "+path+".damaged-") {
			t.Errorf("podd: %d %s", code, p.log.String())
		}
	}
	aside, _ := filepath.Glob(path + ".damaged-*")
	if len(aside) != 1 {
		t.Fatalf("aside is %q", aside)
	}
	if got, err := os.ReadFile(aside[0]); err != nil || !bytes.Equal(got, b) {
		t.Errorf("the file was changed: %v", err)
	}
	if code, _, errs := keep(t, state, "check"); code != exitDamaged || !strings.Contains(errs, "was moved to ") {
		t.Errorf("check without a database: %d %q", code, errs)
	}
}

// A damaged base costs one sentence and nothing else, with a running podd and without
// one.
func TestCheckHarmless(t *testing.T) {
	state := stateDir(t)
	url := model(t, say)
	p := startPodd(t, state, url)
	createAndSubmit(t, p.client(), t.TempDir())
	p.signal(syscall.SIGTERM)
	p.wait()
	path := filepath.Join(state, "podd.db")
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	pods, err := s.Pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	epoch, err := s.Claim(t.Context(), pods[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), store.Batch{Pod: pods[0].ID, Epoch: epoch, Base: &store.Base{Seq: 1, Fold: []byte("folded")}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte("folded"), []byte("FOLDED")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, running := range []bool{false, true} {
		if running {
			startPodd(t, state, url)
		}
		code, out, errs := keep(t, state, "check")
		if code != exitDone || !strings.Contains(out, "is damaged: podd reads its log instead") || !strings.HasSuffix(out, "\nthe store is sound\n") || errs != "" {
			t.Errorf("running %v: %d %q %q", running, code, out, errs)
		}
	}
}

// A log that podd did not write so is found, with a running podd and without one; the store itself is sound.
func TestCheckLog(t *testing.T) {
	state := filepath.Join(t.TempDir(), "s")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	url := model(t, say)
	p := startPodd(t, state, url)
	createAndSubmit(t, p.client(), t.TempDir())
	p.signal(syscall.SIGTERM)
	p.wait()
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(state, "podd.db")})
	if err != nil {
		t.Fatal(err)
	}
	pods, err := s.Pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	epoch, err := s.Claim(t.Context(), pods[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	bad := item.Entry{Time: time.Now(), Turn: 7, Kind: item.TurnEnded{Outcome: item.OutcomeFinished}}
	if _, err := s.Append(t.Context(), store.Batch{Pod: pods[0].ID, Epoch: epoch, Entries: []item.Entry{bad}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("pod p: I5 fails at #%d: turn 7 ends while ", pods[0].Last+1)
	for _, running := range []bool{false, true} {
		if running {
			startPodd(t, state, url)
		}
		if code, out, errs := keep(t, state, "check", "--log", "p"); code != exitDamaged || !strings.HasPrefix(out, want) || !strings.Contains(errs, "findings: 1") {
			t.Errorf("running %v: %d %q %q", running, code, out, errs)
		}
		if code, out, errs := keep(t, state, "check"); code != exitDone {
			t.Errorf("running %v: %d %q %q", running, code, out, errs)
		}
	}
}

// A missing database gets a sentence, and no file is created.
func TestStoreVerbsWithoutAStore(t *testing.T) {
	state := stateDir(t)
	for _, args := range [][]string{{"check"}, {"backup", filepath.Join(t.TempDir(), "f")}, {"compact-store"}} {
		code, out, errs := keep(t, state, args...)
		if code != exitFailed || out != "" || !strings.Contains(errs, "no database at") {
			t.Errorf("%s: %d %q %q", args[0], code, out, errs)
		}
		if code, _, errs := keep(t, filepath.Join(state, "none"), args...); code != exitFailed || !strings.Contains(errs, "does not exist") {
			t.Errorf("%s: %d %q", args[0], code, errs)
		}
	}
	for _, args := range [][]string{{"backup"}, {"backup", "a", "b"}, {"check", "x"}, {"compact-store", "x"}} {
		if code, _, _ := keep(t, state, args...); code != exitUsage {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(state, "*.db")); len(left) > 0 {
		t.Errorf("%q was made", left)
	}
}
