//go:build integrations && linux

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

// pip and npm install the packages from their files, without a network, and the examples run with them.
func TestPackagesForPrograms(t *testing.T) {
	wheel, tgz := released(t, "podd-*.whl"), released(t, "podd-*.tgz")
	script, err := scripted.Parse(strings.NewReader("otherwise\ntext Yes.\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := rig.New(t, script.Reply)
	sdk := func(elem ...string) string { return filepath.Join(append([]string{rig.Root(), "sdk"}, elem...)...) }
	check := func(t *testing.T, c *exec.Cmd) {
		t.Helper()
		if said := rig.Run(t, c); said != "Yes.\n[finished]\n" {
			t.Errorf("the program said %q", said)
		}
	}
	t.Run("pip", func(t *testing.T) {
		const debian = "/usr/bin/python3"
		site := t.TempDir()
		// gRPC is Debian's.
		rig.Run(t, exec.Command(debian, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--target", site, wheel))
		c := w.Command(debian, sdk("python", "example", "ask.py"), w.Workspace, "hello")
		c.Env = append(c.Env, "PYTHONPATH="+site, "PYTHONDONTWRITEBYTECODE=1")
		check(t, c)
		c = w.Command(debian, "-c", "import importlib.metadata as m, grpc; print(m.version('podd'), *m.requires('podd'))")
		c.Env = append(c.Env, "PYTHONPATH="+site)
		if said := rig.Run(t, c); !strings.HasPrefix(said, "0.0.1 grpcio") {
			t.Errorf("the wheel is %q", said)
		}
	})
	t.Run("npm", func(t *testing.T) {
		dir := t.TempDir()
		source, err := os.ReadFile(sdk("typescript", "example", "ask.ts"))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"package.json": `{"private": true}`, "ask.ts": string(source)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// What the package needs is there from its own lock file: npm keeps that, and removes the rest.
		packages := filepath.Join(dir, "node_modules")
		if err := os.CopyFS(packages, os.DirFS(sdk("typescript", "node_modules"))); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(packages, ".package-lock.json")); err != nil {
			t.Fatal(err)
		}
		install := exec.Command("npm", "install", "--silent", "--ignore-scripts", "--offline", "--no-audit", "--no-fund", tgz)
		install.Dir = dir
		rig.Run(t, install)
		// The package's own types are enough to compile with.
		tsc := exec.Command("node", sdk("typescript", "node_modules", "typescript", "bin", "tsc"), "--strict", "--target", "es2022", "--module", "node16",
			"--typeRoots", sdk("typescript", "node_modules", "@types"), "ask.ts")
		tsc.Dir = dir
		rig.Run(t, tsc)
		check(t, w.Command("node", filepath.Join(dir, "ask.js"), w.Workspace, "hello"))
	})
}
