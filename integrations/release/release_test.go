//go:build integrations && linux

package release

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"podd/integrations/rig"
)

// release makes a release for this machine, signed by a key of its own.
var release = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "podd-release"); err != nil {
		return "", err
	}
	removed = append(removed, dir)
	key := filepath.Join(dir, "key")
	if said, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "releases@example.org", "-f", key).CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, said)
	}
	cmd := exec.Command("make", "-s", "-C", rig.Root(), "release", "VERSION="+version, "KEY="+key, "OUT="+filepath.Join(dir, "files"),
		"URL=https://example.org/podd", "TARGETS=linux/"+runtime.GOARCH, "CONTAINER=false", "DIRTY=1")
	if said, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, said)
	}
	return dir, nil
})

// removed are the directories of releases.
var removed []string

const version = "v0.0.1"

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range removed {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// released is the path of a file of the release.
func released(t *testing.T, pattern string) string {
	t.Helper()
	for _, program := range []string{"make", "ssh-keygen"} {
		rig.Need(t, program)
	}
	dir, err := release()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "files", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s is %v, %v", pattern, found, err)
	}
	return found[0]
}

// The checksums are those of the files, and the signature that of the checksums.
func TestReleaseIsSigned(t *testing.T) {
	sums := released(t, "SHA256SUMS")
	check := exec.Command(rig.Need(t, "sha256sum"), "--strict", "--check", sums)
	check.Dir = filepath.Dir(sums)
	if said := rig.Run(t, check); strings.Count(said, ": OK") < 9 {
		t.Errorf("sha256sum says %s", said)
	}
	public, err := os.ReadFile(filepath.Join(filepath.Dir(check.Dir), "key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	signers := filepath.Join(t.TempDir(), "signers")
	if err := os.WriteFile(signers, append([]byte("releases@example.org "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := func(text []byte) error {
		cmd := exec.Command("ssh-keygen", "-Y", "verify", "-n", "podd-release", "-I", "releases@example.org", "-f", signers, "-s", sums+".sig")
		cmd.Stdin = bytes.NewReader(text)
		return cmd.Run()
	}
	text, err := os.ReadFile(sums)
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(text); err != nil {
		t.Error(err)
	}
	text[0] ^= 1
	if verify(text) == nil {
		t.Error("the signature fits other checksums")
	}
}

// install.sh installs programs that work for somebody who is not root, updates them while podd
// runs, and refuses an archive with one other byte.
func TestInstallScript(t *testing.T) {
	script, archive := released(t, "install.sh"), released(t, "podd-*.tar.gz")
	home := t.TempDir()
	install := func(from string) ([]byte, error) {
		cmd := exec.Command("sh", script, from)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		return cmd.CombinedOutput()
	}
	program := func(args ...string) string {
		cmd := exec.Command(filepath.Join(home, ".local/bin", args[0]), args[1:]...)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		return rig.Run(t, cmd)
	}
	for range 2 {
		if said, err := install(filepath.Dir(archive)); err != nil || !bytes.Contains(said, []byte("podd 0.0.1 is in "+home)) {
			t.Fatalf("%v: %s", err, said)
		}
		if said := program("podd", "version"); !strings.HasPrefix(said, "podd "+version) {
			t.Errorf("podd version says %q", said)
		}
	}
	if said := program("podd", "demo"); !strings.Contains(said, "as the README promises") {
		t.Errorf("podd demo says %s", said)
	}
	if left, err := filepath.Glob(filepath.Join(home, ".local/bin/*.podd-new")); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}

	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	flipped := filepath.Join(t.TempDir(), filepath.Base(archive))
	if err := os.WriteFile(flipped, text, 0o600); err != nil {
		t.Fatal(err)
	}
	before := program("podd", "version")
	if said, err := install(filepath.Dir(flipped)); err == nil || !bytes.Contains(said, []byte("nothing was installed")) || program("podd", "version") != before {
		t.Errorf("%v: %s", err, said)
	}
	if said, err := install(t.TempDir()); err == nil || !bytes.Contains(said, []byte("has no podd-0.0.1-linux")) {
		t.Errorf("%v: %s", err, said)
	}
}

// What a release can't be made of is one clear error, and nothing is left.
func TestReleaseRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for want, args := range map[string][]string{
		`"1.0" is not a version`:      {"VERSION=1.0", "KEY=none"},
		`"" is not a version`:         {"KEY=none"},
		"is no version for Python":    {"VERSION=v0.1.0-next", "KEY=none"},
		"no key signs the checksums":  {"VERSION=v0.1.0"},
		"is not an SSH key":           {"VERSION=v0.1.0", "KEY=/dev/null"},
		`"linux" is no target`:        {"VERSION=v0.1.0", "KEY=none", "TARGETS=linux"},
		"set CONTAINER=false":         {"VERSION=v0.1.0", "KEY=none", "TARGETS=darwin/arm64", "DIRTY=1"},
		"build for linux/nothing":     {"VERSION=v0.1.0", "KEY=none", "TARGETS=linux/nothing", "CONTAINER=false", "DIRTY=1"},
		"/ exists; remove it, or set": {"VERSION=v0.1.0", "KEY=none", "OUT=/"},
	} {
		cmd := exec.Command(rig.Need(t, "make"), append([]string{"-s", "-C", rig.Root(), "release", "OUT=" + out}, args...)...)
		if said, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(said, []byte(want)) {
			t.Errorf("%v: %v, %s", args, err, said)
		}
	}
	if left, err := filepath.Glob(out + "*"); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A module path that the go command cannot download changes nothing.
func TestModuleRefuses(t *testing.T) {
	before := rig.Run(t, exec.Command("git", "-C", rig.Root(), "status", "--porcelain"))
	for _, module := range []string{"", "you/podd", "example.org", "podd"} {
		said, err := exec.Command(rig.Need(t, "make"), "-s", "-C", rig.Root(), "module", "MODULE="+module).CombinedOutput()
		if err == nil || !bytes.Contains(said, []byte("is no module path that the go command can download")) {
			t.Errorf("%q: %v, %s", module, err, said)
		}
	}
	if after := rig.Run(t, exec.Command("git", "-C", rig.Root(), "status", "--porcelain")); after != before {
		t.Errorf("changed: %s", after)
	}
}

// The package of Fedora has the documented files; rpm installs them into a directory that acts as the system.
func TestFedoraPackage(t *testing.T) {
	root, rpm := fedora(t)
	rpm("--install", "--nodeps", "--ignoreos", released(t, "podd-*.rpm"))
	if said := rig.Run(t, exec.Command(filepath.Join(root, "usr/bin/podd"), "version")); !strings.HasPrefix(said, "podd "+version) {
		t.Errorf("podd version says %q", said)
	}
	for _, file := range []string{"usr/lib/systemd/user/podd.service", "usr/share/zsh/site-functions/_podctl", "usr/share/man/man1/podctl.1.gz", "usr/bin/podd-launch"} {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
	rpm("--erase", "--nodeps", "podd")
	if left, err := filepath.Glob(filepath.Join(root, "usr/bin/*")); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// fedora is a directory that acts as a system of Fedora, and its rpm.
func fedora(t *testing.T) (root string, rpm func(args ...string) string) {
	t.Helper()
	rig.Need(t, "rpm")
	root = t.TempDir()
	return root, func(args ...string) string {
		t.Helper()
		return rig.Run(t, exec.Command("rpm", append([]string{"--root", root, "--dbpath", "/rpmdb"}, args...)...))
	}
}

// The Debian package installs the documented files, the programs run, systemd accepts the
// units, and nothing is left after removal. The package is installed into a directory
// that acts as the system.
func TestDebianPackage(t *testing.T) {
	rig.Need(t, "dpkg-deb")
	rig.Need(t, "systemd-analyze")
	pkg := released(t, "podd_*.deb")
	root, dpkg := debian(t)
	dpkg("--install", pkg)
	if said := dpkg("--verify", "podd"); said != "" {
		t.Errorf("installed otherwise than packed: %s", said)
	}
	for program, says := range map[string]string{"podd": "podd " + version, "podctl": "podctl: " + version} {
		if said := rig.Run(t, exec.Command(filepath.Join(root, "usr/bin", program), "version")); !strings.HasPrefix(said, says) {
			t.Errorf("%s version says %q", program, said)
		}
		if said := rig.Run(t, exec.Command("bash", "-n", filepath.Join(root, "usr/share/bash-completion/completions", program))); said != "" {
			t.Errorf("bash says %q", said)
		}
		page := manual(t, root, program)
		for _, want := range []string{`.TH "` + strings.ToUpper(program) + `" "1"`, "SYNOPSIS", "SEE ALSO"} {
			if !strings.Contains(page, want) {
				t.Errorf("the manual page of %s lacks %s", program, want)
			}
		}
	}
	if page := manual(t, root, "podd-service-install"); !strings.Contains(page, "api_key_file") || strings.Contains(page, "gen-docs") {
		t.Errorf("manual page %s", page)
	}
	for _, file := range []string{"zsh/vendor-completions/_podctl", "fish/vendor_completions.d/podctl.fish", "doc/podd/copyright", "doc/podd/docs/service.md", "doc/podd/examples/run-tests.sh",
		"nvim/site/pack/podd/start/podd/plugin/podd.lua", "nvim/site/pack/podd/start/podd/doc/tags"} {
		if info, err := os.Stat(filepath.Join(root, "usr/share", file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	checkPlugins(t, filepath.Join(root, "usr/share"))
	units := filepath.Join(root, "usr/lib/systemd/user")
	// The unit runs this program of another package beside podd.
	kill := filepath.Join(root, "bin/kill")
	if err := os.MkdirAll(filepath.Dir(kill), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kill, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command("systemd-analyze", "--user", "--man=no", "--recursive-errors=one", "--root="+root, "verify", units+"/podd.service", units+"/podd.socket")
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if said, _ := verify.CombinedOutput(); bytes.Contains(said, []byte("podd.s")) {
		t.Errorf("systemd says %s", said)
	}
	if err := os.Remove(kill); err != nil {
		t.Fatal(err)
	}

	dpkg("--purge", "podd")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if path == filepath.Join(root, "var") {
			return fs.SkipDir
		}
		if err == nil && !e.IsDir() {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// debian is a directory that acts as a system of Debian, and its dpkg.
func debian(t *testing.T) (root string, dpkg func(args ...string) string) {
	t.Helper()
	rig.Need(t, "dpkg")
	root = t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return root, func(args ...string) string {
		t.Helper()
		return rig.Run(t, exec.Command("dpkg", append([]string{"--root=" + root, "--force-not-root", "--log=/dev/null"}, args...)...))
	}
}

// checkPlugins checks that a Neovim which looks in a directory of data has the plugin and
// its help, and that the extension of VS Code is there whole.
func checkPlugins(t *testing.T, share string) {
	t.Helper()
	home := t.TempDir()
	nvim := exec.Command(rig.Need(t, "nvim"), "--headless", "-n", "-i", "NONE",
		"-c", "Podd use p", "-c", "help :Podd-approvals", "-c", `verbose echo "\n" .. expand('%:p') .. "\n"`, "-c", "qall!")
	nvim.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "XDG_DATA_DIRS="+share)
	said, err := nvim.CombinedOutput()
	if page := filepath.Join(share, "nvim/site/pack/podd/start/podd/doc/podd.txt"); err != nil || !bytes.Contains(said, []byte(page)) || bytes.Contains(said, []byte("E4")) {
		t.Errorf("Neovim does not open %s: %v\n%s", page, err, said)
	}
	z, err := zip.OpenReader(filepath.Join(share, "podd/podd.vsix"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, file := range []string{"extension.vsixmanifest", "extension/package.json", "extension/dist/extension.js", "extension/dist/stream.js"} {
		if f, err := z.Open(file); err != nil {
			t.Errorf("the extension lacks %s: %v", file, err)
		} else {
			_ = f.Close()
		}
	}
}

func manual(t *testing.T, root, page string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "usr/share/man/man1", page+".1.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
