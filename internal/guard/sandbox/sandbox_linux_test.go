package sandbox_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
)

// hardened are the attacks that some machines stop themselves.
var hardened = []string{"trace", "memory by call", "its descriptors", "mount", "namespace", "io_uring", "vsock", "userfaultfd", "bpf", "perf", "handle", "keyring"}

var modes = []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock}

// ownLandlock is Landlock without podd-launch: the test's own binary confines commands.
const ownLandlock = "landlock-own"

// An attack on the world outside of the workspace succeeds without a sandbox and fails in
// each sandbox.
func TestAttacks(t *testing.T) {
	pid := strconv.Itoa(os.Getpid())
	type attack struct {
		// Weakness is the class of published weaknesses of the attack.
		weakness, name string
		on             func(h *house) string
		// only is the one mode that stops it; empty for all. after must be true afterwards.
		only  sandbox.Mode
		after func(h *house) bool
	}
	at := func(name string) func(*house) string { return func(h *house) string { return h.path(name) } }
	as := func(text string) func(*house) string { return func(*house) string { return text } }
	listen := func(network, name string) func(*house) string {
		return func(h *house) string { return h.listen(network, h.path(name)) }
	}
	port := func(network string) func(*house) string {
		return func(h *house) string { return h.listen(network, "127.0.0.1:0") }
	}
	outsideIsUntouched := func(h *house) bool { return h.untouched("outside/file") }
	const all = sandbox.Mode("")
	for _, a := range []attack{
		{"write outside of the workspace", "write", at("outside/new"), all, nil},
		{"write outside of the workspace", "write", at("outside/file"), all, outsideIsUntouched},
		{"write outside of the workspace", "append", at("outside/file"), all, outsideIsUntouched},
		{"write outside of the workspace", "truncate", at("outside/file"), all, outsideIsUntouched},
		{"write outside of the workspace", "remove", at("outside/file"), all, outsideIsUntouched},
		{"write outside of the workspace", "mkdir", at("outside/dir"), all, nil},
		{"write outside of the workspace", "rename", at("outside/file"), all, outsideIsUntouched},
		{"write outside of the workspace", "move in", at("outside/file"), all, outsideIsUntouched},
		{"write through a link", "hard link", at("outside/file"), all, outsideIsUntouched},
		{"write through a link", "symlink", at("outside/file"), all, outsideIsUntouched},
		{"mounts of its own", "mount", at("outside"), all, nil},
		{"mounts of its own", "namespace", as(""), sandbox.Bwrap, nil},
		{"persistence by git", "write", at("work/.git/hooks/post-checkout"), sandbox.Bwrap, nil},
		{"persistence by git", "rename", at("work/.git"), sandbox.Bwrap, nil},
		{"persistence by git", "rename", at("work/.git/hooks"), sandbox.Bwrap, nil},
		{"persistence by a start-up file", "write", at("work/.bashrc"), sandbox.Bwrap, nil},
		{"podd's own secrets", "read", at("state/client.token"), all, nil},
		{"podd's own secrets", "read", at("state/spool/q/out"), all, nil},
		{"the user's keys", "read", at("home/.ssh/id"), all, nil},
		{"podd's socket", "unix", listen("unix", "state/podd.sock"), all, nil},
		{"the session's sockets", "unix", listen("unix", "run/agent.sock"), all, nil},
		{"the session's sockets", "unix", listen("unix", "run/docker.sock"), all, nil},
		{"the session's sockets", "unix", listen("unix", "run/bus"), all, nil},
		{"the session's sockets", "abstract", func(h *house) string { return strings.TrimPrefix(h.listen("unix", "@"+h.base), "@") }, all, nil},
		{"exfiltration", "tcp", port("tcp"), all, nil},
		{"exfiltration", "udp", port("udp"), all, nil},
		{"exfiltration", "dns", port("udp"), all, nil},
		{"podd's environment", "environment", as(pid), all, nil},
		{"other processes", "command line", as(pid), all, nil},
		{"other processes", "memory", as(pid), all, nil},
		{"other processes", "its root", as(pid), all, nil},
		{"other processes", "processes", as(""), all, nil},
		{"other processes", "signal", as(pid), all, nil},
		{"other processes", "trace", as(strconv.Itoa(os.Getppid())), all, nil},
		{"other processes", "its limits", as(pid), all, nil},
		{"other processes", "its files", as(pid), all, nil},
		{"other processes", "its descriptors", as(pid), all, nil},
		{"other processes", "memory by call", as(pid), all, nil},
		{"the user's session", "terminal", func(h *house) string { return h.terminal() }, all, nil},
		{"the user's session", "keyring", func(h *house) string { return h.key() }, all, nil},
		{"the user's session", "shared memory", func(h *house) string { return h.segment() }, all, nil},
		{"the user's session", "queue", func(h *house) string { return h.queue() }, all, nil},
		{"ways around paths", "append", func(h *house) string { return "/proc/self/root" + h.path("outside/file") }, all, outsideIsUntouched},
		{"ways around paths", "append", func(h *house) string { return "/proc/self/cwd/../outside/file" }, all, outsideIsUntouched},
		{"ways around paths", "handle", at("outside/file"), all, nil},
		{"ways around paths", "program in memory", at("outside/new"), all, nil},
		{"ways around the filters", "userfaultfd", as(""), all, nil},
		{"ways around the filters", "bpf", as(""), all, nil},
		{"ways around the filters", "perf", as(""), all, nil},
		{"ways around the filters", "io_uring", as(""), all, nil},
		{"ways around the filters", "vsock", as(""), all, nil},
	} {
		t.Run(a.weakness+"/"+a.name, func(t *testing.T) {
			h := newHouse(t)
			if ok, said := h.attack(h.sandbox(sandbox.Off), a.name, a.on(h)); !ok {
				if slices.Contains(hardened, a.name) {
					t.Skipf("this machine stops it by itself: %s", said)
				}
				t.Errorf("without a sandbox it %s", said)
			}
			for _, mode := range append(modes, ownLandlock) {
				t.Run(mode, func(t *testing.T) {
					if a.only != "" && a.only != mode {
						t.Skip("this mode does not promise it")
					}
					h := newHouse(t)
					if ok, _ := h.attack(h.sandbox(mode), a.name, a.on(h)); ok {
						t.Error("it succeeded")
					}
					if a.after != nil && !a.after(h) {
						t.Error("it had an effect")
					}
				})
			}
		})
	}
}

