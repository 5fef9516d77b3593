package shell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/commands/lease"
	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/scratch"
	"podd/pkg/tool/tooltest"
)

// helperVariable makes the test binary a podd that runs one shell command, with the
// arguments in the variable. Workspace and spool are the working directory and the
// variable's sibling.
const (
	helperVariable = "PODD_TEST_SHELL"
	spoolVariable  = "PODD_TEST_SPOOL"
	// sandboxVariable is the mode of its sandbox, if it has one.
	sandboxVariable = "PODD_TEST_SANDBOX"
	// leaseVariable is the path of the lease of a movable pod.
	leaseVariable = "PODD_TEST_LEASE"
	// cachesVariable is the directory of the caches that workspaces share, if there are some.
	cachesVariable = "PODD_TEST_CACHES"
)

// theCall is the call that is started and recovered.
var theCall = tool.Invocation{Pod: "p", Turn: 1, CallID: "call_1/../x"}

// with is a call with these arguments.
func with(call tool.Invocation, arguments string) *tool.Invocation {
	call.Arguments = arguments
	return &call
}

func helperMain() {
	dir, err := os.Getwd()
	if err == nil {
		var b *bench
		if b, err = openBench(dir, os.Getenv(spoolVariable), quickly, helperSandbox); err == nil {
			sh, _ := b.tools.Lookup("shell")
			// The result is never stored: podd is killed first.
			call := with(theCall, os.Getenv(helperVariable))
			call.Later = func(func()) {}
			_, err = sh.Run(context.Background(), call)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The result is there; wait to be killed before it is stored.
	_ = os.WriteFile("returned", nil, 0o600)
	time.Sleep(time.Hour) // A select without cases is a deadlock to the runtime.
}

func helperSandbox(c *setup) {
	if mode := os.Getenv(sandboxVariable); mode != "" {
		c.Sandbox = sandbox.Detect(context.Background(), sandbox.Config{Mode: mode})
	}
	if dir := os.Getenv(cachesVariable); dir != "" {
		c.Caches = &scratch.Caches{Dir: dir}
	}
	if path := os.Getenv(leaseVariable); path != "" {
		// Without a lease the command is not run, and says why.
		if l, err := lease.Open(path); err == nil {
			_ = l.Renewing()()
			// It lasts until podd is killed.
			go func() {
				for range time.Tick(lease.For / 10) {
					_ = l.Renewing()()
				}
			}()
			c.Movable, c.Lease = true, l
		}
	}
}

func quickly(c *setup) {
	c.Grace = 100 * time.Millisecond
	c.SpoolBytes = 1 << 20
}

// afterAKill runs a command in a second podd, kills that podd once the command has made
// the file "ready", and returns the tools of the next podd.
func afterAKill(t *testing.T, arguments string) *bench {
	t.Helper()
	dir, spoolDir := t.TempDir(), t.TempDir()
	killAfter(t, dir, spoolDir, arguments, "ready")
	return benchAt(t, dir, spoolDir)
}

func benchAt(t *testing.T, dir, spoolDir string, adjust ...func(*setup)) *bench {
	t.Helper()
	b, err := openBench(dir, spoolDir, append(adjust, quickly)...)
	if err != nil {
		t.Fatal(err)
	}
	b.t = t
	t.Cleanup(func() {
		b.allJobs.Close()
		_ = b.fs.Close()
	})
	return b
}

func killAfter(t *testing.T, dir, spoolDir, arguments, file string, before ...func()) {
	t.Helper()
	podd := exec.Command(os.Args[0])
	podd.Dir, podd.Stderr = dir, os.Stderr
	podd.Env = append(os.Environ(), helperVariable+"="+arguments, spoolVariable+"="+spoolDir)
	if err := podd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitFile(t, filepath.Join(dir, file))
	for _, f := range before {
		f()
	}
	if err := podd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = podd.Wait()
}

func awaitFile(t *testing.T, path string) {
	t.Helper()
	for t.Context().Err() == nil {
		if _, err := os.Stat(path); err == nil {
			return
		}
		runtime.Gosched()
	}
}

// ends waits until a process, whose id a command wrote, has ended.
func (b *bench) ends(name string) {
	b.t.Helper()
	for pid := b.pidIn(name); alive(pid) && b.t.Context().Err() == nil; {
		runtime.Gosched()
	}
}

// noted waits until the record of the only command names its process, which it may do after
// the command has begun.
func (b *bench) noted() {
	b.t.Helper()
	for b.t.Context().Err() == nil {
		records, err := filepath.Glob(filepath.Join(b.spool, ".*.job"))
		if err != nil || len(records) != 1 {
			b.t.Fatalf("the records are %v, %v", records, err)
		}
		if record, err := os.ReadFile(records[0]); err == nil && bytes.Contains(record, []byte(`"process":`)) {
			return
		}
		runtime.Gosched()
	}
}

// recover recovers the call as a podd does that stores the result.
func (b *bench) recover(ctx context.Context, call *tool.Invocation) (tool.Output, bool) {
	b.t.Helper()
	out, _, err := b.tool("shell").Recover(ctx, call)
	if err != nil {
		b.t.Fatal(err)
	}
	if out.Summary != "" {
		tooltest.CheckOutput(b.t, out)
	}
	return out, out.Summary != ""
}

const beforeGo = "echo $$ >pid; echo first; : >ready; while ! [ -e go ]; do sleep 0.01; done; "

// A command that ended while podd was down gives exactly the result that it gives to a
// running podd.
func TestShellRecoversWhatEndedMeanwhile(t *testing.T) {
	for _, c := range []struct{ name, command string }{
		{"success", "echo done"},
		{"failure", "echo bad >&2; exit 3"},
		{"signal", "kill -SEGV $$"},
		{"cut", "seq 1 10000"},
		{"over the quota", "seq 1 400000"},
		{"emptied its output", "echo b >/dev/stderr; echo c"},
		{"no UTF-8", `printf 'a\377b\346'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "emptied its output" && runtime.GOOS != "linux" {
				t.Skip("only on Linux a file opened by its descriptor's name is emptied")
			}
			arguments := object("command", beforeGo+c.command, "timeout_seconds", 60)
			b := afterAKill(t, arguments)
			if _, err := os.Stat(b.path("go")); err == nil {
				t.Fatal("the command did not wait")
			}
			b.write("go", "")
			b.ends("pid")
			got, found := b.recover(t.Context(), with(theCall, arguments))
			if !found {
				t.Fatal("the command was not found")
			}
			live := newBench(t, map[string]string{"go": ""}, quickly)
			want := live.call("shell", arguments)
			if got.Cut != nil && want.Cut != nil && got.Cut.SpoolPath != "" {
				got.Content = strings.ReplaceAll(got.Content, got.Cut.SpoolPath, want.Cut.SpoolPath)
				got.Cut.SpoolPath = want.Cut.SpoolPath
			}
			if encode(got) != encode(want) {
				t.Errorf("recovered %s\nlive      %s", encode(got), encode(want))
			}
		})
	}
}

func TestShellRecoversWhatStillRuns(t *testing.T) {
	arguments := object("command", beforeGo+"echo second; exit 4", "timeout_seconds", 60)
	b := afterAKill(t, arguments)
	var live strings.Builder
	call := with(theCall, arguments)
	call.Report = func(text string) {
		live.WriteString(text)
		b.write("go", "")
	}
	out, found := b.recover(t.Context(), call)
	if !found || out.Content != "first\nsecond\n" || live.String() != out.Content || !out.IsError || !strings.HasSuffix(out.Summary, ", exit 4: second; 2 lines") {
		t.Errorf("found %v: %+v, live %q", found, out, live.String())
	}
	if left := b.spooled(); len(left) > 0 {
		t.Errorf("spool files remain: %v", left)
	}
}

// If podd is killed while it has stopped a command that prints faster than it can be
// read, the next podd lets the command continue.
func TestShellRecoversWhatIsHeld(t *testing.T) {
	arguments := object("command", beforeGo+"echo second", "timeout_seconds", 60)
	b := afterAKill(t, arguments)
	// The leader of a tree has its process id as its group.
	pid := b.pidIn("pid")
	if group, err := syscall.Getpgid(pid); err != nil || syscall.Kill(-group, syscall.SIGSTOP) != nil {
		t.Fatal(err)
	}
	b.write("go", "")
	out, found := b.recover(t.Context(), with(theCall, arguments))
	if !found || out.IsError || out.Content != "first\nsecond\n" {
		t.Errorf("found %v: %+v", found, out)
	}
}

// Timeout and cancel apply to a command that an earlier podd started.
func TestShellRecoversAndEnds(t *testing.T) {
	const command = "sleep 600 & setsid sleep 600 & echo $$ >pid; echo up; : >ready; sleep 600"
	t.Run("timeout", func(t *testing.T) {
		// The podd that is killed lets it begin.
		b := afterAKill(t, object("command", command, "timeout_seconds", 600))
		out, found := b.recover(t.Context(), with(theCall, object("command", command, "timeout_seconds", 1)))
		if !found || out.Content != "up\n" || !strings.Contains(out.Summary, "timed out after 1 s and was stopped") || alive(b.pidIn("pid")) {
			t.Errorf("found %v: %+v", found, out)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		arguments := object("command", command, "timeout_seconds", 600)
		b := afterAKill(t, arguments)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("the user cancelled"))
		out, found := b.recover(ctx, with(theCall, arguments))
		if !found || !strings.Contains(out.Summary, "(the user cancelled), may have taken effect") || alive(b.pidIn("pid")) {
			t.Errorf("found %v: %+v", found, out)
		}
	})
}

// Processes that a command leaves behind while podd is down are ended by the next podd.
func TestShellRecoversAndEndsWhatTheCommandLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux finds what left the process group")
	}
	arguments := object("command", "echo $$ >pid; setsid sh -c 'echo $$ >left; : >ready; exec sleep 600' & while ! [ -e go ]; do sleep 0.01; done; echo done", "timeout_seconds", 60)
	b := afterAKill(t, arguments)
	b.write("go", "")
	b.ends("pid")
	if !alive(b.pidIn("left")) {
		t.Fatal("nothing was left behind")
	}
	if out, found := b.recover(t.Context(), with(theCall, arguments)); !found || out.IsError || out.Content != "done\n" || alive(b.pidIn("left")) {
		t.Errorf("found %v: %+v", found, out)
	}
}

func TestShellRecoversWithoutAStatus(t *testing.T) {
	arguments := object("command", "echo $PPID >shim; echo $$ >pid; echo up; : >ready; sleep 600", "timeout_seconds", 600)
	b := afterAKill(t, arguments)
	b.noted()
	for _, name := range []string{"shim", "pid"} {
		if err := syscall.Kill(b.pidIn(name), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	out, found := b.recover(t.Context(), with(theCall, arguments))
	if !found || !out.IsError || out.Content != "up\n" || !strings.Contains(out.Summary, "ended with an unknown exit status; it may have taken effect") {
		t.Errorf("found %v: %+v", found, out)
	}
}

// Until the result is stored the files stay: podd may be killed between the two.
func TestShellRecoversAgainUntilStored(t *testing.T) {
	arguments := object("command", "echo once >>ran; echo done")
	dir, spoolDir := t.TempDir(), t.TempDir()
	killAfter(t, dir, spoolDir, arguments, "returned")
	b := benchAt(t, dir, spoolDir)
	var work []func()
	unstored := with(theCall, arguments)
	unstored.Later = func(f func()) { work = append(work, f) }
	for range 2 {
		if out, found := b.recover(t.Context(), unstored); !found || out.Content != "done\n" || out.IsError {
			t.Fatalf("found %v: %+v", found, out)
		}
	}
	for _, f := range work {
		f()
	}
	if left := b.spooled(); len(left) > 0 {
		t.Errorf("spool files remain: %v", left)
	}
	if ran := b.read("ran"); ran != "once\n" {
		t.Errorf("the command ran %q", ran)
	}
}

func TestShellRecoversNothing(t *testing.T) {
	b := newBench(t, nil)
	arguments := object("command", "true")
	out, how, err := b.tool("shell").Recover(t.Context(), with(theCall, arguments))
	if err != nil || how != item.RecoveryNoEffect || !strings.Contains(out.Summary, "was not run") {
		t.Errorf("a call without files: %+v, %v, %v", out, how, err)
	}
	// After another boot, files that were not synced say nothing.
	call := with(theCall, arguments)
	call.Rebooted = true
	if out, how, err = b.tool("shell").Recover(t.Context(), call); err != nil || how != item.RecoveryUnknown || out.Summary != "" {
		t.Errorf("after another boot: %+v, %v, %v", out, how, err)
	}
	if _, found, err := b.tool("shell").Recover(t.Context(), &tool.Invocation{Arguments: arguments}); found != item.RecoveryUnknown || err != nil {
		t.Errorf("without a call: %v, %v", found, err)
	}
}

// A podd killed before the command's process is recorded has not run it.
func TestShellRecoversWhatNeverRan(t *testing.T) {
	arguments := object("command", ": >ran; : >ready")
	b := afterAKill(t, arguments)
	records, err := filepath.Glob(filepath.Join(b.spool, ".*"))
	if err != nil || len(records) != 1 {
		t.Fatalf("records %v, %v", records, err)
	}
	unstored := with(theCall, arguments)
	unstored.Later = func(func()) {}
	// Then no one writes to the record any more.
	if out, found := b.recover(t.Context(), unstored); !found || out.IsError {
		t.Fatalf("found %v: %+v", found, out)
	}
	for _, size := range []int64{16, 40} {
		if err := os.Truncate(records[0], size); err != nil {
			t.Fatal(err)
		}
		out, found := b.recover(t.Context(), unstored)
		if !found || !out.IsError || !strings.Contains(out.Summary, "was not run") {
			t.Errorf("found %v: %+v", found, out)
		}
		rebooted := *unstored
		rebooted.Rebooted = true
		out, how, err := b.tool("shell").Recover(t.Context(), &rebooted)
		if err != nil || how != item.RecoveryUnknown || !strings.Contains(out.Summary, "may have taken effect") {
			t.Errorf("after another boot: %+v, %v, %v", out, how, err)
		}
	}
	if err := os.Truncate(records[0], 3); err != nil {
		t.Fatal(err)
	}
	if _, found, err := b.tool("shell").Recover(t.Context(), with(theCall, arguments)); found != item.RecoveryUnknown || err == nil {
		t.Errorf("of a record that is cut off: found %v, %v", found, err)
	}
}

// If a process id in a record belongs to another process by now, that process is left
// alone.
func TestShellRecoverLeavesOthersAlone(t *testing.T) {
	arguments := object("command", "echo $$ >pid; : >ready")
	b := afterAKill(t, arguments)
	records, _ := filepath.Glob(filepath.Join(b.spool, ".*"))
	letGo(t, records[0])
	record, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	other := startSession(t)
	for strings.Contains(string(record), "-"+startTicks(other.Process.Pid)+`"`) {
		// No process id is reused within the hundredth of a second that distinguishes
		// processes.
		other = startSession(t)
	}
	old := `"pid":` + strings.TrimSpace(b.read("pid"))
	changed := strings.Replace(string(record), old, `"pid":`+strconv.Itoa(other.Process.Pid), 1)
	if changed == string(record) {
		t.Fatalf("%s is not in %s", old, record)
	}
	if err := os.WriteFile(records[0], []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	out, found := b.recover(t.Context(), with(theCall, arguments))
	if !found || out.IsError || out.Kind != item.OutputShell || !alive(other.Process.Pid) {
		t.Errorf("found %v: %+v; the other is alive: %v", found, out, alive(other.Process.Pid))
	}
}

// startSession starts a process in its own session, which ends with the test.
func startSession(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// startTicks is when a process started, in clock ticks, as Linux reports it.
func startTicks(pid int) string {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	if fields := strings.Fields(rest); len(fields) > 19 {
		return fields[19]
	}
	return "none"
}

// letGo waits until no process has a record locked: before that it may still change.
func letGo(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil && t.Context().Err() == nil {
		runtime.Gosched()
	}
}
