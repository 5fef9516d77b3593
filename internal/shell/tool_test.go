package shell_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/tooltest"
)

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// spooled lists the files in the spool folder.
func (b *bench) spooled() []string {
	b.t.Helper()
	names, err := filepath.Glob(filepath.Join(b.spool, "*"))
	if err != nil {
		b.t.Fatal(err)
	}
	return names
}

// alive says whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil && runtime.GOOS != "linux" || err == nil && !strings.Contains(string(stat), ") Z ")
}

// pidIn reads a pid that a command wrote to a file.
func (b *bench) pidIn(name string) int {
	b.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(b.read(name)))
	if err != nil {
		b.t.Fatal(err)
	}
	return pid
}

func TestShellSaysHowTheCommandEnded(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one\ntwo\n"})
	for _, c := range []struct {
		name, command, summary, content string
		isError                         bool
	}{
		{"output", "echo hi; echo there >&2", "shell: echo hi; echo there >&2, exit 0: there; 2 lines", "hi\nthere\n", false},
		{"one line", "printf x", "shell: printf x, exit 0: x; 1 line", "x", false},
		{"none", "true", "shell: true, exit 0, no output", "", false},
		{"failure", "echo bad; exit 3", "shell: echo bad; exit 3, exit 3: bad; 1 line", "bad\n", true},
		{"not found", "no-such-command-here 2>/dev/null", "shell: no-such-command-here 2>/dev/null, exit 127, no output", "", true},
		{"signal", "kill -SEGV $$", "shell: kill -SEGV $$, exit 139 (as by signal 11, segmentation fault), no output", "", true},
		{"several lines", "true\ntrue", "shell: true…, exit 0, no output", "", false},
		{"long", "true " + strings.Repeat("é", 100), "shell: true " + strings.Repeat("é", 55) + "…, exit 0, no output", "", false},
		{"controls", "printf '\\033[31m' \x1b", `shell: printf '\033[31m' \x1b, exit 0, 1 line`, "\x1b[31m", false},
		{"not UTF-8", `printf 'a\377b'`, `shell: printf 'a\377b', exit 0: a?b; 1 line`, "a?b", false},
		{"no input", "cat; read x || echo eof", "shell: cat; read x || echo eof, exit 0: eof; 1 line", "eof\n", false},
		{"in the workspace", "cat a.txt; pwd | wc -l", "shell: cat a.txt; pwd | wc -l, exit 0: 1; 3 lines", "one\ntwo\n1\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.call("shell", object("command", c.command))
			if out.Summary != c.summary || out.IsError != c.isError || out.Kind != item.OutputShell || out.Cut != nil {
				t.Errorf("got %+v\nwant %q", out, c.summary)
			}
			if c.content != "" && out.Content != c.content {
				t.Errorf("content %q, want %q", out.Content, c.content)
			}
		})
	}
	if left := b.spooled(); len(left) > 0 {
		t.Errorf("spool files remain: %v", left)
	}
}

func TestShellArguments(t *testing.T) {
	sh := newBench(t, nil).tool("shell")
	tooltest.Conform(t, sh, `{"command":"ls","timeout_seconds":5}`, `{"command":"ls"}`)
	if got, err := sh.Check(`{"command":"ls"}`); err != nil || got != `{"command":"ls","timeout_seconds":120}` {
		t.Errorf("Check = %s, %v", got, err)
	}
	for arguments, want := range map[string]string{
		`{"command":" \n"}`:                       "command is empty",
		`{"command":"a\u0000b"}`:                  "NUL",
		`{"command":"ls","timeout_seconds":-1}`:   "timeout_seconds must be 1 to 3600",
		`{"command":"ls","timeout_seconds":3601}`: "timeout_seconds must be 1 to 3600",
		`{"command":["ls"]}`:                      "command must be a string, not an array",
		`{"command":"ls","Command":"rm"}`:         "write it exactly as command",
		`{"command":"ls","command":"rm"}`:         "given twice",
	} {
		if _, err := sh.Check(arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%s): %v, want %q", arguments, err, want)
		}
	}
}