// What commands are for still works.
func TestWork(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			s := h.sandbox(mode)
			for _, c := range []struct{ name, script, want string }{
				{"write in the workspace", "echo a >new && cat new && rm new && mkdir -p x/y && mv file x/y && ls x/y", "a\nfile"},
				{"git's files", "cat .git/HEAD", "secret work/.git/HEAD"},
				{"read elsewhere", "cat " + h.path("outside/file"), "secret outside/file"},
				{"the pod's spool", "cat " + h.path("state/spool/p/out"), "secret state/spool/p/out"},
				{"a place for temporary files", "f=$(mktemp) && echo b >$f && cat $f", "b"},
				{"pipes and devices", "echo c | cat; head -c 3 /dev/zero | tr '\\0' z; echo >/dev/null", "c\nzzz"},
				{"where it is", "pwd", h.path("work")},
				{"a descriptor's name", "cat <<E | cat /dev/fd/0\nd\nE", "d"},
				{"its exit status", "exit 0", ""},
			} {
				if out := h.run(s, "", "/bin/sh", "-c", c.script); out != c.want {
					t.Errorf("%s: %q, want %q", c.name, out, c.want)
				}
			}
		})
	}
}

// One command leaves nothing to the next, which has a sandbox of its own.
func TestNothingPassesFromOneCommandToTheNext(t *testing.T) {
	h := newHouse(t)
	s := h.sandbox(sandbox.Bwrap)
	for _, c := range []struct{ name, first, second, want string }{
		{"shared memory", "echo a >/dev/shm/a; ls /dev/shm", "ls /dev/shm", "a"},
		{"a hidden directory", "echo a >" + h.path("home/.ssh/a") + "; ls " + h.path("home/.ssh"), "ls " + h.path("home/.ssh"), "a"},
		{"what covers podd's files", "echo a >" + h.path("state/spool/a") + "; ls " + h.path("state/spool"), "ls " + h.path("state/spool"), "a\np"},
		{"a process", "setsid sleep 100 & until ps -eo comm | grep -c sleep; do :; done", "ps -eo comm | grep -c sleep", "1"},
		{"memory of System V", "ipcmk -M 4096 >/dev/null; ipcs -m | grep -c '^0x'", "ipcs -m | grep -c '^0x'", "1"},
		{"a socket", "python3 -c 'import socket,os,time; s=socket.socket(socket.AF_UNIX); s.bind(chr(0)+\"left\"); s.listen(); os.system(\"grep -c @left /proc/net/unix\")'", "grep -c @left /proc/net/unix", "1"},
		{"the environment", "export LEFT=a; echo $LEFT", "echo $LEFT", "a"},
	} {
		first, second := h.run(s, "", "/bin/sh", "-c", c.first), h.run(s, "", "/bin/sh", "-c", c.second)
		if !strings.Contains(first, c.want) || strings.Contains(second, c.want) {
			t.Errorf("%s: %q, then %q", c.name, first, second)
		}
	}
	if out := h.run(s, "", "/bin/sh", "-c", "ls -l /proc/self/fd >$TMPDIR/fds 2>&1; grep -c -e pipe: -e socket: -e job -e ns/ -e mnt: -e user: $TMPDIR/fds"); out != "0" {
		t.Errorf("a command has %s descriptors that are not its own", out)
	}
	if out := h.run(s, "", "/bin/sh", "-c", "grep -e Cap -e NoNew -e Seccomp: /proc/self/status /proc/1/status | tr -d '\t' | cut -d: -f2- | sort -u"); out != "CapAmb:0000000000000000\nCapBnd:0000000000000000\nCapEff:0000000000000000\nCapInh:0000000000000000\nCapPrm:0000000000000000\nNoNewPrivs:1\nSeccomp:2" {
		t.Errorf("its privileges are %s", out)
	}
}

