package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/pkg/scopefs/git"
)

// Tracked has what git ls-files says, in all forms of an index.
func TestTracked(t *testing.T) {
	for name, setup := range map[string]string{
		"version 2":    "git init -q .",
		"version 4":    "git init -q .; git config index.version 4",
		"sha256":       "git init -q --object-format=sha256 .",
		"split":        "git init -q .; git config core.splitIndex true",
		"without sums": "git init -q .; git config index.skipHash true",
		"extended":     "git init -q .; touch later; git add -N later",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			sh := func(line string) string {
				cmd := exec.Command("sh", "-ec", line)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}
			sh(setup + `; mkdir -p a/b dist; for i in $(seq 300); do echo $i >a/b/file$i; done; echo x >dist/keep; echo y >dist/not
				ln -s a l; echo '*' >.gitignore; printf z >"odd
name"; git add -f a dist/keep l "odd
name"; git update-index --refresh || true; echo more >a/more; git add -f a/more`)
			got := git.ReadTracked(dir, nil)
			for file := range strings.SplitSeq(strings.TrimSuffix(sh("git ls-files -z"), "\x00"), "\x00") {
				if !got.Has(file, false) {
					t.Errorf("%q is missing", file)
				}
				if up := filepath.Dir(file); up != "." && !got.Has(up, true) {
					t.Errorf("the directory %q is missing", up)
				}
			}
			for _, file := range []string{"dist/not", "dist", "a", "none", ".gitignore"} {
				if got.Has(file, false) {
					t.Errorf("%q is not tracked", file)
				}
			}
			if again := git.ReadTracked(dir, got); again != got {
				t.Error("the same index was read again")
			}
			sh("git add -f dist/not")
			if now := git.ReadTracked(dir, got); now.Same(got) || !now.Has("dist/not", false) {
				t.Error("what was added is missing")
			}
		})
	}
}

// The index of a linked worktree is its own.
func TestTrackedInAWorktree(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-ec", `git init -q r; cd r; git config user.name x; git config user.email x@x; echo 1 >f; git add f; git commit -qm 1; git worktree add -q ../w; cd ../w; echo 2 >g; git add g`)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := git.ReadTracked(filepath.Join(dir, "w"), nil)
	if !got.Has("f", false) || !got.Has("g", false) || git.ReadTracked(filepath.Join(dir, "r"), nil).Has("g", false) || git.ReadTracked(dir, nil).Has("f", false) {
		t.Errorf("got %+v", got)
	}
}

// Whatever the bytes of an index, they are read or not.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"))
	f.Add(slices.Concat([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"), make([]byte, 62), []byte("\x00a\x00")))
	dir := f.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, ".git", "index"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		git.ReadTracked(dir, nil).Has("a", false)
	})
}
