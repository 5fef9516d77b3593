//go:build integrations && linux

package release

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// The next version of the Debian package replaces the files of a podd at work, which works on. Once it
// is restarted as its unit says, the new one finds the command that ran on.
func TestDebianUpgrade(t *testing.T) {
	root, dpkg := debian(t)
	older := released(t, "podd_*.deb")
	newer := nextVersion(t, older)
	dpkg("--install", older)

	home, err := os.MkdirTemp("", "podd") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	model, err := scripted.Serve(scripted.Config{Handler: func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo x >>ran; until [ -e gate ]; do sleep 0.02; done; echo through"}`})
		}
		return scripted.Say(scripted.Text("on we go"))
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	program := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(root, "usr/bin", name), args...)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "PODD_STATE_DIR=" + filepath.Join(home, "s"), "OPENAI_BASE_URL=" + model.URL()}
		return cmd
	}
	start := func() *exec.Cmd {
		podd := program("podd", "--log-format", "text")
		var log rig.Buffer
		podd.Stderr = &log
		if err := podd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = podd.Process.Kill(); _ = podd.Wait() })
		rig.Await(t, "podd", func() bool { return strings.Contains(log.String(), "podd ready") })
		return podd
	}
	podd := start()
	rig.Run(t, program("podctl", "create", "p", "--dir", work, "--ask", "never"))
	rig.Run(t, program("podctl", "submit", "-p", "p", "--no-stdin", "go"))
	ran := filepath.Join(work, "ran")
	rig.Await(t, "the command", func() bool { _, err := os.Stat(ran); return err == nil })

	dpkg("--install", newer)
	if said := dpkg("--verify", "podd"); said != "" {
		t.Errorf("installed otherwise than packed: %s", said)
	}
	rig.Run(t, program("podctl", "submit", "-p", "p", "--no-stdin", "and on"))
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/user/podd.service"))
	if err != nil || !bytes.Contains(unit, []byte("\nRestartKillSignal=SIGUSR1\n")) {
		t.Errorf("the unit is %s, %v", unit, err)
	}
	_ = podd.Process.Signal(syscall.SIGUSR1)
	if err := podd.Wait(); err != nil {
		t.Error(err)
	}
	podd = start()
	if err := os.WriteFile(filepath.Join(work, "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the second turn", func() bool {
		return strings.Contains(rig.Run(t, program("podctl", "tail", "p", "--after", "0")), "turn 2 finished")
	})
	log := rig.Run(t, program("podctl", "tail", "p", "--after", "0"))
	if text, err := os.ReadFile(ran); string(text) != "x\n" || err != nil || !strings.Contains(log, "through") {
		t.Errorf("the command wrote %q, %v, and the log is\n%s", text, err, log)
	}
	_ = podd.Process.Signal(syscall.SIGTERM)
	if err := podd.Wait(); err != nil {
		t.Error(err)
	}
	dpkg("--purge", "podd")
	if _, err := os.Stat(filepath.Join(home, "s", "podd.db")); err != nil {
		t.Errorf("the purge took the pods: %v", err)
	}
}

// nextVersion is a package with the same files under a higher version.
func nextVersion(t *testing.T, pkg string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "podd")
	rig.Run(t, exec.Command(rig.Need(t, "dpkg-deb"), "--raw-extract", pkg, dir))
	control := filepath.Join(dir, "DEBIAN/control")
	text, err := os.ReadFile(control)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("\nVersion: "), []byte("\nVersion: 1:"), 1)
	if err := os.WriteFile(control, text, 0o600); err != nil {
		t.Fatal(err)
	}
	rig.Run(t, exec.Command("dpkg-deb", "--root-owner-group", "--build", dir))
	return dir + ".deb"
}