func TestReadIsAListOnceItIsSet(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			open := h.sandbox(mode)
			if ok, said := h.attack(open, "read", h.path("outside/file")); !ok {
				t.Errorf("with no list: %s", said)
			}
			h.config.Read = []string{h.path("home")}
			listed := h.sandbox(mode)
			if ok, _ := h.attack(listed, "read", h.path("outside/file")); ok {
				t.Error("a file that is not on the list was read")
			}
			for _, path := range []string{"home/.ssh/id", "work/file", "state/spool/p/out"} {
				if path == "home/.ssh/id" {
					h.config.Read = append(h.config.Read, h.path("home/.ssh"))
					listed = h.sandbox(mode)
				}
				if ok, said := h.attack(listed, "read", h.path(path)); !ok {
					t.Errorf("%s: %s", path, said)
				}
			}
			if ok, _ := h.attack(listed, "read", h.path("state/client.token")); ok {
				t.Error("podd's token was read")
			}
		})
	}
}

func TestWriteAndNetworkWhenConfigured(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			h.config.Network, h.config.Write = true, []string{h.path("outside")}
			s := h.sandbox(mode)
			for _, name := range []string{"tcp", "udp"} {
				if ok, said := h.attack(s, name, h.listen(name, "127.0.0.1:0")); !ok {
					t.Errorf("%s: %s", name, said)
				}
			}
			if ok, said := h.attack(s, "append", h.path("outside/file")); !ok {
				t.Error(said)
			}
			// The network gives no access to sockets of this machine.
			if ok, _ := h.attack(s, "unix", h.listen("unix", h.path("state/podd.sock"))); ok {
				t.Error("podd's socket was reached")
			}
		})
	}
}

// A command that must change nothing reads its workspace and writes to its /tmp alone, whatever
// the pod may write otherwise, and has no network.
func TestReadOnlyCommandsChangeNothing(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			h.config.Network, h.config.Write = true, []string{h.path("outside")}
			s := h.sandbox(mode)
			scope, done := h.scope()
			defer done()
			scope.ReadOnly = true
			if out := h.runIn(s, scope, "", "/bin/sh", "-c", "cat file && f=$(mktemp) && echo a >$f && cat $f && rm $f"); out != "secret work/filea" && out != "secret work/file\na" {
				t.Errorf("reading and temporary files: %q", out)
			}
			for _, in := range []string{"work", "outside"} {
				file, fresh := h.path(in+"/file"), h.path(in+"/new")
				for name, script := range map[string]string{
					"append": "echo a >>" + file, "truncate": ": >" + file, "create": "echo a >" + fresh, "directory": "mkdir " + fresh, "remove": "rm -f " + file,
					"rename": "mv " + file + " " + fresh, "hard link": "ln " + file + " " + fresh, "link": "ln -s a " + fresh, "pipe": "mkfifo " + fresh,
					"mode": "chmod 777 " + file, "mode of the directory": "chmod 777 " + h.path(in), "time": "touch -d 2001-01-01 " + file, "copied out": "cp -p " + file + " $TMPDIR/a && mv $TMPDIR/a " + file,
				} {
					before := h.look(in)
					out := h.runIn(s, scope, "", "/bin/sh", "-c", "{ "+script+"; } 2>&1 && echo it worked")
					if strings.HasSuffix(out, "it worked") || h.look(in) != before {
						t.Errorf("%s in %s: %q; before\n%s\nafter\n%s", name, in, out, before, h.look(in))
					}
				}
			}
			if out := h.runIn(s, scope, "tcp|"+h.listen("tcp", "127.0.0.1:0"), h.binary); !strings.HasPrefix(out, "failed: ") {
				t.Errorf("network: %q", out)
			}
		})
	}
}

// look is what a person sees of the files of a directory: names, modes, times, sizes.
func (h *house) look(dir string) string {
	h.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(h.path(dir), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.ModTime(), info.Size())
		}
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
	return b.String()
}
