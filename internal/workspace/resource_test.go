package workspace_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"podd/internal/workspace"
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
