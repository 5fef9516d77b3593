//go:build integrations && linux

package service

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// inside marks a test process with its own mount and process namespaces; its value is the
// directory of the programs. startedBy is the process id of the test outside.
const (
	inside    = "PODD_TEST_INSIDE"
	startedBy = "PODD_TEST_STARTED_BY"
)

// alone runs the test again in its own namespaces, where it can start a user manager that
// no other process meets. It returns whether this process is the second one.
func alone(t *testing.T) bool {
	if os.Getenv(inside) != "" {
		return true
	}
	rig.Need(t, "systemctl")
	if os.Geteuid() != 0 {
		t.Fatal("this test starts a user manager of systemd of its own, for which it must be root")
	}
	cmd := exec.CommandContext(t.Context(), rig.Need(t, "unshare"), "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
		os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"="+rig.Binaries(t), startedBy+"="+strconv.Itoa(os.Getpid()))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// All processes of the namespace end with the first of them.
	for _, root := range groupRoots {
		_ = exec.Command("find", filepath.Join(root, group(os.Getpid())), "-depth", "-type", "d", "-exec", "rmdir", "{}", ";").Run()
	}
	return false
}

// groupRoots are the directories that may contain control groups.
var groupRoots = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"}

// group names the control group of the test that the process startedBy started.
func group(pid int) string { return "podd-test-" + strconv.Itoa(pid) }

// home is a user with a user manager and a model.
type home struct {
	t *testing.T
	// dir is the home directory, bin the directory of installed programs, work a workspace.
	dir, bin, work string
	env            []string
	model          *scripted.Server
}

func newHome(t *testing.T, h scripted.Handler) *home {
	t.Helper()
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=0755"); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "home") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	u := &home{t: t, dir: dir, bin: filepath.Join(dir, "bin"), work: filepath.Join(dir, "work")}
	// systemd needs this directory to see that the system runs systemd.
	for _, d := range []string{"/run/systemd/system", u.bin, u.work, filepath.Join(dir, ".config", "podd")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("/run/user", 0o700); err != nil {
		t.Fatal(err)
	}
	if u.model, err = scripted.Serve(scripted.Config{Handler: h}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.model.Close() })
	config := "base_url = '" + u.model.URL() + "'\nask = 'never'\n"
	if err := os.WriteFile(filepath.Join(dir, ".config", "podd", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	u.env = []string{"HOME=" + dir, "XDG_RUNTIME_DIR=/run/user", "PATH=" + u.bin + ":/usr/bin:/bin", "LANG=C.UTF-8"}
	u.put("podd")
	u.put("podctl")
	return u
}

// put installs a program the way an update does: as a new file under the old name.
func (u *home) put(program string) {
	u.t.Helper()
	from, to := filepath.Join(os.Getenv(inside), program), filepath.Join(u.bin, program)
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to+".new", data, 0o755)
	}
	if err == nil {
		err = os.Rename(to+".new", to)
	}
	if err != nil {
		u.t.Fatal(err)
	}
}

// login starts the user manager.
func (u *home) login() {
	u.t.Helper()
	ownGroup(u.t)
	cmd := exec.Command("/lib/systemd/systemd", "--user", "--unit=basic.target")
	cmd.Env = append(u.env, "SYSTEMD_LOG_TARGET=console", "SYSTEMD_LOG_LEVEL=notice")
	cmd.Stdout, cmd.Stderr = u.t.Output(), u.t.Output()
	if err := cmd.Start(); err != nil {
		u.t.Fatalf("the user manager of systemd does not start (%v): install systemd", err)
	}
	u.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	rig.Await(u.t, "the user manager", func() bool {
		_, err := u.try("systemctl", "--user", "is-system-running")
		return err == nil
	})
}

// ownGroup moves this process into its own control group, below which the user manager
// creates those of its services.
func ownGroup(t *testing.T) {
	t.Helper()
	pid, _ := strconv.Atoi(os.Getenv(startedBy))
	for _, root := range groupRoots {
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil {
			continue
		}
		dir := filepath.Join(root, group(pid))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0o600)
		}
		if err != nil {
			t.Fatalf("the user manager of systemd needs a control group of its own, which can't be made here: %v", err)
		}
	}
}

func (u *home) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path := name
	if own := filepath.Join(u.bin, name); name == "podd" || name == "podctl" {
		path = own
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Env, c.Dir = u.env, u.work
	return c
}

// try runs a program and returns its output.
func (u *home) try(name string, args ...string) (string, error) {
	out, err := u.command(u.t.Context(), name, args...).CombinedOutput()
	return string(out), err
}

// run runs a program that must succeed and print all of want.
func (u *home) run(want []string, name string, args ...string) string {
	u.t.Helper()
	out, err := u.try(name, args...)
	if err != nil {
		u.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	u.says(out, want...)
	return out
}

// fails runs a program that must fail and print all of want.
func (u *home) fails(want []string, name string, args ...string) {
	u.t.Helper()
	out, err := u.try(name, args...)
	if err == nil {
		u.t.Fatalf("%s %s succeeds:\n%s", name, strings.Join(args, " "), out)
	}
	u.says(out, want...)
}

func (u *home) says(out string, want ...string) {
	u.t.Helper()
	for _, w := range want {
		if !strings.Contains(out, w) {
			u.t.Errorf("%q is not in:\n%s", w, out)
		}
	}
}

// property is a property of the service, as the manager reports it.
func (u *home) property(name string) string {
	u.t.Helper()
	return strings.TrimSpace(u.run(nil, "systemctl", "--user", "show", "podd.service", "--property="+name, "--value"))
}
