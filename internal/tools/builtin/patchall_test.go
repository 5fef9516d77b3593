package builtin_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/scopefs"
)

// state is all files of the workspace with what a patch could lose of them: inodes, permissions, times
// and links.
func (b *bench) state() map[string]string {
	b.t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		what := fmt.Sprint(info.Mode(), " ", st.Ino)
		if !info.IsDir() {
			target, _ := os.Readlink(path)
			data, _ := os.ReadFile(path)
			what += fmt.Sprint(" ", st.Nlink, " ", info.ModTime().UnixNano(), " ", target, " ", string(data))
		}
		all[path] = what
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) chmod(name string, mode fs.FileMode) {
	b.t.Helper()
	if err := os.Chmod(b.path(name), mode); err != nil {
		b.t.Fatal(err)
	}
}

// A patch that is refused leaves everything as it was, the permissions of deleted files and links too.
func TestARefusedPatchChangesNothing(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "#!/bin/sh\n", "key.txt": "secret\n", "ro.txt": "a\n", "real.txt": "r\n", "d/f": "f\n"})
	b.chmod("run.sh", 0o755)
	b.chmod("key.txt", 0o600)
	b.chmod("ro.txt", 0o444)
	b.link("real.txt", "link.txt")
	if err := os.Link(b.path("d/f"), b.path("d/g")); err != nil {
		t.Fatal(err)
	}
	before := b.state()
	out := b.call("apply_patch", object("input", patch("*** Delete File: run.sh", "*** Delete File: key.txt", "*** Delete File: link.txt", "*** Update File: d/f", "@@", "-f", "+F",
		"*** Update File: real.txt", "*** Move to: made/real.txt", "*** Update File: ro.txt", "@@", "-a", "+b")))
	if !out.IsError || out.Summary != "apply_patch: nothing was changed: ro.txt is write-protected (mode 0444): make it writable first" {
		t.Errorf("got %+v", out)
	}
	if after := b.state(); !maps.Equal(before, after) {
		t.Errorf("before\n%v\nafter\n%v", before, after)
	}
}

// Whatever a patch says: an error changes nothing at all, and without one nothing is left beside the files.
func TestAPatchIsAllOrNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, map[string]string{"a": "1\n", "run": "1\n", "key": "1\n", "ro": "1\n", "d/f": "1\n"})
		b.chmod("run", 0o755)
		b.chmod("key", 0o600)
		b.chmod("ro", 0o444)
		b.link("a", "link")
		b.link("d", "dl")
		b.link("none", "broken")
		if err := os.Link(b.path("key"), b.path("hard")); err != nil {
			rt.Fatal(err)
		}
		path := rapid.SampledFrom([]string{"a", "run", "key", "hard", "ro", "d/f", "dl/f", "link", "broken", "./a", "d/../run", "new", "x/y", "d", "ro/x"})
		var lines []string
		for range rapid.IntRange(1, 5).Draw(rt, "changes") {
			switch rapid.IntRange(0, 4).Draw(rt, "verb") {
			case 0:
				lines = append(lines, "*** Delete File: "+path.Draw(rt, "path"))
			case 1:
				lines = append(lines, "*** Add File: "+path.Draw(rt, "path"), "+1")
			case 2:
				lines = append(lines, "*** Update File: "+path.Draw(rt, "path"), "*** Move to: "+path.Draw(rt, "to"), "@@", "-1", "+1", "+2")
			case 3:
				lines = append(lines, "*** Update File: "+path.Draw(rt, "path"), "*** Move to: "+path.Draw(rt, "to"))
			default:
				lines = append(lines, "*** Update File: "+path.Draw(rt, "path"), "@@", " 1", "+2")
			}
		}
		before := b.state()
		out := b.call("apply_patch", object("input", patch(lines...)))
		after := b.state()
		if out.IsError && !maps.Equal(before, after) {
			rt.Fatalf("%q\n%s\nbefore\n%v\nafter\n%v", lines, out.Summary, before, after)
		}
		for name := range after {
			if scopefs.Unfinished(filepath.Base(name)) {
				rt.Fatalf("%q leaves %s", lines, name)
			}
		}
		// The other name of a file that a patch changed keeps the old content.
		if !out.IsError && !strings.Contains(strings.Join(lines, "\n"), ": hard") && after[b.path("hard")] == "" {
			rt.Fatalf("%q takes hard", lines)
		}
	})
}

