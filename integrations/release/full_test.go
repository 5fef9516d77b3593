//go:build integrations && release && linux

// These tests take many minutes: make release-test.

package release

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// Two runs of make release, for all systems and with the container image, give the same bytes.
func TestReleaseIsReproducible(t *testing.T) {
	dir := t.TempDir()
	var sums [2][]byte
	for i := range sums {
		out := filepath.Join(dir, "files")
		rig.Run(t, exec.Command("make", "-s", "-C", rig.Root(), "release", "VERSION="+version, "KEY=none", "OUT="+out, "URL=https://example.org/podd", "DIRTY=1"))
		var err error
		if sums[i], err = os.ReadFile(filepath.Join(out, "SHA256SUMS")); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(sums[0], sums[1]) || bytes.Count(sums[0], []byte("\n")) != 15 {
		t.Errorf("the first release has\n%sthe second\n%s", sums[0], sums[1])
	}
}

// Under another module path, the go command installs podctl, and a program uses the client.
func TestModule(t *testing.T) {
	const module = "example.org/you/podd"
	dir := t.TempDir()
	clone, proxy := filepath.Join(dir, "podd"), filepath.Join(dir, "proxy", module, "@v")
	in := func(where, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = where
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GONOSUMDB="+module, "GOPROXY=file://"+filepath.Join(dir, "proxy")+","+strings.TrimSpace(rig.Run(t, exec.Command("go", "env", "GOPROXY"))))
		return rig.Run(t, cmd)
	}
	in(dir, "git", "clone", "-q", "--shared", rig.Root(), clone)
	in(clone, "make", "-s", "module", "MODULE="+module)
	in(clone, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qam", "rename")
	if err := os.MkdirAll(proxy, 0o700); err != nil {
		t.Fatal(err)
	}
	in(clone, "git", "archive", "--format=zip", "--prefix="+module+"@"+version+"/", "-o", filepath.Join(proxy, version+".zip"), "HEAD", "--", ".", ":!tools", ":!packaging")
	mod, err := os.ReadFile(filepath.Join(clone, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".mod": string(mod), version + ".info": `{"Version":"` + version + `"}`} {
		if err := os.WriteFile(filepath.Join(proxy, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	in(dir, "go", "install", module+"/cmd/podctl@"+version)
	if said := rig.Run(t, exec.Command(filepath.Join(dir, "podctl"), "version")); !strings.HasPrefix(said, "podctl: "+version) {
		t.Errorf("podctl version says %q", said)
	}
	user := filepath.Join(dir, "user")
	if err := os.Mkdir(user, 0o700); err != nil {
		t.Fatal(err)
	}
	program := "package main\n\nimport _ \"" + module + "/pkg/client\"\n\nfunc main() {}\n"
	if err := os.WriteFile(filepath.Join(user, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	in(user, "go", "mod", "init", "example.org/user")
	in(user, "go", "get", module+"@"+version)
	in(user, "go", "build", "./...")
}
