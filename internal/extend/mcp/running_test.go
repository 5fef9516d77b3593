package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/extend/mcp"
	"podd/pkg/tool"
)

// stray is a server that ignores the end of its input and SIGTERM, as its children do, which lead
// sessions of their own. One of them has cleared its environment. With a file "leaves" the server
// itself ends with its input.
const stray = `trap '' TERM
for mark in '' 'env -i'; do
	$mark setsid sh -c 'trap "" TERM; echo $$ >>pids; while :; do sleep 0.05; done' &
done
echo $$ >>pids
MCP_TEST_SERVER=good "$0"
[ -e leaves ] || while :; do sleep 0.05; done`

// strays are the processes of the servers that have started in a workspace.
func strays(t *testing.T, dir string, want int) (pids []int) {
	t.Helper()
	eventually(t, "the processes", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "pids"))
		pids = nil
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		return len(pids) == want
	})
	return pids
}

// runs says whether a process runs; a zombie does not.
func runs(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func onlyLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux finds what left the process group")
	}
}

// Whatever ends a server ends everything that it started.
func TestStrayServerEnds(t *testing.T) {
	t.Parallel()
	onlyLinux(t)
	for name, end := range map[string]func(*bench){
		"stop":   func(b *bench) { b.Close() },
		"leaves": func(b *bench) { b.Close() },
		"hang": func(b *bench) {
			b.server.Timeout = 300 * time.Millisecond
			b.fails("die", "did not answer within 300ms")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "good")
			b.server.Command, b.server.Args = "sh", []string{"-c", stray, os.Args[0]}
			if name == "leaves" {
				if err := os.WriteFile(filepath.Join(b.dir, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			b.tools()
			pids := strays(t, b.dir, 3)
			end(b)
			b.Close()
			for _, pid := range pids {
				if runs(pid) {
					t.Errorf("process %d runs on", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// killed is the main function of a podd that starts a server and is killed.
func killed(dir string) {
	m, err := mcp.New(context.Background(), mcp.Config{StateDir: filepath.Join(dir, "state"), Environ: os.Environ()})
	if err != nil {
		panic(err)
	}
	s := serverOf("good")
	s.Expand, s.Env = false, nil
	s.Command, s.Args = "sh", []string{"-c", stray, os.Args[0]}
	for _, made := range m.Tools(context.Background(), []mcp.Server{s}, dir, true) {
		if made.Spec().Name == "mcp__test__echo" {
			_, _ = made.Run(context.Background(), &tool.Invocation{Arguments: `{"text": "x"}`})
		}
	}
	_ = os.WriteFile(filepath.Join(dir, "ready"), nil, 0o600)
	time.Sleep(time.Hour)
}

// After a kill of podd, the next one ends what is left of a server before it starts another.
func TestServerOfAKilledPodd(t *testing.T) {
	t.Parallel()
	onlyLinux(t)
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	var all []int
	for n := 1; n <= 2; n++ {
		podd := exec.CommandContext(t.Context(), os.Args[0])
		podd.Env = append(os.Environ(), "MCP_TEST_PODD="+dir)
		if err := podd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server", func() bool { return exists(filepath.Join(dir, "ready")) })
		before := all
		all = strays(t, dir, 3*n)
		if err := podd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = podd.Wait()
		_ = os.Remove(filepath.Join(dir, "ready"))
		for _, pid := range before {
			if runs(pid) {
				t.Errorf("process %d of the podd before runs beside the next server", pid)
			}
		}
	}
	left := 0
	for _, pid := range all {
		if runs(pid) {
			left++
		}
	}
	if left == 0 {
		t.Fatal("nothing is left to end")
	}
	b := &bench{t: t, server: serverOf("good"), dir: dir}
	b.open(state)
	b.goesOn()
	for _, pid := range all {
		if runs(pid) {
			t.Errorf("process %d runs on", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	b.Close()
	if text, err := os.ReadFile(filepath.Join(state, "mcp-running.json")); err != nil || string(text) != "{}\n" {
		t.Errorf("recorded is %q, %v", text, err)
	}
}

// A server that the configuration no longer has ends at once, or with its last call.
func TestServerThatIsRemoved(t *testing.T) {
	t.Parallel()
	for _, calling := range []bool{false, true} {
		var servers []mcp.Server
		b := newBench(t, "good", func(c *mcp.Config) { c.Servers = func(string) []mcp.Server { return servers } })
		b.tools()
		servers = []mcp.Server{b.server}
		b.Keep()
		first, err := strconv.Atoi(strings.TrimSpace(pid(t, b)))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		if calling {
			wait := b.tool("steps")
			go func() {
				_, err := wait.Run(t.Context(), &tool.Invocation{Arguments: "{}", Report: func(text string) {
					if strings.HasPrefix(text, "3/3") {
						_ = os.WriteFile(filepath.Join(b.dir, "called"), nil, 0o600)
					}
				}})
				done <- err
			}()
			eventually(t, "the call", func() bool { return exists(filepath.Join(b.dir, "called")) })
		}
		// In another form it is another server.
		servers = []mcp.Server{serverOf("other")}
		b.Keep()
		if calling {
			if !runs(first) {
				t.Error("it ended with a call in progress")
			}
			if err := os.WriteFile(filepath.Join(b.dir, "seen"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		eventually(t, "the end", func() bool { return !runs(first) })
		if look := b.Look(b.server, b.dir); look.State != mcp.Idle {
			t.Errorf("it is %s", look.State)
		}
		b.Close()
		if alerts := b.told(); len(alerts) > 0 {
			t.Errorf("alerts: %q", alerts)
		}
	}
}