// A file that a patch names in two ways is one file.
func TestAPatchNamesAFileTwice(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	both := strings.NewReplacer("one", "ONE", "seven", "SEVEN").Replace(text)
	update := func(a, b string) []string {
		return []string{"*** Update File: " + a, "@@", "-one", "+ONE", "*** Update File: " + b, "@@", "-seven", "+SEVEN"}
	}
	const link = "it is a link to a file that the patch also changes by another path: use one path for it, or two calls"
	for _, c := range []struct {
		name    string
		lines   []string
		refused string
		after   string
		summary string
	}{
		{"link and file", update("alias.txt", "both.txt"), "", both, "apply_patch: M alias.txt +1 -1, M both.txt +1 -1"},
		{"file and link", update("both.txt", "alias.txt"), "", both, "apply_patch: M both.txt +1 -1, M alias.txt +1 -1"},
		{"dots", update("./both.txt", "d/../both.txt"), "", both, "apply_patch: M both.txt +1 -1, M both.txt +1 -1"},
		{"absolute", update("both.txt", "ABS/both.txt"), "", both, ""},
		{"linked directory", update("here/both.txt", "both.txt"), "", both, ""},
		{"link in a linked directory", update("here/alias.txt", "both.txt"), "", both, ""},
		{"link of a link", update("again.txt", "alias.txt"), "", both, ""},
		{"hard link", update("hard1.txt", "hard2.txt"), "hard2.txt: it is one file with hard1.txt (hard links), which the patch also changes: change it by one of its names", text, ""},
		{"update and delete", []string{"*** Update File: alias.txt", "@@", "-one", "+ONE", "*** Delete File: both.txt"}, link, text, ""},
		{"delete the link and update", []string{"*** Delete File: alias.txt", "*** Update File: both.txt", "@@", "-one", "+ONE", "@@", "-seven", "+SEVEN"}, "", both, "apply_patch: D alias.txt, M both.txt +2 -2"},
		{"update and delete the link", []string{"*** Update File: both.txt", "@@", "-one", "+ONE", "@@", "-seven", "+SEVEN", "*** Delete File: alias.txt"}, "", both, "apply_patch: M both.txt +2 -2, D alias.txt"},
		{"delete and update the link", []string{"*** Delete File: both.txt", "*** Update File: alias.txt", "@@", "-one", "+ONE"}, link, text, ""},
		{"move and update", []string{"*** Update File: both.txt", "*** Move to: c.txt", "*** Update File: alias.txt", "@@", "-one", "+ONE"}, link, text, ""},
		{"move to itself", []string{"*** Update File: both.txt", "*** Move to: here/both.txt", "@@", "-one", "+ONE", "@@", "-seven", "+SEVEN"}, "", both, "apply_patch: M both.txt +2 -2"},
		{"move a link, then change it", []string{"*** Update File: alias.txt", "*** Move to: c.txt", "@@", "-one", "+ONE", "*** Update File: c.txt", "@@", "-seven", "+SEVEN"}, "", both,
			"apply_patch: R alias.txt -> c.txt +1 -1, M c.txt +1 -1"},
		{"delete a link, then add a file", []string{"*** Delete File: alias.txt", "*** Add File: alias.txt", "+new"}, "", text, "apply_patch: D alias.txt, A alias.txt +1"},
		{"add by a link to nothing", []string{"*** Add File: broken.txt", "+one", "*** Update File: none.txt", "@@", "-one", "+ONE"}, "", text, "apply_patch: A broken.txt +1, M none.txt +1 -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"both.txt": text, "hard1.txt": text, "d/f": ""})
			b.link("both.txt", "alias.txt")
			b.link("alias.txt", "again.txt")
			b.link(".", "here")
			b.link("none.txt", "broken.txt")
			if err := os.Link(b.path("hard1.txt"), b.path("hard2.txt")); err != nil {
				t.Fatal(err)
			}
			out := b.call("apply_patch", object("input", strings.ReplaceAll(patch(c.lines...), "ABS", b.dir)))
			if out.IsError != (c.refused != "") || !strings.Contains(out.Summary, c.refused) || c.summary != "" && out.Summary != c.summary {
				t.Errorf("got %+v", out)
			}
			if got := b.read("both.txt"); got != c.after {
				t.Errorf("both.txt is %q", got)
			}
			if c.name == "add by a link to nothing" && b.read("none.txt") != "ONE\n" {
				t.Errorf("none.txt is %q", b.read("none.txt"))
			}
			if c.name == "delete a link, then add a file" {
				if info, err := os.Lstat(b.path("alias.txt")); err != nil || !info.Mode().IsRegular() || b.read("alias.txt") != "new\n" {
					t.Errorf("alias.txt is %v, %v", info.Mode(), err)
				}
			}
		})
	}
}

// A preview of a file with two names says what the call then does.
func TestPreviewOfAFileWithTwoNames(t *testing.T) {
	b := newBench(t, map[string]string{"both.txt": "one\ntwo\nthree\n"})
	b.link("both.txt", "alias.txt")
	arguments := object("input", patch("*** Update File: alias.txt", "@@", "-one", "+ONE", "*** Update File: both.txt", "@@", "-three", "+THREE"))
	p := b.preview("apply_patch", arguments)
	if len(p.Files) != 1 || p.Files[0].Path != "alias.txt" || p.Files[0].Diff != "@@ -1,3 +1,3 @@\n-one\n+ONE\n two\n-three\n+THREE\n" {
		t.Errorf("got %+v", p)
	}
}
