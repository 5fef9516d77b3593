//go:build integrations

package shell

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// A person at another machine works with a pod through a real sshd, and follows it over a
// cut connection and a podd that is killed.
func TestAnotherMachine(t *testing.T) {
	w := rig.New(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Text("You said: " + r.LastUser()))
	})
	line := serveSSH(t, w, nil)
	there := func(args ...string) *exec.Cmd {
		c := w.Command("podctl", args...)
		c.Env = append(line.env(c.Env), "PODD_HOST="+line.host, "PODD_STATE_DIR="+t.TempDir())
		return c
	}
	rig.Run(t, there("create", "p", "--dir", w.Workspace))
	if out := rig.Run(t, there("submit", "-p", "p", "-f", "good morning")); !strings.Contains(out, "You said: good morning") {
		t.Fatalf("the answer is not there:\n%s", out)
	}
	tail := there("tail", "p", "-f", "--after", "0")
	var out, errs rig.Buffer
	tail.Stdout, tail.Stderr = &out, &errs
	if err := tail.Start(); err != nil {
		t.Fatal(err)
	}
	says := func(text string) {
		t.Helper()
		w.Podctl("submit", "-p", "p", "-f", text)
		rig.Await(t, text+"\n"+errs.String(), func() bool { return strings.Contains(out.String(), "You said: "+text) })
	}
	says("one")
	line.cut()
	says("two")
	w.Kill()
	w.Start()
	says("three")
	if n := strings.Count(out.String(), "You said: two"); n != 1 {
		t.Errorf("an answer came %d times:\n%s", n, out.String())
	}
	_ = tail.Process.Signal(os.Interrupt)
	_ = tail.Wait()
	rig.Await(t, "the end of ssh", func() bool { return line.open() == 0 })
}

// What is wrong on the way to the other podd is said with what to do about it.
func TestNoWayToAnotherMachine(t *testing.T) {
	w := rig.New(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say() })
	line := serveSSH(t, w, nil)
	_, way, _ := strings.Cut(line.host, "://")
	person, address, _ := strings.Cut(way, "@")
	_, port, _ := net.SplitHostPort(address)
	says := func(want, host, options string) {
		t.Helper()
		// ssh takes the first value of each option.
		dir := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\nexec %s/ssh %s \"$@\"\n", line.dir, options)
		if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		there := &wire{dir: dir}
		c := w.Command("podctl", "-H", host, "list")
		c.Env = append(there.env(line.env(c.Env)), "PODD_STATE_DIR="+t.TempDir())
		out, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s\ndoes not have\n%s", host, err, out, want)
		}
	}
	command := "`ssh -p " + port + " " + person + "@127.0.0.1`"
	says("run "+command+" at a terminal to check the key of that machine (Host key verification failed.)", line.host, "-o StrictHostKeyChecking=yes -o UserKnownHostsFile=/dev/null")
	says("ssh can ask for no password here: load a key with ssh-add until "+command+" asks nothing ("+person+"@127.0.0.1: Permission denied", line.host, "-o PubkeyAuthentication=no")
	says("see whether `ssh nobody.invalid` works (ssh: Could not resolve hostname", "ssh://nobody.invalid", "")
	w.Kill()
	says("on "+line.host+": cannot reach podd at "+w.Socket(), line.host, "")
	says("start it with `podd &`", line.host, "")
}

// wire is an sshd, and the way to it, which can be cut.
type wire struct {
	host, dir string
	// up connects to the sshd.
	up func() (net.Conn, error)

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// env has ssh use this test's keys.
func (l *wire) env(env []string) []string {
	for i, v := range env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			env[i] = "PATH=" + l.dir + string(os.PathListSeparator) + path
		}
	}
	return env
}

func (l *wire) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close()
	}
}

func (l *wire) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// serveSSH starts an sshd on this machine. elsewhere, if it is not nil, starts one instead with a
// configuration and returns how to connect to it.
func serveSSH(t *testing.T, w *rig.World, elsewhere func(program, config string) func() (net.Conn, error)) *wire {
	t.Helper()
	program, ssh := rig.Need(t, "/usr/sbin/sshd"), rig.Need(t, "ssh")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"host", "person"} {
		rig.Run(t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)))
	}
	sshd := rig.Address()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, port, _ := net.SplitHostPort(sshd)
	var set []string
	for _, v := range w.Env {
		name, value, _ := strings.Cut(v, "=")
		set = append(set, fmt.Sprintf("%s=%q", name, value))
	}
	write("sshd_config", fmt.Sprintf("ListenAddress %s\nPort %s\nHostKey %s/host\nAuthorizedKeysFile %s/person.pub\nStrictModes no\nPidFile none\nUsePAM no\nSetEnv %s\n",
		address, port, dir, dir, strings.Join(set, " ")), 0o600)
	write("ssh_config", fmt.Sprintf("IdentityFile %s/person\nIdentitiesOnly yes\nStrictHostKeyChecking accept-new\nUserKnownHostsFile %s/known\n", dir, dir), 0o600)
	// ssh reads its configuration below the home directory of the system's list of users.
	write("ssh", fmt.Sprintf("#!/bin/sh\nexec %s -F %s/ssh_config \"$@\"\n", ssh, dir), 0o700)
	if os.Geteuid() == 0 {
		_ = os.MkdirAll("/run/sshd", 0o755) // Where the package's service would have made it.
	}
	config := filepath.Join(dir, "sshd_config")
	up := func() (net.Conn, error) { return net.Dial("tcp", sshd) }
	if elsewhere != nil {
		up = elsewhere(program, config)
	} else {
		runSSHD(t, program, config)
	}
	l := &wire{host: fmt.Sprintf("ssh://%s@%s", me.Username, front.Addr()), dir: dir, up: up, conns: make(map[net.Conn]bool)}
	var relays sync.WaitGroup
	relays.Go(func() {
		for {
			conn, err := front.Accept()
			if err != nil {
				return
			}
			relays.Go(func() { l.relay(conn) })
		}
	})
	t.Cleanup(func() {
		_ = front.Close()
		l.cut()
		relays.Wait()
	})
	return l
}

// runSSHD runs an sshd until the test ends.
func runSSHD(t *testing.T, program, config string) {
	t.Helper()
	daemon := exec.Command(program, "-D", "-e", "-f", config)
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var log rig.Buffer
	daemon.Stderr = &log
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
		if t.Failed() {
			t.Logf("sshd: %s", log.String())
		}
	})
	rig.Await(t, "sshd", func() bool { return strings.Contains(log.String(), "Server listening") })
}

func (l *wire) relay(conn net.Conn) {
	defer conn.Close()
	up, err := l.up()
	if err != nil {
		return
	}
	defer up.Close()
	l.mu.Lock()
	l.conns[conn] = true
	l.mu.Unlock()
	go func() {
		_, _ = io.Copy(up, conn)
		_ = up.Close()
	}()
	_, _ = io.Copy(conn, up)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
}