func TestShellEnvironmentIsAList(t *testing.T) {
	b := newBench(t, nil, func(c *setup) {
		c.Environ = []string{"PATH=.:" + os.Getenv("PATH") + "::bin", "XDG_RUNTIME_DIR=/run/user/1", "HOME=/home/u", "LC_ALL=C", "OPENAI_API_KEY=secret-key", "OTHER=1", "WANTED=2",
			"LD_PRELOAD=/no.so", "LD_LIBRARY_PATH=/no", "BASH_ENV=/no", "ENV=/no", "NODE_OPTIONS=--no", "PYTHONSTARTUP=/no", "PERL5OPT=-no", "GIT_SSH_COMMAND=no", "GIT_DIR=/no", "PROMPT_COMMAND=no"}
		c.Env = []string{"WANTED", "EXTRA=3"}
	})
	out := b.call("shell", object("command", "env"))
	for _, want := range []string{"HOME=/home/u\n", "LC_ALL=C\n", "TERM=dumb\n", "WANTED=2\n", "EXTRA=3\n", "PWD=" + b.dir + "\n", "PATH=" + os.Getenv("PATH") + "\n"} {
		if !strings.Contains(out.Content, want) {
			t.Errorf("%q is missing in\n%s", want, out.Content)
		}
	}
	for _, secret := range []string{"secret-key", "OTHER=", "XDG_RUNTIME_DIR", "/no", "=no", "=-"} {
		if strings.Contains(out.Content, secret) {
			t.Errorf("%q is passed on:\n%s", secret, out.Content)
		}
	}
}

