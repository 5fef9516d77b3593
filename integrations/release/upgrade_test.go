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

// The next version of the Debian package replaces the files of a podd at work.
func TestDebianUpgrade(t *testing.T) {
	root, dpkg := debian(t)
	older := released(t, "podd_*.deb")
	newer := nextVersion(t, older)
	dpkg("--install", older)
	upgradeAtWork(t, root, func() {
		dpkg("--install", newer)
		if said := dpkg("--verify", "podd"); said != "" {
			t.Errorf("installed otherwise than packed: %s", said)
		}
	}, func() { dpkg("--purge", "podd") })
}

// So does that of Fedora.
func TestFedoraUpgrade(t *testing.T) {
	root, rpm := fedora(t)
	older := released(t, "podd-*.rpm")
	rpm("--install", "--nodeps", "--ignoreos", older)
	newer := nextRPM(t, root, strings.Fields(rpm("--query", "--list", "podd")))
	upgradeAtWork(t, root, func() {
		rpm("--upgrade", "--nodeps", "--ignoreos", newer)
		if said := rpm("--query", "podd"); !strings.HasPrefix(said, "podd-9-1.") {
			t.Errorf("installed is %s", said)
		}
	}, func() { rpm("--erase", "--nodeps", "podd") })
}

// upgradeAtWork upgrades and removes the package of a podd at work. The podd works on. Once it is restarted as its unit
// says, the new one finds the command that ran on. The removal leaves the pods.
func upgradeAtWork(t *testing.T, root string, upgrade, remove func()) {
	t.Helper()
	home, err := os.MkdirTemp("", "podd") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	model, err := scripted.Serve(scripted.Config{Handler: waitsFirst})
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

	upgrade()
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
	remove()
	if _, err := os.Stat(filepath.Join(root, "usr/bin/podd")); err == nil {
		t.Error("the removal left podd")
	}
	if _, err := os.Stat(filepath.Join(home, "s", "podd.db")); err != nil {
		t.Errorf("the removal took the pods: %v", err)
	}
}

// waitsFirst first calls a command that leaves an x and waits for the file gate.
func waitsFirst(_ context.Context, r scripted.Request) scripted.Reply {
	if r.Steps() == 0 {
		return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo x >>ran; until [ -e gate ]; do sleep 0.02; done; echo through"}`})
	}
	return scripted.Say(scripted.Text("on we go"))
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

// nextRPM is a package with the same files, which are installed below root, under a higher version.
func nextRPM(t *testing.T, root string, files []string) string {
	t.Helper()
	dir := t.TempDir()
	spec := filepath.Join(dir, "podd.spec")
	text := "Name: podd\nVersion: 9\nRelease: 1\nSummary: podd\nLicense: Apache-2.0\nAutoReqProv: no\n%description\npodd\n" +
		"%install\nmkdir -p %{buildroot}\ncp -a " + root + "/usr %{buildroot}/\n%files\n" + strings.Join(files, "\n") + "\n"
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rig.Run(t, exec.Command(rig.Need(t, "rpmbuild"), "--quiet", "-bb", "--define", "_topdir "+dir, "--define", "debug_package %{nil}",
		"--define", "__os_install_post %{nil}", "--define", "_build_id_links none", "--define", "_binary_payload w1.gzdio", spec))
	made, err := filepath.Glob(filepath.Join(dir, "RPMS/*/podd-9-1.*.rpm"))
	if err != nil || len(made) != 1 {
		t.Fatalf("rpmbuild made %v, %v", made, err)
	}
	return made[0]
}
