//go:build integrations && release && linux

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// podman has images, volumes and containers of one test.
type podman struct {
	t   *testing.T
	dir string
}

func newPodman(t *testing.T) podman {
	t.Helper()
	for _, program := range []string{"podman", "runc"} {
		rig.Need(t, program)
	}
	dir, err := os.MkdirTemp("", "podman") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	p := podman{t, dir}
	t.Cleanup(func() {
		p.run("rm", "--all", "--force", "--time", "0")
		rig.Await(t, "the end of what cleans up after a container", func() bool {
			_ = exec.Command("umount", filepath.Join(dir, "images", "overlay")).Run()
			return os.RemoveAll(dir) == nil
		})
	})
	return p
}

// command is podman. runc runs where control groups are of both versions.
func (p podman) command(args ...string) *exec.Cmd {
	return exec.Command("podman", append([]string{"--root", filepath.Join(p.dir, "images"), "--runroot", filepath.Join(p.dir, "run"), "--runtime", "runc"}, args...)...)
}

func (p podman) run(args ...string) string {
	p.t.Helper()
	return rig.Run(p.t, p.command(args...))
}

// start starts a container that reaches the test's model. Its limits are such as need no privilege.
func (p podman) start(name string, args ...string) {
	p.t.Helper()
	p.run(append([]string{"run", "--detach", "--name", name, "--network", "host", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"}, args...)...)
}

// waits is a model whose first call is a command that leaves an x and waits for the file gate.
func waits(t *testing.T) string {
	t.Helper()
	model, err := scripted.Serve(scripted.Config{Handler: waitsFirst})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	return model.URL()
}

// ranOnce checks what the command of waits left.
func ranOnce(t *testing.T, work string) {
	t.Helper()
	if text, err := os.ReadFile(filepath.Join(work, "ran")); string(text) != "x\n" || err != nil {
		t.Errorf("the command wrote %q, %v", text, err)
	}
}

// The image is loaded, runs with a volume and a directory, is replaced by its next version while a command runs, and is
// removed. The volume keeps the pods.
func TestContainer(t *testing.T) {
	image, newer := wholeFile(t, "podd-*-oci-*.tar"), filepath.Dir(nextFile(t, "SHA256SUMS"))
	p, work, model := newPodman(t), t.TempDir(), waits(t)
	// As an OCI layout, whose sums Podman checks, and as docker load reads it.
	p.run("pull", "--quiet", "oci-archive:"+image)
	const name = "podd:0.0.1"
	if said := p.run("load", "--quiet", "--input", image); !strings.Contains(said, name) {
		t.Errorf("podman loaded %s", said)
	}
	podctl := func(args ...string) string {
		t.Helper()
		return p.run(append([]string{"exec", "podd", "podctl"}, args...)...)
	}
	start := func(image string) {
		t.Helper()
		p.start("podd", "--volume", "pods:/var/lib/podd", "--volume", work+":/work", "--env", "OPENAI_BASE_URL="+model, image)
		rig.Await(t, "podd", func() bool { return p.command("exec", "podd", "podctl", "status").Run() == nil })
	}
	start(name)
	if said := podctl("status"); !strings.Contains(said, "shell commands run inside it") {
		t.Errorf("podctl status says %s", said)
	}
	p.run("exec", "podd", "sh", "-c", "(sh -c 'sleep 0.1' &)")
	rig.Await(t, "the end of an orphan", func() bool {
		return !strings.Contains(p.run("exec", "podd", "sh", "-c", "cat /proc/[0-9]*/stat 2>/dev/null || true"), "(sleep)")
	})
	podctl("create", "p", "--dir", "/work", "--ask", "never")
	podctl("submit", "-p", "p", "--no-stdin", "go")
	rig.Await(t, "the command", func() bool { _, err := os.Stat(filepath.Join(work, "ran")); return err == nil })

	context := t.TempDir()
	unpack(t, filepath.Join(newer, "podd-0.0.2-linux-*.tar.gz"), context)
	if err := os.WriteFile(filepath.Join(context, "Containerfile"), []byte("FROM "+name+"\nCOPY bin /usr/bin\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("build", "--quiet", "--pull=never", "--tag", "podd:0.0.2", context)
	p.run("stop", "--time", "60", "podd")
	if code := p.run("inspect", "--format", "{{.State.ExitCode}}", "podd"); code != "0\n" {
		t.Errorf("podd ended with %s: %s", code, p.run("logs", "podd"))
	}
	p.run("rm", "podd")
	start("podd:0.0.2")
	if said := podctl("version"); strings.Count(said, "v0.0.2") != 2 {
		t.Errorf("podctl version says %s", said)
	}
	rig.Await(t, "the turn that was interrupted", func() bool { return strings.Contains(podctl("tail", "p", "--after", "0"), "turn 1 finished") })
	ranOnce(t, work)
	podctl("submit", "-p", "p", "--no-stdin", "-f", "and on")

	p.run("rm", "--force", "podd")
	if said := p.run("run", "--rm", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024", "--network", "host", "--volume", "pods:/var/lib/podd", "--entrypoint", "sh", "podd:0.0.2", "-c", "find /var/lib/podd -name podd.db"); said == "" {
		t.Error("the removal took the pods")
	}
	p.run("rmi", "--all", "--force")
	p.run("volume", "rm", "pods")
}

// unpack unpacks what one archive has below its directory.
func unpack(t *testing.T, pattern, dir string) {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s is %v, %v", pattern, found, err)
	}
	rig.Run(t, exec.Command("tar", "--extract", "--strip-components=1", "--directory", dir, "--file", found[0]))
}

// bare is a small Debian without podd, with the files of two releases.
func bare(t *testing.T) (p podman, in func(user, script string) *exec.Cmd, home string) {
	t.Helper()
	image, newer := wholeFile(t, "podd-*-oci-*.tar"), filepath.Dir(nextFile(t, "SHA256SUMS"))
	p = newPodman(t)
	home = t.TempDir()
	if err := os.Chown(home, 1000, 1000); err != nil {
		t.Fatal(err)
	}
	layout := t.TempDir()
	rig.Run(t, exec.Command("tar", "--extract", "--directory", layout, "--file", image))
	manifest, err := os.ReadFile(filepath.Join(layout, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, layer, _ := strings.Cut(string(manifest), `"Layers":["`)
	layer, _, _ = strings.Cut(layer, `"`)
	p.run("import", "--quiet", filepath.Join(layout, layer), "bare")
	p.start("bare", "--volume", filepath.Dir(image)+":/files:ro", "--volume", newer+":/next:ro", "--volume", home+":/home/you", "bare", "tail", "-f", "/dev/null")
	return p, func(user, script string) *exec.Cmd {
		return p.command("exec", "--user", user, "--env", "HOME=/home/you", "--env", "PATH=/home/you/.local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "bare", "sh", "-euc", script)
	}, home
}

// On a bare system, install.sh installs podd for somebody who is not root and has no curl, updates it while it works, and
// what it installed is removed as the documentation says.
func TestArchiveOnABareSystem(t *testing.T) {
	p, in, home := bare(t)
	you := func(script string) string { t.Helper(); return rig.Run(t, in("1000", script)) }
	refused := func(script, want string) {
		t.Helper()
		if said, err := in("1000", script).CombinedOutput(); err == nil || !strings.Contains(string(said), want) {
			t.Errorf("%s: %v, %s", script, err, said)
		}
	}
	refused("sh /files/install.sh http://127.0.0.1:1", "needs curl or wget to download")
	refused("PREFIX=/usr/local sh /files/install.sh /files", "could not write /usr/local/bin/podctl; nothing was installed")
	if left := you("find /usr/local /home/you /tmp -type f"); left != "" {
		t.Errorf("left behind: %s", left)
	}
	you("sh /files/install.sh /files; podd demo")

	if err := os.Mkdir(filepath.Join(home, "work"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(home, "work"), 1000, 1000); err != nil {
		t.Fatal(err)
	}
	model := waits(t)
	start := func() *exec.Cmd {
		t.Helper()
		podd := in("1000", "exec env OPENAI_BASE_URL="+model+" podd --log-format text")
		var log rig.Buffer
		podd.Stderr = &log
		if err := podd.Start(); err != nil {
			t.Fatal(err)
		}
		rig.Await(t, "podd", func() bool { return strings.Contains(log.String(), "podd ready") })
		return podd
	}
	end := func(podd *exec.Cmd, signal string) {
		t.Helper()
		you("kill -" + signal + ` "$(podctl status | sed -n 's/^pid: //p')"`)
		if err := podd.Wait(); err != nil {
			t.Error(err)
		}
	}
	podd := start()
	you("podctl create p --dir /home/you/work --ask never; podctl submit -p p --no-stdin go")
	rig.Await(t, "the command", func() bool { _, err := os.Stat(filepath.Join(home, "work", "ran")); return err == nil })
	you("echo share/podd/dropped >>~/.local/share/podd/files; touch ~/.local/share/podd/dropped")
	you("sh /next/install.sh /next; ! [ -e ~/.local/share/podd/dropped ]")
	if said := you("podctl version"); !strings.HasPrefix(said, "podctl: v0.0.2") || !strings.Contains(said, "podd: v0.0.1") {
		t.Errorf("podctl version says %s", said)
	}
	end(podd, "USR1")
	podd = start()
	you("touch ~/work/gate")
	rig.Await(t, "the turn", func() bool { return strings.Contains(you("podctl tail p --after 0"), "turn 1 finished") })
	ranOnce(t, filepath.Join(home, "work"))
	if said := you("podctl tail p --after 0"); !strings.Contains(said, "through") {
		t.Errorf("the command did not run on: %s", said)
	}
	end(podd, "TERM")

	you("cd ~/.local && xargs rm -f <share/podd/files")
	if left := you("find ~/.local -type f ! -path '*/state/*'"); left != "" {
		t.Errorf("left behind: %s", left)
	}
	you("[ -e ~/.local/state/podd/podd.db ]")
	p.run("rm", "--force", "--time", "0", "bare")
}

// On a bare system, dpkg installs the package of Debian, updates it, goes back and removes it.
func TestDebianOnABareSystem(t *testing.T) {
	_, in, _ := bare(t)
	root := func(script string) string { t.Helper(); return rig.Run(t, in("0", script)) }
	for _, step := range []struct{ script, want string }{
		{"rm -f /etc/dpkg/dpkg.cfg.d/*", ""}, // The image leaves manual pages out.
		{"dpkg --install /files/podd_*$(dpkg --print-architecture).deb >&2; podd version", "podd v0.0.1"},
		{"podd demo >&2; podctl version --help >&2; dpkg --verify podd; podctl version", "podctl: v0.0.1"},
		{"dpkg --install /next/podd_*.deb >&2; dpkg --verify podd; podd version", "podd v0.0.2"},
		{"dpkg --install /files/podd_*$(dpkg --print-architecture).deb >&2; dpkg --verify podd; podd version", "podd v0.0.1"},
		{"dpkg --purge podd >&2; ! command -v podd; find / -xdev -name '*podd*' -type f ! -path '/proc/*' ! -path '/home/*'", ""},
	} {
		if said := root(step.script); !strings.HasPrefix(said, step.want) || step.want == "" && said != "" {
			t.Errorf("%s: %s", step.script, said)
		}
	}
}
