package files_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/internal/files"
)

func (d *desk) sh(line string) {
	cmd := exec.Command("sh", "-ec", line)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "HOME="+d.stores.Dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x")
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatal(err, string(out))
	}
}

// What git tracks is kept, whatever git's rules say: they are about other files. What it does not track
// beside that is left out as before.
func TestTrackedInAnIgnoredDirectory(t *testing.T) {
	large := strings.Repeat("x", 2<<20)
	for name, layout := range map[string]struct{ setup, in string }{
		"repository":      {"git init -q .", ""},
		"nested":          {"mkdir nested; cd nested; git init -q .", "nested/"},
		"below the top":   {"mkdir sub; cd sub; git init -q ..", "sub/"},
		"linked worktree": {"git init -q .main; cd .main; echo 1 >f; git add f; git commit -qm 1; git worktree add -q ../tree; cd ../tree", "tree/"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			d.sh(layout.setup + `; printf 'dist/\n*.bin\n' >.gitignore; mkdir -p dist/a/b dist/other; echo keep >dist/keep.js; echo deep >dist/a/b/deep; ln -s keep.js dist/l
				head -c 2097152 /dev/zero | tr '\0' x >large.bin; git add -f .gitignore dist large.bin; git commit -qm 1; echo untracked >dist/a/untracked; echo untracked >dist/other/x`)
			in := layout.in
			d.take(files.Look{})
			before := contents(t, d.dir)
			for range 2 { // The second time only directories with events are read.
				first := len(d.line) - 1
				d.write(in+"dist/keep.js", "broken")
				d.must(os.Remove(d.path(in + "dist/a/b/deep")))
				d.must(os.Remove(d.path(in + "dist/l")))
				d.write(in+"large.bin", "broken")
				d.write(in+"dist/a/untracked", "changed")
				d.take(files.Look{Agent: true})
				if _, conflicts := d.undo(first); len(conflicts) > 0 {
					t.Fatal(conflicts)
				}
				d.write(in+"dist/a/untracked", "untracked\n")
				d.same(before, "after the undo")
				d.take(files.Look{Restored: true, Paths: []string{d.dir}})
			}
			left, err := d.w.LeftOut(t.Context())
			d.must(err)
			for _, rel := range []string{"dist/a/untracked", "dist/other/"} {
				if !slices.Contains(left, in+rel) {
					t.Errorf("%s is not among the left out %q", rel, left)
				}
			}
			if d.text(in+"large.bin") != large {
				t.Error("the large file is another one")
			}
		})
	}
}

// A file that git begins to track is kept from then on.
func TestTrackedLater(t *testing.T) {
	d := open(t)
	d.sh(`git init -q .; echo dist/ >.gitignore; mkdir dist; echo 1 >dist/f; echo 1 >dist/g; git add .gitignore`)
	d.take(files.Look{})
	d.sh(`git add -f dist/f`)
	if taken := d.take(files.Look{Agent: true}); len(taken) != 1 || taken[0].By != "person" {
		t.Errorf("a file that was there counts as the agent's: %+v", taken)
	}
	first := len(d.line) - 1
	d.write("dist/f", "2")
	d.write("dist/g", "2")
	d.take(files.Look{Agent: true})
	if _, conflicts := d.undo(first); len(conflicts) > 0 || d.text("dist/f") != "1\n" || d.text("dist/g") != "2" {
		t.Errorf("%v, %q, %q", conflicts, d.text("dist/f"), d.text("dist/g"))
	}
}

func (d *desk) text(rel string) string {
	data, err := os.ReadFile(filepath.Join(d.dir, rel))
	d.must(err)
	return string(data)
}
