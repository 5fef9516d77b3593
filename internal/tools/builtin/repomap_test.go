package builtin_test

import (
	"strings"
	"testing"

	"podd/internal/tools/builtin"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/tooltest"
)

func TestRepoMap(t *testing.T) {
	b := newBench(t, map[string]string{
		"core/store.go": "package core\n\n// OpenStore opens.\nfunc OpenStore(path string) error {\n\treturn nil\n}\n",
		"app/main.go":   "package main\n\nfunc main() { core.OpenStore() }\n",
		"tools/run.py":  "def run_everything(x):\n    pass\n",
		"ignored/a.go":  "package ignored\nfunc OpenStore() {}\n",
		"large.go":      "package large\n" + strings.Repeat("// filler\n", 60_000),
		".gitignore":    "ignored\n",
		"README.md":     "# def nothing\n",
	})
	tooltest.Conform(t, b.tool("repo_map"), `{}`, `{"path":"core","max_tokens":100}`)
	out := b.call("repo_map", "")
	want := "core/store.go:\n4 func OpenStore(path string) error\napp/main.go:\n3 func main() { core.OpenStore() }\ntools/run.py:\n1 def run_everything(x)\n"
	if out.Content != want || out.Kind != item.OutputSearch || out.Path != "." ||
		out.Summary != "repo_map: ., 3 of 3 definitions in 3 of 3 files; 1 file left out (unreadable or over 512 KiB)" {
		t.Errorf("got %+v", out)
	}
	out = b.call("repo_map", object("max_tokens", 15))
	if want, _, _ = strings.Cut(want, "app/"); out.Content != want || !strings.Contains(out.Summary, "1 of 3 definitions in 1 of 3 files; name a directory for the others") {
		t.Errorf("within 15 tokens: %+v", out)
	}
	if out := b.call("repo_map", object("path", "tools")); out.Content != "tools/run.py:\n1 def run_everything(x)\n" || out.Path != "tools" {
		t.Errorf("of a directory: %+v", out)
	}
	if out := b.call("repo_map", object("path", ".gitignore")); out.Content != "" || !strings.Contains(out.Summary, "no definitions in 0 source files: try") {
		t.Errorf("of nothing: %+v", out)
	}
	if out := b.call("repo_map", object("path", "../x")); !out.IsError {
		t.Errorf("outside the scope: %+v", out)
	}
	if _, err := b.tool("repo_map").Check(`{"max_tokens":-1}`); err == nil || !strings.Contains(err.Error(), "max_tokens must be at least 1") {
		t.Errorf("Check: %v", err)
	}
}

// A map fits the limit of its tool, so that nothing is cut from it.
func TestRepoMapIsNeverCut(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		files[name+".py"] = strings.Repeat("def some_function_of_"+name+"(argument):\n", 1000)
	}
	config := tool.LimitsConfig{Tools: map[string]tool.Limit{"repo_map": {MaxLines: 100, MaxBytes: 4000}}}
	for _, c := range []tool.LimitsConfig{{}, config} {
		limits, err := tool.NewLimits(c)
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, files, func(c *builtin.Config) { c.Limits = limits })
		out := b.call("repo_map", object("max_tokens", 1_000_000))
		most := limits.For("repo_map")
		if cut := limits.Apply("repo_map", out, nil); cut != out {
			t.Errorf("%+v: it is cut: %+v", most, cut.Cut)
		}
		if lines := strings.Count(out.Content, "\n"); lines < most.MaxLines-5 && len(out.Content) < most.MaxBytes-100 {
			t.Errorf("%+v: %d lines and %d bytes leave room", most, lines, len(out.Content))
		}
	}
}
