//go:build integrations && release && linux

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// pip updates the package for Python and removes all of it.
func TestPipUpgrade(t *testing.T) {
	base := t.TempDir()
	python := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("/usr/bin/python3", args...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + base, "PYTHONUSERBASE=" + base, "PYTHONDONTWRITEBYTECODE=1"}
		return rig.Run(t, cmd)
	}
	pip := func(args ...string) {
		t.Helper()
		python(append([]string{"-m", "pip", "--quiet", "--disable-pip-version-check"}, args...)...)
	}
	for _, wheel := range []string{released(t, "podd-*.whl"), nextFile(t, "podd-*.whl")} {
		pip("install", "--user", "--break-system-packages", "--no-index", "--no-deps", "--upgrade", "--no-compile", wheel)
		said := python("-c", "import podd, importlib.metadata as m; print(m.version('podd'), podd.__file__)")
		if number := strings.Split(filepath.Base(wheel), "-")[1]; !strings.HasPrefix(said, number+" "+base) {
			t.Errorf("after %s, Python has podd %s", wheel, said)
		}
	}
	pip("uninstall", "--yes", "--break-system-packages", "podd")
	if left := rig.Run(t, exec.Command("find", base, "-type", "f")); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// npm updates the package for TypeScript and removes all of it.
func TestNpmUpgrade(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	packages := filepath.Join(dir, "node_modules")
	older, newer := released(t, "podd-*.tgz"), nextFile(t, "podd-*.tgz")
	if err := os.CopyFS(packages, os.DirFS(filepath.Join(rig.Root(), "sdk", "typescript", "node_modules"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(packages, ".package-lock.json")); err != nil {
		t.Fatal(err)
	}
	npm := func(args ...string) {
		t.Helper()
		cmd := exec.Command(rig.Need(t, "npm"), append(args, "--silent", "--ignore-scripts", "--offline", "--no-audit", "--no-fund")...)
		cmd.Dir = dir
		rig.Run(t, cmd)
	}
	for _, tgz := range []string{older, newer} {
		npm("install", tgz)
		has := exec.Command("node", "-e", `import("podd").then(() => console.log(require("./node_modules/podd/package.json").version))`)
		has.Dir = dir
		number := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(tgz), "podd-"), ".tgz")
		if said := rig.Run(t, has); said != number+"\n" {
			t.Errorf("after %s, Node.js has podd %s", tgz, said)
		}
	}
	npm("uninstall", "podd")
	manifest, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil || strings.Contains(string(manifest), "podd") {
		t.Errorf("package.json is %s, %v", manifest, err)
	}
	if _, err := os.Stat(filepath.Join(packages, "podd")); err == nil {
		t.Error("the removal left the package")
	}
}
