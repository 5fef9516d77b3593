package workspace_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"podd/internal/workspace"
	"podd/internal/workspace/prompts"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
)

// A reference to a resource of an MCP server adds it and stays in the text. A file of that name comes first, and what fails is text.
func TestAReferenceToAResource(t *testing.T) {
	asked := ""
	all, err := workspace.New(workspace.Config{
		SpoolDir: t.TempDir(),
		Project: func(string) workspace.Project {
			return workspace.Project{Resource: func(_ context.Context, server, uri string) (string, bool, error) {
				asked += " " + server + "|" + uri
				switch {
				case server != "docs":
					return "", false, nil
				case uri == "file:///none":
					return "", true, errors.New("the MCP server docs refused the call: no such page")
				}
				return "page of " + uri + strings.Repeat("\u00e9", 60), true, nil
			}}
		},
	}, workspace.Settings{FileRefs: scopefs.RefLimits{MaxBytes: 60}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	dir := directories(t, "docs:a:b")
	w, err := all.Open(item.Pod{ID: "p", Spec: item.PodSpec{Dir: dir}}, func() ([]item.Pod, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(errors.New("the test ended")) })
	const text = `see @docs:test://api:3, @"docs:test://a b", @docs:file:///none, @wiki:test://x, me@docs:test://y and @docs:a:b.`
	out, alerts, err := w.Refer(t.Context(), pod.Submit{ParseRefs: true, Segments: []item.Segment{item.TextSegment{Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	if out.Text != text {
		t.Errorf("text %q", out.Text)
	}
	var got []string
	for _, i := range out.Items {
		m := i.(item.SystemMessage)
		first, rest, _ := strings.Cut(m.Text, "\n")
		got = append(got, first+" "+rest[:min(len(rest), 20)])
		if m.Origin != item.OriginFileRef || len(m.Text) > 150 {
			t.Errorf("%s: %q", m.Origin, m.Text)
		}
	}
	want := []string{
		"[File: docs:test://api:3] page of test://api:3", "[File: \"docs:test://a b\"] page of test://a b\u00e9", "[File: docs:a:b] text of docs:a:b\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("items %q", got)
	}
	if want := " docs|test://api:3 docs|test://a b docs|file:///none wiki|test://x"; asked != want {
		t.Errorf("asked for%s", asked)
	}
	if len(alerts) != 1 || alerts[0].Text != "@docs:file:///none is sent as text: the MCP server docs refused the call: no such page" {
		t.Errorf("alerts %+v", alerts)
	}
}

// A prompt of an MCP server takes the place of its name, bounded and without hidden characters. What is no server's is text, and what
// fails is one sentence.
func TestAPromptOfAServer(t *testing.T) {
	all, err := workspace.New(workspace.Config{
		SpoolDir: t.TempDir(),
		Project: func(string) workspace.Project {
			return workspace.Project{Prompt: func(ctx context.Context, server, name string, words []string) (got prompts.Expanded, known bool, err error) {
				switch {
				case server != "gh":
					return got, false, nil
				case name == "fails":
					return got, true, errors.New("the MCP server gh refused the call: no")
				case name == "empty":
					return got, true, nil
				case name == "many":
					return prompts.Expanded{Text: "x", With: []prompts.Part{{Images: make([]item.Image, item.MaxImages+1)}}}, true, nil
				case name == "hangs":
					<-ctx.Done()
					return got, true, context.Cause(ctx)
				}
				got.Text = strings.Join(append([]string{name}, words...), "|") + " @a.txt \u202e" + strings.Repeat("y", 100)
				got.With = []prompts.Part{{Name: "x\x1b", Text: "its \x1b text"}}
				return got, true, nil
			}}
		},
	}, workspace.Settings{FileRefs: scopefs.RefLimits{MaxBytes: 60}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	dir := directories(t, "a.txt")
	w, err := all.Open(item.Pod{ID: "p", Spec: item.PodSpec{Dir: dir}}, func() ([]item.Pod, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(errors.New("the test ended")) })
	refer := func(list ...item.Segment) (string, []item.Item, error) {
		out, _, err := w.Refer(t.Context(), pod.Submit{ParseRefs: true, Segments: list})
		return out.Text, out.Items, err
	}
	paste := item.PasteSegment{Text: "a\nb"}
	text, items, err := refer(item.TextSegment{Text: "/gh:review 'one two' "}, paste, item.PasteSegment{Text: "z", Name: "file"})
	want := "review|one two|a\nb @a.txt yyy"
	if err != nil || !strings.HasPrefix(text, want) || !strings.Contains(text, "\n[cut: it has 1") || !strings.HasSuffix(text, "<file lines=\"1\">\nz\n</file>\n") {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	if m, ok := items[0].(item.SystemMessage); len(items) != 1 || !ok || strings.ContainsRune(m.Text, 0x1b) || !strings.HasPrefix(m.Text, "[File: ") || !strings.Contains(m.Text, " text") {
		t.Errorf("%+v", items)
	}
	if text, _, err := refer(item.TextSegment{Text: "/gh:review x"}, item.FileRef{Path: "a.txt"}); err != nil || !strings.HasSuffix(text, "are shown]\n@a.txt") {
		t.Errorf("with a file: %q, %v", text, err)
	}
	// Text that only looks like a name stays, and says so. A name of the machine's root and one behind a blank are a path and text.
	for typed, want := range map[string]string{
		"/wiki:x y": "there is no prompt or skill /wiki:x, so this is sent as text", "/gh: x": "there is no prompt or skill /gh:, so this is sent as text", " /gh:x": "", "/tmp is full": "", "/etc/x": "",
	} {
		out, alerts, err := w.Refer(t.Context(), pod.Submit{ParseRefs: true, Segments: []item.Segment{item.TextSegment{Text: typed}}})
		said := ""
		for _, a := range alerts {
			said += a.Text
		}
		if err != nil || out.Text != typed || said != want {
			t.Errorf("%s: %q, %q, %v", typed, out.Text, said, err)
		}
	}
	for typed, want := range map[string]string{
		"/gh:fails": "/gh:fails: the MCP server gh refused the call: no", "/gh:empty": "/gh:empty: the server gave an empty prompt",
		"/gh:many": "/gh:many: it has more than 20 images or 256 resources",
	} {
		if _, _, err := refer(item.TextSegment{Text: typed}); item.ReasonOf(err) != "PROMPT" || err.Error() != want {
			t.Errorf("%s: %v, want %s", typed, err, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		if _, _, err := refer(item.TextSegment{Text: "/gh:hangs"}); err == nil || err.Error() != "/gh:hangs: no answer within 10s" {
			t.Errorf("a server that hangs: %v", err)
		}
	})
}
