//go:build integrations

package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"podd/integrations/rig"
	"podd/internal/web/webtest"
	"podd/pkg/llm/scripted"
)

// machine is a program that has podd web and an sshd in a network of their own: it starts both,
// and an sshd for each connection at a Unix socket.
const machine = `
import socket, subprocess, sys
at, port, sshd, config = sys.argv[1:]
subprocess.Popen(["podd", "web", "--listen", "127.0.0.1:" + port])
s = socket.socket(socket.AF_UNIX)
s.bind(at)
s.listen()
while True:
    c, _ = s.accept()
    subprocess.Popen([sshd, "-i", "-e", "-f", config], stdin=c, stdout=c)
    c.close()
`

// A person lets the browser of this machine in to the page of another one, through a real
// sshd: the same port leads there, over a cut connection too, and only if it is free.
func TestPageOfAnotherMachine(t *testing.T) {
	w := rig.New(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say() })
	w.Podctl("create", "p", "--dir", w.Workspace)
	_, port, _ := net.SplitHostPort(rig.Address())
	taken, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	line := serveSSH(t, w, func(program, config string) func() (net.Conn, error) {
		at := filepath.Join(w.Dir, "ssh.sock")
		args := []string{"--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"}
		if os.Geteuid() == 0 {
			args = append(args, "--cap-add", "ALL")
		}
		there := w.Command("bwrap", append(args, rig.Need(t, "python3"), "-c", machine, at, port, program, config)...)
		var said rig.Buffer
		there.Stdout, there.Stderr = &said, &said
		there.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := there.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = syscall.Kill(-there.Process.Pid, syscall.SIGKILL) // podd web is a process of the group.
			_ = there.Wait()
			if t.Failed() {
				t.Logf("the other machine: %s", said.String())
			}
		})
		return func() (net.Conn, error) { return net.Dial("unix", at) }
	})
	rig.Await(t, "the page", func() bool { return strings.Contains(w.Podctl("web", "status"), "page: http://127.0.0.1:"+port) })

	out, _, ended := pairThere(t, w, line)
	<-ended
	if want := "needs 127.0.0.1:" + port + " on this machine, which is taken"; !strings.Contains(out.String(), want) {
		t.Errorf("with the port taken: %s", out.String())
	}
	_ = taken.Close()
	out, typed, ended := pairThere(t, w, line)
	shown := regexp.MustCompile(`type the code ([A-Z]{10});`)
	rig.Await(t, "the code", func() bool { return shown.MatchString(out.String()) })
	code := shown.FindStringSubmatch(out.String())[1]
	page := &webtest.Page{T: t, Origin: "http://127.0.0.1:" + port, Client: &http.Transport{}}
	t.Cleanup(page.Client.CloseIdleConnections)
	if a := page.Document(); a.Status != http.StatusOK {
		t.Fatalf("the page is %d %v", a.Status, a.Err)
	}
	b := webtest.New(page)
	stream := b.Ask(code)
	if _, last := stream.Next(); last {
		t.Fatal("the code is refused")
	}
	b.Reveal(code)
	rig.Await(t, "the number", func() bool { return strings.Contains(out.String(), "same number?") })
	typed("y\r")
	m, _ := stream.Next()
	if id := regexp.MustCompile(`"id":"([0-9a-f]+)"`).FindSubmatch(m.Body); id != nil {
		b.Device = string(id[1])
	}
	rig.Await(t, "the word that it goes on", func() bool { return strings.Contains(out.String(), "until you press Ctrl-C") })
	bearer := b.Login()
	get := func() int { return b.Call("/podd.v1.PodService/GetPod", bearer, `{"pod":"p"}`).Status }
	if got := get(); got != http.StatusOK {
		t.Errorf("the pod is answered with %d", got)
	}
	line.cut()
	rig.Await(t, "the page after a cut", func() bool { return get() == http.StatusOK })
	typed("\x03")
	<-ended
	rig.Await(t, "the end of ssh", func() bool { return line.open() == 0 })
}

// pairThere is podctl web pair of the other machine, at a terminal.
func pairThere(t *testing.T, w *rig.World, line *wire) (out *rig.Buffer, typed func(string), ended <-chan struct{}) {
	t.Helper()
	c := w.Command("podctl", "web", "pair")
	c.Env = append(line.env(append([]string(nil), c.Env...)), "PODD_HOST="+line.host, "PODD_STATE_DIR="+t.TempDir(), "TERM=xterm")
	terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	out, done := new(rig.Buffer), make(chan struct{})
	go func() {
		defer close(done)
		// Linux returns EIO for a terminal that no process has open.
		if _, err := io.Copy(out, terminal); err != nil && !errors.Is(err, syscall.EIO) {
			t.Error(err)
		}
		if err := c.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Error(err)
		}
		_ = terminal.Close()
	}()
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		<-done
	})
	return out, func(keys string) { fmt.Fprint(terminal, keys) }, done
}
