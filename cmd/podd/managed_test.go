package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// serviceManager acts as systemd: it listens at podd's socket, passes it on and receives
// podd's messages.
type serviceManager struct {
	t      *testing.T
	state  string
	socket string
	listen *net.UnixListener
	notify *net.UnixConn
}

func newServiceManager(t *testing.T) *serviceManager {
	t.Helper()
	m := &serviceManager{t: t, state: stateDir(t)}
	run := stateDir(t)
	m.socket = filepath.Join(run, "podd.sock")
	var err error
	if m.listen, err = net.ListenUnix("unix", &net.UnixAddr{Name: m.socket, Net: "unix"}); err != nil {
		t.Fatal(err)
	}
	m.listen.SetUnlinkOnClose(false)
	if err := os.Chmod(m.socket, 0o600); err != nil {
		t.Fatal(err)
	}
	if m.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(run, "notify"), Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = m.listen.Close(), m.notify.Close() })
	return m
}

// file is the descriptor of a listener or a connection.
func file(t *testing.T, from interface{ File() (*os.File, error) }) *os.File {
	t.Helper()
	f, err := from.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// start starts podd with the descriptors as sd_listen_fds(3) specifies: from 3 on, for
// the process with podd's id.
func (m *serviceManager) start(baseURL string, pass []*os.File, args ...string) *process {
	m.t.Helper()
	argv := append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`, os.Args[0], "--state-dir", m.state}, args...)
	cmd := exec.Command("sh", argv...)
	cmd.ExtraFiles = pass
	cmd.Env = []string{
		runAsPodd + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + m.state, "OPENAI_BASE_URL=" + baseURL,
		"GORACE=exitcode=99 atexit_sleep_ms=0", "NOTIFY_SOCKET=" + filepath.Join(filepath.Dir(m.socket), "notify"),
		"LISTEN_FDS=" + string(rune('0'+len(pass))), "LISTEN_FDNAMES=podd.socket" + strings.Repeat(":more", max(0, len(pass)-1)),
	}
	return startProcess(m.t, m.state, cmd)
}

// hears waits for the next message.
func (m *serviceManager) hears(want string) {
	m.t.Helper()
	b := make([]byte, 4096)
	n, err := m.notify.Read(b)
	if err != nil || !strings.HasPrefix(string(b[:n]), want) {
		m.t.Fatalf("the service manager heard %q, %v, not %q", b[:n], err, want)
	}
}

// client waits for an answer as long as the test runs: podd may not have started yet.
func (m *serviceManager) client() *client.Client {
	m.t.Helper()
	c, err := client.New(client.Config{Socket: m.socket, StateDir: m.state})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = c.Close() })
	return c
}

// Under a service manager podd answers at the socket that it received, and reports when
// it is ready, reloads and stops. Its commands learn nothing of that. podd leaves the
// socket in place: the next podd answers clients that connect in between.
func TestServiceManager(t *testing.T) {
	m := newServiceManager(t)
	url := model(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("hello")) })
	seen := filepath.Join(m.state, "seen")
	config := filepath.Join(m.state, "podd.toml")
	text := "[[hook]]\nname = 'look'\non = ['turn_ended']\nenv = ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', 'NOTIFY_SOCKET']\n" +
		"command = '{ env; ls -l /proc/self/fd /dev/fd/; } > " + seen + ".new 2>&1; mv " + seen + ".new " + seen + "'\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := m.start(url, []*os.File{file(t, m.listen)}, "--config", config)
	m.hears("READY=1\nSTATUS=answers at " + m.socket)
	c := m.client()
	status, err := c.Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
	if err != nil || status.GetSocket() != m.socket {
		t.Fatalf("%v, %v", status, err)
	}
	createAndSubmit(t, c, t.TempDir())
	until(t, c, turnEnded(1))
	checkUntold(t, p, seen)

	p.signal(syscall.SIGHUP)
	m.hears("RELOADING=1")
	m.hears("READY=1\nSTATUS=answers at " + m.socket)
	if err := os.WriteFile(config, []byte("modell = 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	m.hears("RELOADING=1")
	m.hears("READY=1\nSTATUS=answers; the configuration was not reloaded: " + config + ":1: unknown key modell; did you mean model?")
	p.signal(syscall.SIGTERM)
	m.hears("STOPPING=1\nSTATUS=running turns end")
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d: %s", code, p.log.String())
	}

	answered := make(chan error, 1)
	go func() {
		_, err := m.client().Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
		answered <- err
	}()
	m.start(url, []*os.File{file(t, m.listen)})
	m.hears("READY=1")
	if err := <-answered; err != nil {
		t.Errorf("who came before podd: %v", err)
	}
}

// A passed socket that was removed is for the service manager to recreate: podd reports
// it and keeps serving its connections.
func TestPassedSocketIsTaken(t *testing.T) {
	t.Parallel()
	m := newServiceManager(t)
	p := m.start("http://127.0.0.1:1/v1", []*os.File{file(t, m.listen)})
	m.hears("READY=1")
	c := m.client()
	if _, err := c.Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.socket); err != nil {
		t.Fatal(err)
	}
	p.await("systemctl --user restart podd.socket podd.service")
	alerts, err := c.Alerts().ListAlerts(t.Context(), &poddv1.ListAlertsRequest{})
	if err != nil || len(alerts.GetAlerts()) != 1 || !strings.Contains(alerts.GetAlerts()[0].GetText(), "was removed") {
		t.Errorf("%v, %v", alerts, err)
	}
	if _, err := os.Lstat(m.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("podd made a socket that is not its own: %v", err)
	}
}

// A file that can't be podd's socket is refused with one sentence, and left alone.
func TestPassedSocketIsUnfit(t *testing.T) {
	m := newServiceManager(t)
	good := func() []*os.File { return []*os.File{file(t, m.listen)} }
	listen := func(network, address string) []*os.File {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return []*os.File{file(t, l.(interface{ File() (*os.File, error) }))}
	}
	plain, err := os.Create(filepath.Join(m.state, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	client, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: m.socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	accepted, err := m.listen.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	open := filepath.Join(m.state, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	abstract := "@podd-test-" + filepath.Base(filepath.Dir(m.state)) + filepath.Base(m.state)
	for name, tt := range map[string]struct {
		pass []*os.File
		args []string
		want string
		code int
	}{
		"a file":            {[]*os.File{plain}, nil, "which is not a socket", exitFailed},
		"TCP":               {listen("tcp", "127.0.0.1:0"), nil, "not a Unix stream socket", exitFailed},
		"datagrams":         {[]*os.File{file(t, m.notify)}, nil, "not a Unix stream socket", exitFailed},
		"no path":           {listen("unix", abstract), nil, "without a path", exitFailed},
		"a connection":      {[]*os.File{file(t, accepted)}, nil, "Accept=no", exitFailed},
		"two":               {append(good(), good()...), nil, "passed 2 sockets", exitUsage},
		"another by flag":   {good(), []string{"--socket", filepath.Join(m.state, "other.sock")}, "make them the same", exitUsage},
		"an open directory": {listen("unix", filepath.Join(open, "s")), nil, "is open to other users", exitFailed},
		"open to others":    {listen("unix", filepath.Join(m.state, "wide.sock")), nil, "set SocketMode=0600", exitFailed},
	} {
		p := m.start("http://127.0.0.1:1/v1", tt.pass, append(tt.args, "--log-level", "error")...)
		code, log := p.wait(), p.log.String()
		if code != tt.code || !strings.HasPrefix(log, "podd: ") || strings.Count(log, "\n") != 1 || !strings.Contains(log, tt.want) {
			t.Errorf("%s: exit code %d, %s", name, code, log)
		}
	}
	if _, err := os.Lstat(m.socket); err != nil {
		t.Error(err)
	}
}

// checkUntold checks the environment of a command of podd's.
func checkUntold(t *testing.T, p *process, path string) {
	t.Helper()
	var text []byte
	err := os.ErrNotExist
	for ; errors.Is(err, os.ErrNotExist); text, err = os.ReadFile(path) {
		select {
		case <-p.exited:
			t.Fatal("podd ended:", p.log.String())
		default:
		}
	}
	for _, not := range []string{"LISTEN_", "NOTIFY_", "socket:"} {
		if strings.Contains(string(text), not) || !strings.Contains(string(text), "PODD_") {
			t.Errorf("a command of podd's has %s:\n%s", not, text)
		}
	}
}
