package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// workspaceOf opens the workspace of a pod below others, its parent first.
func workspaceOf(t *testing.T, s workspace.Settings, p item.Pod, above ...item.Pod) pod.Workspace {
	t.Helper()
	all, err := workspace.New(workspace.Config{SpoolDir: t.TempDir()}, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	w, err := all.Open(p, func() ([]item.Pod, error) { return above, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(errors.New("the test ended")) })
	return w
}

// directories makes one with a file for each path.
func directories(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text of "+file+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A named paste is between two lines, and no text of it can end it early.
func TestAPasteCannotEndItself(t *testing.T) {
	w := workspaceOf(t, workspace.Settings{}, item.Pod{ID: "p", Spec: item.PodSpec{Dir: directories(t)}})
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"stdin", "git diff", "a>b", ""}).Draw(rt, "name")
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"</stdin>", "</stdin-2>", "</paste>", "</paste-2>", "<stdin>", "</", "\n", "x", "-2>", "</STDIN>",
		})).Draw(rt, "text"), "")
		out, _, err := w.Refer(t.Context(), pod.Submit{Segments: []item.Segment{
			item.TextSegment{Text: "review"}, item.PasteSegment{Name: name, Text: text}, item.TextSegment{Text: "end"},
		}})
		if err != nil {
			rt.Fatal(err)
		}
		if name == "" {
			if out.Text != "review"+text+"end" {
				rt.Fatalf("text %q", out.Text)
			}
			return
		}
		rest, ok := strings.CutPrefix(out.Text, "review\n\n<")
		tag := rest[:strings.IndexAny(rest, " >")]
		if !ok || strings.Count(out.Text, "</"+tag+">") != 1 || !strings.HasSuffix(out.Text, "\n</"+tag+">\nend") {
			rt.Fatalf("tag %q in %q", tag, out.Text)
		}
		if body := out.Text[strings.Index(out.Text, ">\n")+2:]; !strings.HasPrefix(body, strings.TrimSuffix(text, "\n")) {
			rt.Fatalf("paste %q in %q", text, body)
		}
	})
}

// A file that a rule denies is not sent, whatever names it, and its name stays as typed.
func TestAReferenceObeysTheRules(t *testing.T) {
	dir := directories(t, "main.go", "private/key.pem")
	rules := []item.Rule{{Decision: "deny", Tool: "read_file", Path: "private/**"}}
	w := workspaceOf(t, workspace.Settings{Rules: rules}, item.Pod{ID: "p", Spec: item.PodSpec{Dir: dir}})
	out, alerts, err := w.Refer(t.Context(), pod.Submit{ParseRefs: true, Segments: []item.Segment{
		item.TextSegment{Text: "compare @main.go with @private/key.pem and ask @alice"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if out.Text != "compare @main.go with @private/key.pem and ask @alice" {
		t.Errorf("text %q", out.Text)
	}
	if len(out.Items) != 1 {
		t.Fatalf("items %+v", out.Items)
	}
	if m, ok := out.Items[0].(item.SystemMessage); !ok || !strings.Contains(m.Text, "text of main.go") {
		t.Errorf("item %+v", out.Items[0])
	}
	if len(alerts) != 1 || !strings.Contains(alerts[0].Text, "private/key.pem is sent as text") {
		t.Errorf("alerts %+v", alerts)
	}
}

// A reference may look like the name of the file, and a rule denies the file whatever was typed.
func TestAReferenceThatLooksLikeAFile(t *testing.T) {
	dir := directories(t, "Shot 9.22\u202fPM.txt", "private\u00a0key", "two\u202fblanks", "two\u00a0blanks")
	rules := []item.Rule{{Decision: "deny", Tool: "read_file", Path: "private*"}}
	w := workspaceOf(t, workspace.Settings{Rules: rules}, item.Pod{ID: "p", Spec: item.PodSpec{Dir: dir}})
	out, alerts, err := w.Refer(t.Context(), pod.Submit{ParseRefs: true, Segments: []item.Segment{
		item.TextSegment{Text: `see @"Shot 9.22 PM.txt" and @"private key" and @"two blanks"`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "see @\"Shot 9.22\u202fPM.txt\" and @\"private key\" and @\"two blanks\""; out.Text != want {
		t.Errorf("text %q", out.Text)
	}
	if len(out.Items) != 1 || !strings.Contains(out.Items[0].(item.SystemMessage).Text, "text of Shot 9.22\u202fPM.txt") {
		t.Errorf("items %+v", out.Items)
	}
	if !slices.Contains(out.Segments, item.Segment(item.FileRef{Path: "Shot 9.22\u202fPM.txt"})) {
		t.Errorf("segments %+v", out.Segments)
	}
	if len(alerts) != 2 || strings.Contains(alerts[0].Text, `\u00a0`) || !strings.Contains(alerts[1].Text, "several names look the same") {
		t.Errorf("alerts %+v", alerts)
	}
}

// A sub-pod never gets more than the pods above it: no directory outside of theirs, and no
// network that one of them lacks.
func TestASubPodIsNeverWider(t *testing.T) {
	dir, other := directories(t, "sub/x", "docs/y"), directories(t, "z")
	spec := item.PodSpec{Dir: filepath.Join(dir, "sub"), Parent: "parent"}
	parent := item.Pod{ID: "parent", Name: "main", Spec: item.PodSpec{Dir: dir, Network: item.NetworkOff}}
	w := workspaceOf(t, workspace.Settings{}, item.Pod{ID: "child", Spec: spec}, parent)
	for name, change := range map[string]func(*item.PodSpec){
		"directory": func(s *item.PodSpec) { s.Dir = other },
		"read":      func(s *item.PodSpec) { s.Read = []string{other} },
		"write":     func(s *item.PodSpec) { s.Write = []string{other} },
		"network":   func(s *item.PodSpec) { s.Network = item.NetworkOn },
	} {
		wider := spec
		change(&wider)
		if _, _, err := w.Follow(wider); item.ReasonOf(err) != "WIDER_THAN_PARENT" || !strings.Contains(err.Error(), "main") {
			t.Errorf("%s: %v", name, err)
		}
	}
	inside := spec
	inside.Dir, inside.Read = filepath.Join(dir, "docs"), []string{dir}
	moves, use, err := w.Follow(inside)
	if err != nil || !moves {
		t.Fatalf("moves %v, %v", moves, err)
	}
	use()
	found, err := w.Complete(t.Context(), "", 10)
	if err != nil || !slices.Contains(found, "y") {
		t.Errorf("completes %q, %v: want the file of the new directory", found, err)
	}
}

// The caches of workspaces are cleaned with what else commands leave. A link above them is
// resolved, because sandboxes mount them at their path.
func TestCachesAreCleaned(t *testing.T) {
	state := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	left := filepath.Join(state, "caches", "removed-"+strings.Repeat("0", 32), "files")
	if err := errors.Join(os.Symlink(state, link), os.MkdirAll(left, 0o700)); err != nil {
		t.Fatal(err)
	}
	all, err := workspace.New(workspace.Config{SpoolDir: filepath.Join(state, "spool"), CacheDir: filepath.Join(link, "caches")}, workspace.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	if err := all.CleanTemps(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a removal left is there: %v", err)
	}
}
