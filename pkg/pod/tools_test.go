package pod_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"podd/internal/tools/builtin"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// The host's settings for single tools reach them.
func TestToolsHaveTheirBounds(t *testing.T) {
	calls := []scripted.Part{
		scripted.Call{Name: "search", Arguments: `{"pattern":"x"}`},
		scripted.Call{Name: "repo_structure", Arguments: `{}`},
		scripted.Call{Name: "list_dir", Arguments: `{}`},
		scripted.Call{Name: "glob", Arguments: `{"pattern":"*"}`},
	}
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() > 0 {
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(calls...)
	}, func(c *options) {
		c.Search = builtin.Search{MaxMatches: 2, Context: -1, MaxLineBytes: 5}
		c.Tree = builtin.Tree{Depth: 1, MaxEntries: 4}
		c.ListDir = builtin.Listing{MaxEntries: 3}
		c.Glob = builtin.Listing{MaxEntries: 2}
	})
	for i := range 5 {
		h.write(fmt.Sprintf("%d.txt", i), "before\nxxxxxxxxxx\n")
	}
	h.run("look")
	got := results(h.log())
	for i, want := range []string{"5 matches in 5 files", "depth 1; 4 of 5 entries", "the first 3 entries", "the first 2 files"} {
		if !strings.Contains(got[i].Summary, want) {
			t.Errorf("%s: %q does not say %q", got[i].Tool, got[i].Summary, want)
		}
	}
	if want := "\n1 0.txt:2:xxxxx…\n1 1.txt:2:xxxxx…\n"; !strings.Contains(got[0].Content, want) {
		t.Errorf("search: %q, want %q", got[0].Content, want)
	}
}

// A pod has exactly the tools that its spec names. A name that no tool has is refused
// with the list of those that exist.
func TestToolsOfTheSpec(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"touch ran"}`})))
	spec := item.PodSpec{Dir: h.dir, Tools: []string{"todo", "read_file"}}
	if _, err := h.host.Update(t.Context(), "p", to(spec)); err != nil {
		t.Fatal(err)
	}
	h.run("go")
	if h.exists("ran") {
		t.Error("a tool that the pod must not use has run")
	}
	if r := results(h.log()); len(r) != 1 || !strings.Contains(r[0].Summary, `no tool "shell"`) {
		t.Errorf("results %+v", r)
	}
	if body := string(h.model.Requests()[0]); strings.Contains(body, `"edit_file"`) || strings.Index(body, `"read_file"`) > strings.Index(body, `"todo"`) {
		t.Errorf("request %s", body)
	}
	spec.Tools = []string{"teleport"}
	_, err := h.host.Update(t.Context(), "p", to(spec))
	wantError(t, err, item.KindInvalid, "BAD_TOOLS")
	_, err = h.host.Create(t.Context(), "q", spec)
	wantError(t, err, item.KindInvalid, "BAD_TOOLS")
	if !strings.Contains(err.Error(), `there is no tool "teleport": the tools are read_file, write_file`) {
		t.Error(err)
	}
}
