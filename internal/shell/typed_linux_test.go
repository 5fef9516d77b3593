package shell_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// lostInput is a call that podd's end interrupted as it typed into a job, or before.
func lostInput(job, key string) *tool.Invocation {
	return &tool.Invocation{CallID: "write_" + key, Key: key, Arguments: object("action", "write", "id", job, "input", "word\n")}
}

// typedInto is the job 1 of a pod, which has ended after the input with the key "typed".
func typedInto(t *testing.T) *bench {
	t.Helper()
	sockets := t.TempDir()
	b := newBench(t, nil, quickly)
	b.allJobs.Dir = sockets
	ended := make(chan struct{}, 2)
	b.jobs.Keep(nil, 0, func() { ended <- struct{}{} })
	b.start("c1", "command", "read -r a; echo got $a; read -r b", "terminal", true, "quiet", true)
	call := lostInput("1", "typed")
	if out, err := b.tool("job").Run(t.Context(), call); err != nil || out.IsError {
		t.Fatalf("%v: %+v", err, out)
	}
	b.recovers(call, item.RecoveryFound, "job: 1 runs; ")
	b.recovers(lostInput("1", "lost"), item.RecoveryNoEffect, "not written: podd ended before the input reached job 1; call again")
	b.jobs.Stop("1", "the test is over")
	<-ended
	return b
}

// recovers looks what became of a call.
func (b *bench) recovers(call *tool.Invocation, want item.Recovery, said string) {
	b.t.Helper()
	out, how, err := b.tool("job").Recover(b.t.Context(), call)
	if how != want || !strings.Contains(out.Summary, said) || (err != nil) != (want == item.RecoveryUnknown && said == "") {
		b.t.Errorf("%s: %v, %v: %s; want %v: %s", call.Key, how, err, out.Summary, want, said)
	}
}

// What was typed into a job is known after its end, too, and by each later podd.
func TestWhatWasTypedIsKnownAfterTheEnd(t *testing.T) {
	b := typedInto(t)
	check := func(b *bench) {
		t.Helper()
		b.recovers(lostInput("1", "typed"), item.RecoveryFound, "job: 1 took the input and has ended: ")
		b.recovers(lostInput("1", "lost"), item.RecoveryNoEffect, "not written: podd ended before the input reached job 1, which has ended: ")
		b.recovers(lostInput("1", "later"), item.RecoveryNoEffect, "not written")
		b.recovers(lostInput("2", "other"), item.RecoveryNoEffect, `no job has the id "2"`)
		rebooted := lostInput("1", "typed")
		rebooted.Rebooted = true
		if out, how, err := b.tool("job").Recover(t.Context(), rebooted); how != item.RecoveryUnknown || err != nil || out.Summary != "" {
			t.Errorf("after another boot: %+v, %v, %v", out, how, err)
		}
	}
	check(b)
	ends := b.jobs.Ended()
	b.jobs.Stored("1")
	check(b)
	next := benchAt(t, b.dir, filepath.Dir(b.spool))
	if _, how, err := next.tool("job").Recover(t.Context(), lostInput("2", "unread")); how != item.RecoveryUnknown || err != nil {
		t.Errorf("before the log is read: %v, %v", how, err)
	}
	next.jobs.Keep([]item.Job{ends[0].Job}, 1, func() {})
	check(next)

	// What started commands for an earlier podd noted nothing.
	records, err := filepath.Glob(filepath.Join(b.spool, ".*.ended"))
	if err != nil || len(records) != 1 {
		t.Fatalf("the records are %v, %v", records, err)
	}
	text, err := os.ReadFile(records[0])
	if err == nil {
		err = os.WriteFile(records[0], bytes.ReplaceAll(text, []byte(`"typed"`), []byte(`"other"`)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	next.recovers(lostInput("1", "lost"), item.RecoveryUnknown, "")
	if err := os.Remove(records[0]); err != nil {
		t.Fatal(err)
	}
	next.recovers(lostInput("1", "lost"), item.RecoveryUnknown, "")
}

// A job without a terminal has taken no input.
func TestNothingWasTypedWithoutATerminal(t *testing.T) {
	b := newBench(t, nil, quickly)
	ended := make(chan struct{}, 2)
	b.jobs.Keep(nil, 0, func() { ended <- struct{}{} })
	b.start("c1", "command", server)
	b.recovers(lostInput("1", "key"), item.RecoveryNoEffect, "not written")
	b.jobs.Stop("1", "the test is over")
	<-ended
	b.jobs.Stored("1")
	b.recovers(lostInput("1", "key"), item.RecoveryNoEffect, "not written")
}
