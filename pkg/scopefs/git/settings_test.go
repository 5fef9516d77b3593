package git_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/pkg/scopefs/git"
)

const before = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n[remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
	"[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n  [branch \"main\"]\n  remote = origin ; ours\n"

func TestMend(t *testing.T) {
	for _, c := range []struct {
		name, now string
		bad       []string
		mended    string
	}{
		{"nothing", before, nil, before},
		{"a name", before + "[user]\n\tname = A \\\"B\\\" C\n", nil, ""},
		{"a branch", before + "[branch \"f\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", nil, ""},
		{"a remote", before + "[remote \"up\"]\n\turl = ../up\n\tfetch = +refs/heads/*:refs/remotes/up/*\n", nil, ""},
		{"a new remote for a branch", strings.Replace(before, "origin ; ours", "evil", 1) + "[remote \"evil\"]\n\turl = ../evil\n", []string{"branch.main.remote"}, before},
		{"a new remote for pushes", before + "[branch \"main\"]\n\tpushRemote = evil\n[remote \"evil\"]\n\turl = ../evil\n", []string{"branch.main.pushRemote"}, before + "[branch \"main\"]\n[remote \"evil\"]\n\turl = ../evil\n"},
		{"a remote of before for pushes", before + "[branch \"main\"]\n\tpushRemote = origin\n", nil, ""},
		{"no remote", strings.Replace(before, "[remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n", "", 1), nil, ""},
		{"the working tree", before + "[core]\n\tworktree = ../sub\n", nil, ""},
		{"another working tree", before + "[core]\n\tworktree = /\n", []string{"core.worktree"}, before + "[core]\n"},
		{"hooks", before + "[core]\n\thooksPath = .husky\n", []string{"core.hooksPath"}, before + "[core]\n"},
		{"hooks and a name", before + "[user]\n\tname = n\n[core]\n\thooksPath = .husky\n", []string{"core.hooksPath"}, before + "[user]\n\tname = n\n[core]\n"},
		{"another address", strings.Replace(before, "example.org", "evil.org", 1), []string{"remote.origin.url"}, before},
		{"one more address", strings.Replace(before, "\tfetch", "\turl = https://evil.org\n\tfetch", 1), []string{"remote.origin.url"}, before},
		{"an address for pushes", before + "[remote \"origin\"]\n\tpushurl = https://evil.org\n", []string{"remote.origin.pushurl"}, before + "[remote \"origin\"]\n"},
		{"no filter", strings.Replace(before, "\tclean = git-lfs clean -- %f\n", "", 1), []string{"filter.lfs.clean"}, before},
		{"another head over an old line", strings.Replace(before, "[filter \"lfs\"]", "[diff \"lfs\"]\n\tclean = x", 1), []string{"filter.lfs.clean"}, before},
		{"an old line below a new head", before + "[filter \"x\"]\n\tclean = git-lfs clean -- %f\n", []string{"filter.x.clean"}, before + "[filter \"x\"]\n"},
		{"a program of a submodule", before + "[submodule \"a\"]\n\tupdate = !evil\n", []string{"submodule.a.update"}, before + "[submodule \"a\"]\n"},
		{"an alias", before + "[alias]\n\tst = status\n", []string{"alias.st"}, before + "[alias]\n"},
		{"a value in two lines", before + "[user]\n\tname = a \\\n[core]\\\n\tpager = x\n", []string{`the line "name = a \"`}, before},
		{"a head and a setting in one line", before + "[core] pager = x\n", []string{"core.pager", `the line "[core] pager = x"`}, before},
		{"a carriage return", before + "[user]\r\n\tname = n\r\n", []string{`the line "[user]"`}, before},
		{"no section", "pager = x\n" + before, []string{"pager", `the line "pager = x"`}, before},
	} {
		mended, bad := git.Mend(before, c.now, func(path string) bool { return path == "../sub" })
		if c.mended == "" {
			c.mended = c.now
		}
		if mended != c.mended || !slices.Equal(bad, c.bad) {
			t.Errorf("%s: %q\nwant %q\n%q", c.name, bad, c.bad, mended)
		}
	}
}

// A configuration may be long: with a look through all of it for each line this test would take minutes.
func TestMendLongConfigurations(t *testing.T) {
	var names, odd strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&names, "\tn%d = x\n", i)
		fmt.Fprintf(&odd, "\to%d = x\n", i)
	}
	if _, bad := git.Mend("[user]\n"+names.String(), "[user]\n"+names.String()+"[core]\n"+odd.String(), nil); len(bad) != 30_000 {
		t.Errorf("%d settings", len(bad))
	}
}

// git writes its lines into a configuration of Windows, too.
func TestMendAmongCarriageReturns(t *testing.T) {
	windows := strings.ReplaceAll(before, "\n", "\r\n")
	now := strings.Replace(windows, "[remote", "\tautocrlf = true\n[remote", 1)
	if mended, bad := git.Mend(windows, now, nil); mended != now {
		t.Errorf("%q", bad)
	}
	now = strings.Replace(windows, "[remote", "\tpager = x\n[remote", 1)
	if mended, bad := git.Mend(windows, now, nil); mended != windows {
		t.Errorf("%q: %q", bad, mended)
	}
}

// What Mend lets through has no setting, by git's own reading, that is neither old nor harmless.
func FuzzMend(f *testing.F) {
	program, err := exec.LookPath("git")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"[user]\n\tname = x\n", "[core]\n\tpager = x\n", "[user]\n\tname = a\\\n[core]\n\tpager=x\n", "[a \"b\\\"]\npager = x\n#\"]\n[core]\n", "[core]pager=x", "[user] ; [core]\n\tpager = x\n"} {
		f.Add(seed)
	}
	file := filepath.Join(f.TempDir(), "config")
	f.Fuzz(func(t *testing.T, text string) {
		mended, _ := git.Mend("[core]\n\tbare = false\n", text, func(string) bool { return false })
		if err := os.WriteFile(file, []byte(mended), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "config", "--file", file, "--no-includes", "--name-only", "-z", "--list").Output()
		if err != nil {
			return // git refuses it.
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if section, _, _ := strings.Cut(name, "."); slices.Contains([]string{"alias", "include", "includeif", "filter", "pager", "credential", "url", "http"}, section) || name == "core.pager" || name == "core.hookspath" {
				t.Errorf("git reads %s from %q", name, mended)
			}
		}
	})
}
