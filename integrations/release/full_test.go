//go:build integrations && release && linux

// These tests take many minutes: make release-test.

package release

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"podd/integrations/rig"
)

// whole is a release for all systems, with the container image; next is the release after it, for this machine.
var whole, next = sync.OnceValues(func() (string, error) { return makeRelease(version) }),
	sync.OnceValues(func() (string, error) {
		return makeRelease("v0.0.2", "TARGETS=linux/"+runtime.GOARCH, "CONTAINER=false")
	})

// address is where the whole release says that its files are.
const address = "https://example.org/podd"

func makeRelease(number string, args ...string) (string, error) {
	dir, err := os.MkdirTemp("", "podd-release")
	if err != nil {
		return "", err
	}
	removed = append(removed, dir)
	files := filepath.Join(dir, "files")
	if said, err := exec.Command("make", append([]string{"-s", "-C", rig.Root(), "release", "VERSION=" + number, "KEY=none", "OUT=" + files, "URL=" + address, "DIRTY=1"}, args...)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, said)
	}
	return files, nil
}

// wholeFile and nextFile are the paths of a file of the two releases.
func wholeFile(t *testing.T, pattern string) string { t.Helper(); return fileOf(t, whole, pattern) }

func nextFile(t *testing.T, pattern string) string { t.Helper(); return fileOf(t, next, pattern) }

func fileOf(t *testing.T, release func() (string, error), pattern string) string {
	t.Helper()
	dir, err := release()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s is %v, %v", pattern, found, err)
	}
	return found[0]
}

// Two runs of make release, for all systems and with the container image, give the same bytes.
func TestReleaseIsReproducible(t *testing.T) {
	first, err := os.ReadFile(wholeFile(t, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := makeRelease(version)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(filepath.Join(again, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) || bytes.Count(first, []byte("\n")) != 15 {
		t.Errorf("the first release has\n%sthe second\n%s", first, second)
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
	in(user, "go", "get", module+"/pkg/client@"+version)
	in(user, "go", "build", "./...")
}
