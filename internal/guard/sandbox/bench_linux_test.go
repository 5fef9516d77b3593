package sandbox_test

import (
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"podd/internal/commands/process"
	"podd/internal/guard/sandbox"
	"podd/pkg/scopefs"
)

func pointer(p *[120]byte) unsafe.Pointer { return unsafe.Pointer(p) }

// house is a pod's workspace beside other directories, all under its own home directory
// outside of /tmp.
type house struct {
	t testing.TB
	// base has work (the workspace), temp, outside, state (podd's own), and bin.
	base   string
	config sandbox.Config
	binary string
	// limited says that Limit applies to what runs.
	limited bool
	// dies is that of the scope.
	dies bool
	// undone is what the last guard took back.
	undone sandbox.Undone
}

func newHouse(t testing.TB) *house {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp(cache, "podd-sandbox-test-") //nolint:usetesting // t.TempDir is below /tmp, which sandboxes replace
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, base: base}
	for _, dir := range []string{"work/.git/hooks", "work/sub", "temp", "outside", "state/spool/p", "state/spool/q", "bin", "home/.ssh", "run"} {
		if err := os.MkdirAll(h.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"work/file", "work/.git/config", "work/.git/HEAD", "work/.bashrc", "outside/file", "state/client.token", "state/spool/p/out", "state/spool/q/out", "home/.ssh/id"} {
		h.write(file)
	}
	if h.binary, err = attacker(h.path("bin")); err != nil {
		t.Fatal(err)
	}
	h.config = sandbox.Config{
		Hidden:  []string{h.path("state"), h.path("state/podd.sock")},
		Environ: append(os.Environ(), "SSH_AUTH_SOCK="+h.path("run/agent.sock"), "DOCKER_HOST=unix://"+h.path("run/docker.sock"), "DBUS_SESSION_BUS_ADDRESS=unix:path="+h.path("run/bus")+",guid=1"),
	}
	h.config.Environ = append([]string{"HOME=" + h.path("home")}, h.config.Environ...)
	return h
}

func (h *house) path(name string) string { return filepath.Join(h.base, name) }

func (h *house) write(name string) {
	h.t.Helper()
	if err := os.WriteFile(h.path(name), []byte("secret "+name), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// untouched says whether a file is unchanged since write.
func (h *house) untouched(name string) bool {
	text, err := os.ReadFile(h.path(name))
	return err == nil && string(text) == "secret "+name
}

// listen accepts connections at a socket, and answers datagrams.
func (h *house) listen(network, address string) string {
	h.t.Helper()
	if network == "udp" {
		conn, err := net.ListenPacket(network, address)
		if err != nil {
			h.t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			echo(conn)
		}()
		h.t.Cleanup(func() { _ = conn.Close(); <-done })
		return conn.LocalAddr().String()
	}
	l, err := net.Listen(network, address)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// echo answers each datagram with itself, like a DNS server for an unknown name.
func echo(conn net.PacketConn) {
	buffer := make([]byte, 2048)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		if n > 12 {
			buffer[2], buffer[3] = 0x81, 0x83 // A response: no such name.
		}
		_, _ = conn.WriteTo(buffer[:n], from)
	}
}

// sandbox is the sandbox of a mode; a test that needs it fails if this machine has it and
// it does not work.
func (h *house) sandbox(mode sandbox.Mode) *sandbox.Sandbox {
	h.t.Helper()
	c := h.config
	c.Launcher = launched
	if mode == ownLandlock {
		mode, c.Launcher = sandbox.Landlock, nil
	}
	c.Mode = mode
	s := sandbox.Detect(h.t.Context(), c)
	if mode == sandbox.Off || s.Mode() == mode {
		return s
	}
	if why := missing(mode); why != "" {
		h.t.Skipf("%s: %s", mode, why)
	}
	h.t.Fatalf("%s does not work: %s", mode, s.Why())
	return nil
}

// missing says why a machine cannot have a sandbox, empty when it can.
func missing(mode sandbox.Mode) string {
	if mode == sandbox.Landlock {
		if lsm, err := os.ReadFile("/sys/kernel/security/lsm"); err == nil && !strings.Contains(string(lsm), "landlock") {
			return "the kernel runs without Landlock"
		}
		return ""
	}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "bubblewrap is not installed; make test installs it where it can"
	}
	if out, err := exec.Command(path, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true").CombinedOutput(); err != nil {
		return "bubblewrap cannot run here: " + string(out)
	}
	return ""
}

// scope is the workspace's scope.
func (h *house) scope() (sandbox.Scope, func()) {
	h.t.Helper()
	fs, err := scopefs.Open(scopefs.Config{Dir: h.path("work"), Read: []string{h.path("bin"), h.path("state/spool/p")}})
	if err != nil {
		h.t.Fatal(err)
	}
	return sandbox.Scope{Dir: h.path("work"), Roots: fs.Roots(), Temp: h.path("temp"), Show: []string{h.path("state/spool/p")}, Network: h.config.Network, Dies: h.dies}, func() { _ = fs.Close() }
}

// run runs a command in the workspace.
func (h *house) run(s *sandbox.Sandbox, attack string, argv ...string) string {
	h.t.Helper()
	scope, done := h.scope()
	defer done()
	return h.runIn(s, scope, attack, argv...)
}

func (h *house) runIn(s *sandbox.Sandbox, scope sandbox.Scope, attack string, argv ...string) string {
	h.t.Helper()
	if scope.Guard == nil && !scope.Free && s.Confines() {
		var err error
		if scope.Guard, err = s.Guard(scope, nil); err != nil {
			h.t.Fatal(err)
		}
		scope.Guard.Watch(func() (string, error) { return h.path("temp"), nil }, slog.New(slog.DiscardHandler))
		defer func() { h.undone = scope.Guard.End() }()
	}
	c, err := s.Command(scope, 4, argv...)
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	wait, begin, err := os.Pipe()
	if err != nil {
		h.t.Fatal(err)
	}
	defer wait.Close()
	defer begin.Close()
	var out strings.Builder
	cmd := exec.Command("/bin/sh", append([]string{"-c", `read -r go <&3; exec "$@" 3<&-`, "podd"}, c.Args...)...)
	cmd.Dir, cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = scope.Dir, append([]*os.File{wait}, c.Files...), &out, &out
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), attackVariable + "=" + attack}, c.Env...)
	tree, err := process.Start(cmd)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.limited {
		if err := s.Limits().Apply(tree.ID().PID); err != nil {
			h.t.Error(err)
		}
	}
	if _, err := begin.WriteString("go\n"); err != nil {
		h.t.Fatal(err)
	}
	select {
	case <-tree.Exited():
	case <-time.After(30 * time.Second):
		h.t.Errorf("%s hangs", attack)
	}
	tree.Stop(100 * time.Millisecond)
	<-tree.Exited()
	return strings.TrimSpace(out.String())
}

// attack says whether an attack succeeds in a sandbox.
func (h *house) attack(s *sandbox.Sandbox, name, on string) (succeeded bool, said string) {
	h.t.Helper()
	said = h.run(s, name+"|"+on, h.binary)
	if said != "succeeded" && !strings.HasPrefix(said, "failed: ") {
		h.t.Fatalf("the attack %s says %q", name, said)
	}
	return said == "succeeded", said
}
