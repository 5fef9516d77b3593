//go:build integrations && linux

package service

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// The Debian package installs the documented files, the programs run, systemd accepts the
// units, and nothing is left after removal. The package is installed into a directory
// that acts as the system.
func TestDebianPackage(t *testing.T) {
	rig.Need(t, "dpkg")
	rig.Need(t, "dpkg-deb")
	rig.Need(t, "systemd-analyze")
	out := filepath.Join(t.TempDir(), "new")
	build := exec.Command(rig.Need(t, "make"), "-s", "-C", rig.Root(), "deb", "DEBDIR="+out)
	rig.Run(t, build)
	found, err := filepath.Glob(filepath.Join(out, "podd_*.deb"))
	if err != nil || len(found) != 1 {
		t.Fatalf("packages %v, %v", found, err)
	}

	root := t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dpkg := func(args ...string) string {
		t.Helper()
		return rig.Run(t, exec.Command("dpkg", append([]string{"--root=" + root, "--force-not-root", "--log=/dev/null"}, args...)...))
	}
	dpkg("--install", found[0])
	if said := dpkg("--verify", "podd"); said != "" {
		t.Errorf("installed otherwise than packed: %s", said)
	}
	for program, says := range map[string]string{"podd": "podd ", "podctl": "podctl: "} {
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
	for _, file := range []string{"zsh/vendor-completions/_podctl", "fish/vendor_completions.d/podctl.fish", "doc/podd/copyright", "doc/podd/docs/service.md",
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
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+out)
	if said, _ := verify.CombinedOutput(); bytes.Contains(said, []byte("podd.s")) {
		t.Errorf("systemd says %s", said)
	}
	if err := os.Remove(kill); err != nil {
		t.Fatal(err)
	}

	dpkg("--purge", "podd")
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
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