func TestShellCutsAndKeepsTheFullText(t *testing.T) {
	b := newBench(t, nil)
	out := b.call("shell", object("command", "seq 1 100000"))
	if out.Summary != "shell: seq 1 100000, exit 0: 100000; 100000 lines" || out.Cut == nil || out.Cut.SpoolPath == "" {
		t.Fatalf("got %q %+v", out.Summary, out.Cut)
	}
	full, err := os.ReadFile(out.Cut.SpoolPath)
	full, header := bytes.CutPrefix(full, []byte("$ seq 1 100000\n"))
	if err != nil || !header || int64(len(full)) != out.Cut.TotalBytes || out.Cut.TotalLines != 100000 {
		t.Errorf("%d bytes in the spool file, %v; cut %+v", len(full), err, *out.Cut)
	}
	if info, _ := os.Stat(out.Cut.SpoolPath); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if len(out.Content) > 16384 || !strings.HasPrefix(out.Content, "1\n2\n") || !strings.HasSuffix(out.Content, "99999\n100000\n") {
		t.Errorf("content of %d bytes: %.40q", len(out.Content), out.Content)
	}
	head, tail, _ := strings.Cut(out.Content, "[cut: ")
	if !strings.Contains(out.Content, out.Cut.SpoolPath) || strings.Count(head, "\n")*3 > strings.Count(tail, "\n") {
		t.Errorf("%d lines of head, %d of tail", strings.Count(head, "\n"), strings.Count(tail, "\n"))
	}
	limits, err := tool.NewLimits(tool.LimitsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if again := limits.Apply("shell", out, nil); again != out {
		t.Error("the choke point cuts it again")
	}
	// The pod's own tools can read the file that the marker names.
	if _, err := b.fs.ReadFile(out.Cut.SpoolPath, 10); err != nil {
		t.Error(err)
	}
}

func TestShellEndlessLineInFlatMemory(t *testing.T) {
	b := newBench(t, nil, func(c *setup) { c.SpoolBytes = 8 << 20 })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := b.call("shell", object("command", "head -c 100000000 /dev/zero | tr '\\0' x"))
	runtime.ReadMemStats(&after)
	if out.IsError || out.Cut == nil || out.Cut.TotalBytes != 100_000_000 || out.Cut.TotalLines != 1 || out.Cut.KeptLines != 1 {
		t.Fatalf("%q %+v", out.Summary, out.Cut)
	}
	if len(out.Content) < 16300 || len(out.Content) > 16384 {
		t.Errorf("%d bytes of content", len(out.Content))
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("%d bytes were allocated for 100 MB of output", grown)
	}
	// Above the quota the text is gone, and no marker claims otherwise.
	if out.Cut.SpoolPath != "" || !strings.Contains(out.Content, "the full text was not kept") || len(b.spooled()) != 0 {
		t.Errorf("cut %+v, spooled %v", out.Cut, b.spooled())
	}
}

func TestShellEndlessOutputTimesOut(t *testing.T) {
	b := newBench(t, nil, func(c *setup) { c.SpoolBytes = 4 << 20 })
	out, seconds := tool.Output{}, 1
	// A busy machine may need longer until the command has printed enough.
	for ; out.Cut == nil && seconds < 256; seconds *= 4 {
		out = b.call("shell", object("command", "yes", "timeout_seconds", seconds))
		if want := fmt.Sprintf("shell: yes, timed out after %d s and was stopped", seconds); !out.IsError || !strings.HasPrefix(out.Summary, want) {
			t.Fatalf("summary %q", out.Summary)
		}
	}
	// Of what a busy machine had not read when the command was stopped, only the bytes may be counted.
	if out.Cut == nil || out.Cut.TotalBytes < 2*out.Cut.TotalLines || !strings.HasPrefix(out.Content, "y\ny\n") || len(out.Content) > 16384 {
		t.Errorf("cut %+v", out.Cut)
	}
}

// A command that prints faster than it is read is stopped for a while, so that its disk
// use stays bounded.
func TestShellHoldsACommandThatIsTooFast(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the state of a process is read from /proc")
	}
	const size = 40_000_000
	b := newBench(t, nil, func(c *setup) { c.SpoolBytes = 1 << 20 })
	held, looks := false, 0
	report := func(string) {
		// A slow watcher: meanwhile the command writes everything it has.
		for !held {
			outputs, _ := filepath.Glob(filepath.Join(b.spool, "*.out"))
			info, err := os.Stat(slices.DeleteFunc(outputs, func(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") })[0])
			if err != nil || info.Size() >= size {
				break
			}
			runtime.Gosched()
		}
		// It is stopped once the watcher has returned from the first part, as soon as the
		// machine gets to it.
		looks++
		for patience := 10_000; !held && (looks == 3 && patience > 0 || patience == 10_000); patience-- {
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(b.pidIn("pid")) + "/stat")
			if err == nil && strings.Contains(string(stat), ") T ") {
				held = true
				b.write("held", "")
			}
		}
	}
	out := tooltest.Invoke(t.Context(), t, b.tool("shell"), tool.Invocation{Report: report, Arguments: object("timeout_seconds", 60, "command",
		"echo $$ >pid; echo go; head -c "+strconv.Itoa(size)+" /dev/zero; while ! [ -e held ]; do sleep 0.02; done; echo end")})
	if !held || out.IsError || out.Cut == nil || out.Cut.TotalBytes != size+7 {
		t.Errorf("held %v: %q %+v", held, out.Summary, out.Cut)
	}
}

func TestShellTimeoutKeepsWhatWasPrinted(t *testing.T) {
	out := newBench(t, nil).timesOut("echo started; sleep 600")
	if !out.IsError || out.Content != "started\n" {
		t.Errorf("got %+v", out)
	}
}

// timesOut runs a command that prints and does not end, with a timeout in which it can
// print something: a busy machine may need more than a second to start it.
func (b *bench) timesOut(command string) (out tool.Output) {
	b.t.Helper()
	for seconds := 1; seconds < 100 && out.Content == ""; seconds *= 3 {
		out = b.call("shell", object("command", command, "timeout_seconds", seconds))
		if !strings.Contains(out.Summary, fmt.Sprintf("timed out after %d s", seconds)) {
			b.t.Errorf("got %+v", out)
		}
	}
	return out
}

// cancelAfter runs a command, cancels it as soon as it has reported text, and
// returns its output.
func (b *bench) cancelAfter(command, text string, cause error) tool.Output {
	b.t.Helper()
	ctx, cancel := context.WithCancelCause(b.t.Context())
	defer cancel(nil)
	report := func(s string) {
		if strings.Contains(s, text) {
			cancel(cause)
		}
	}
	return tooltest.Invoke(ctx, b.t, b.tool("shell"), tool.Invocation{Report: report, Arguments: object("command", command)})
}

func TestShellCancelEndsTheWholeTree(t *testing.T) {
	for _, c := range []struct{ name, command string }{
		{"child", "sleep 600 & echo $! >pid; echo ready; wait"},
		{"ignores SIGTERM", `trap '' TERM; sh -c 'trap "" TERM; echo $$ >pid; echo ready; while :; do sleep 0.05; done'`},
		{"own group", "set -m; sleep 600 & echo $! >pid; echo ready; wait"},
		{"setsid", "setsid sh -c 'echo $$ >pid; echo ready; sleep 600' & wait; sleep 600"},
		{"daemon", "(setsid sh -c '(echo $BASHPID $$ >/dev/null; sh -c \"echo \\$\\$ >pid; echo ready; exec sleep 600\" &) ' &) ; sleep 600"},
		{"cleared environment", "env -i sh -c 'echo $$ >pid; echo ready; exec sleep 600'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && (c.name == "setsid" || c.name == "daemon" || c.name == "own group") {
				t.Skip("only Linux finds what left the process group")
			}
			b := newBench(t, nil, func(c *setup) { c.Grace = 100 * time.Millisecond })
			out := b.cancelAfter(c.command, "ready", errors.New("the user cancelled"))
			if pid := b.pidIn("pid"); alive(pid) {
				t.Errorf("process %d is still there", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if !out.IsError || !strings.Contains(out.Summary, "(the user cancelled), may have taken effect") || out.Content != "ready\n" {
				t.Errorf("got %+v", out)
			}
		})
	}
}

func TestShellCancelReachesAStoppedCommand(t *testing.T) {
	b := newBench(t, nil)
	out := b.cancelAfter("trap 'echo bye; exit' TERM; echo ready; kill -STOP $$; sleep 600", "ready", errors.New("enough"))
	if out.Content != "ready\nbye\n" {
		t.Errorf("got %+v", out)
	}
}

func TestShellCancelledBeforeItStarts(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := tooltest.Call(ctx, t, b.tool("shell"), object("command", "sleep 600"))
	if !out.IsError || !strings.Contains(out.Summary, "cancelled after") {
		t.Errorf("got %+v", out)
	}
}

// The end of a command ends everything that it started, and a process that has its output
// open does not delay the result.
func TestShellEndsWhatTheCommandLeaves(t *testing.T) {
	for _, c := range []struct{ name, command string }{
		{"background", "sleep 600 & echo $! >pid; echo done"},
		{"output after exit", "(sleep 600; echo late) & echo $! >pid; echo done"},
		{"setsid", "setsid sh -c 'echo $$ >pid; exec sleep 600' & while ! [ -s pid ]; do :; done; echo done"},
		{"closed its output", "setsid sh -c 'exec <&- >&- 2>&-; echo $$ >pid; exec sleep 600' & while ! [ -s pid ]; do :; done; echo done"},
		{"fork storm", "for i in 1 2 3 4 5 6 7 8 9; do (for j in 1 2 3 4 5 6 7 8 9; do sleep 600 & done; wait) & done; sleep 600 & echo $! >pid; echo done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && strings.Contains(c.command, "setsid") {
				t.Skip("only Linux finds what left the process group")
			}
			b := newBench(t, nil, func(c *setup) { c.Grace = 100 * time.Millisecond })
			out := b.call("shell", object("command", c.command))
			if pid := b.pidIn("pid"); alive(pid) {
				t.Errorf("process %d is still there", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if out.IsError || out.Content != "done\n" {
				t.Errorf("got %+v", out)
			}
		})
	}
}

// Stopping one command does not affect another.
func TestShellCommandsDoNotEndEachOther(t *testing.T) {
	b := newBench(t, nil)
	var wg sync.WaitGroup
	started := make(chan struct{})
	start := sync.OnceFunc(func() { close(started) })
	report := func(string) { start() }
	wg.Go(func() {
		out := tooltest.Invoke(t.Context(), t, b.tool("shell"), tool.Invocation{Report: report, Arguments: object("command", "echo up; while ! [ -e go ]; do sleep 0.02; done; echo survived")})
		if out.IsError || !strings.HasSuffix(out.Content, "survived\n") {
			t.Errorf("got %+v", out)
		}
	})
	<-started
	for range 3 {
		b.call("shell", object("command", "sleep 600 & setsid sleep 600 &"))
	}
	b.write("go", "")
	wg.Wait()
}

func TestShellReportsOutputAsItComes(t *testing.T) {
	b := newBench(t, nil)
	var mu sync.Mutex
	var live strings.Builder
	report := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		live.WriteString(s)
		if !utf8.ValidString(s) {
			t.Errorf("fragment %q", s)
		}
		if strings.Contains(live.String(), "first") {
			// The command waits for this: the text was reported while it ran.
			b.write("seen", "")
		}
	}
	out := tooltest.Invoke(t.Context(), t, b.tool("shell"), tool.Invocation{Report: report, Arguments: object("command", `echo first; while ! [ -e seen ]; do sleep 0.02; done; printf '\346'; sleep 0.1; printf '\227\245\n'`)})
	if live.String() != "first\n日\n" || out.Content != live.String() {
		t.Errorf("live %q, content %q", live.String(), out.Content)
	}
}

func TestShellOutputEmptiedByTheCommand(t *testing.T) {
	b := newBench(t, nil)
	var once sync.Once
	report := func(string) { once.Do(func() { b.write("seen", "") }) }
	out := tooltest.Invoke(t.Context(), t, b.tool("shell"), tool.Invocation{Report: report, Arguments: object("command", "echo a long first line; while ! [ -e seen ]; do sleep 0.02; done; echo b >/dev/stderr; while ! [ -e end ]; do touch end; sleep 0.4; done; echo c")})
	if out.Content != "a long first line\nb\nc\n" {
		t.Errorf("got %q", out.Content)
	}
	if runtime.GOOS != "linux" {
		return
	}
	// It runs too briefly to be seen, but its output is reported.
	out = b.call("shell", object("command", "echo a; echo b >/dev/stderr; echo c"))
	if !strings.Contains(out.Summary, "may have lost earlier output: use >&2") {
		t.Errorf("got %+v", out)
	}
	out = b.call("shell", object("command", "echo a; echo b >&2; (echo c; exit) | cat"))
	if strings.Contains(out.Summary, "lost") || out.Content != "a\nb\nc\n" {
		t.Errorf("got %+v", out)
	}
}

func TestShellCannotStart(t *testing.T) {
	b := newBench(t, nil, func(c *setup) { c.Path = "/no/such/shell" })
	out := b.call("shell", object("command", "true"))
	if !out.IsError || !strings.Contains(out.Summary, "cannot start /no/such/shell") || len(b.spooled()) != 0 {
		t.Errorf("got %+v, spooled %v", out, b.spooled())
	}
	b = newBench(t, nil)
	if err := os.Remove(b.spool); err != nil {
		t.Fatal(err)
	}
	if _, err := b.tool("shell").Run(t.Context(), &tool.Invocation{Arguments: object("command", "true")}); err == nil || !strings.Contains(err.Error(), "was not run") {
		t.Errorf("without a spool folder: %v", err)
	}
}

func TestShellReadsCountAsReads(t *testing.T) {
	b := newBench(t, map[string]string{"a.go": "1\n2\n3\n", "b.go": "4\n"})
	for _, c := range []struct {
		command, path string
		kind          item.OutputKind
	}{
		{"cat a.go", "a.go", item.OutputRead},
		{"cat 'a.go'", "a.go", item.OutputRead},
		{"sed -n 1,2p a.go", "a.go", item.OutputRead},
		{"head -n 2 a.go | nl", "a.go", item.OutputRead},
		{"cat " + b.path("a.go"), "a.go", item.OutputRead},
		{"cat a.go && tail -c 3 b.go", "", item.OutputRead},
		{"cat a.go | grep 1", "", item.OutputShell},
		{"cat a.go > c.go", "", item.OutputShell},
		{"sed -i s/1/2/ b.go", "", item.OutputShell},
		{"sed -n 'w x' a.go", "", item.OutputShell},
		{"cat $(echo a.go)", "", item.OutputShell},
		{"echo cat a.go", "", item.OutputShell},
		{"cat a.go &", "", item.OutputShell},
		{"cat nothing", "", item.OutputShell},
	} {
		if out := b.call("shell", object("command", c.command)); out.Kind != c.kind || out.Path != c.path {
			t.Errorf("%s: kind %q, path %q; want %q, %q", c.command, out.Kind, out.Path, c.kind, c.path)
		}
	}
}

func TestShellSummariesAreShort(t *testing.T) {
	b := newBench(t, nil)
	out := b.call("shell", object("command", strings.Repeat("true && ", 500)+"true"))
	if len(out.Summary) > 120 || !regexp.MustCompile(`^shell: true && .*…, exit 0, no output$`).MatchString(out.Summary) {
		t.Errorf("summary %q", out.Summary)
	}
}

// A call cancelled before it is known whether its command began says so, and the command
// is ended.
func TestShellCancelledAtItsStart(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user cancelled"))
	out := tooltest.Invoke(ctx, t, b.tool("shell"), *with(theCall, object("command", "echo $$ >pid; exec sleep 600")))
	if !out.IsError || !strings.Contains(out.Summary, "(the user cancelled), may have taken effect") {
		t.Errorf("summary %q", out.Summary)
	}
	// It may have ended before it wrote that.
	text, _ := os.ReadFile(b.path("pid"))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && alive(pid) {
		t.Error("the command goes on")
	}
}
