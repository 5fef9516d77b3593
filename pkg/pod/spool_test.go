package pod_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// long is a tool whose output has more lines than any limit keeps.
func long() tool.Tool {
	return tool.New("long", "Print many lines.", func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) {
		return tool.FromString(longText()), nil
	}, tool.Confined[struct{}]())
}

func longText() string {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// readAnything makes the call that the submit names: "long", "seq", or "read PATH",
// "search PATH" and "glob PATTERN".
func readAnything(_ context.Context, r scripted.Request) scripted.Reply {
	if r.Steps()%2 == 1 {
		return scripted.Say(scripted.Text("done"))
	}
	verb, what, _ := strings.Cut(r.LastUser(), " ")
	switch verb {
	case "long":
		return scripted.Say(scripted.Call{Name: "long", Arguments: `{}`})
	case "seq":
		return scripted.Say(shell("seq 1 3000"))
	case "read":
		return scripted.Say(scripted.Call{Name: "read_file", Arguments: fmt.Sprintf(`{"path":%q,"start_line":2000,"end_line":2001}`, what)})
	case "search":
		return scripted.Say(scripted.Call{Name: "search", Arguments: fmt.Sprintf(`{"path":%q,"pattern":"2999"}`, what)})
	case "write":
		return scripted.Say(scripted.Call{Name: "write_file", Arguments: fmt.Sprintf(`{"path":%q,"content":"x"}`, what)})
	}
	return scripted.Say(scripted.Call{Name: "glob", Arguments: fmt.Sprintf(`{"pattern":%q}`, what)})
}

// The full text of a cut output, of whatever tool, is kept where the marker says. The
// pod's own tools can read it, those of other pods can't.
func TestSpool(t *testing.T) {
	h := newHouse(t, readAnything, func(c *options) { c.Tools = []tool.Tool{long()} })
	last := func(text string) item.ToolResult {
		t.Helper()
		h.run(text)
		all := results(h.log())
		return all[len(all)-1]
	}
	for verb, want := range map[string]string{"long": longText(), "seq": "\n3000\n"} {
		r := last(verb)
		if r.Cut == nil || !strings.Contains(r.Content, "full text in "+r.Cut.SpoolPath+" ") {
			t.Fatalf("%s: cut %+v\n%s", verb, r.Cut, r.Content)
		}
		full, err := os.ReadFile(r.Cut.SpoolPath)
		if err != nil || !strings.HasSuffix(string(full), want) {
			t.Errorf("%s: the spool file has %d bytes, %v", verb, len(full), err)
		}
		path := r.Cut.SpoolPath
		if read := last("read " + path); read.IsError || !strings.Contains(read.Content, "2001\t") {
			t.Errorf("%s: read_file: %+v", verb, read)
		}
		if found := last("search " + path); found.IsError || !strings.Contains(found.Content, "2999") {
			t.Errorf("%s: search: %+v", verb, found)
		}
		if wrote := last("write " + path); !wrote.IsError || !strings.Contains(wrote.Text(), "read-only") {
			t.Errorf("%s: write_file: %+v", verb, wrote)
		}
	}
	if r := last("glob **"); r.Content != "" {
		t.Errorf("the workspace has %q", r.Content)
	}
	h.restart()
	h.write("own.txt", "")
	path := last("long").Cut.SpoolPath
	other, err := h.host.Create(t.Context(), "q", item.PodSpec{Dir: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.host.Submit(t.Context(), pod.Submit{
		Pod: other.Name, ParseRefs: true, Segments: []item.Segment{item.TextSegment{Text: "look at @" + path}},
	})
	if err != nil || len(got.Alerts) != 1 || !strings.Contains(got.Alerts[0].Text, "scope") {
		t.Errorf("another pod reads it: %+v, %v", got, err)
	}
	if err := h.host.Delete(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the folder of a deleted pod: %v", err)
	}
	if _, err := h.host.Create(t.Context(), "p", item.PodSpec{Dir: h.dir}); err != nil {
		t.Fatal(err)
	}
}

// The marker does not promise a full text that cannot be kept.
func TestSpoolQuota(t *testing.T) {
	h := newHouse(t, readAnything, func(c *options) {
		c.Tools = []tool.Tool{long()}
		c.SpoolBytes = int64(len(longText())) - 1
	})
	h.run("long")
	r := results(h.log())[0]
	if r.Cut == nil || r.Cut.SpoolPath != "" || !strings.Contains(r.Content, "the full text was not kept") {
		t.Errorf("cut %+v\n%s", r.Cut, r.Content)
	}
	if files, err := filepath.Glob(filepath.Join(h.state, "spool", "*", "*")); err != nil || len(files) > 0 {
		t.Errorf("files %v, %v", files, err)
	}
}

// Each cut is one log line for the operator, with the numbers of the result.
func TestCutsAreLogged(t *testing.T) {
	var log bytes.Buffer // Only the turn writes it; the test reads it afterwards.
	h := newHouse(t, readAnything, func(c *options) {
		c.Tools = []tool.Tool{long()}
		c.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	})
	h.run("long")
	h.run("glob *")
	cut := results(h.log())[0].Cut
	h.close()
	defer h.open()
	var lines []string
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, `"tool output cut"`) {
			lines = append(lines, line)
		}
	}
	want := fmt.Sprintf(`"tool":"long","bytes":%d,"kept_bytes":%d,"lines":%d,"kept_lines":%d,"reduction_percent":%d}`,
		cut.TotalBytes, cut.KeptBytes, cut.TotalLines, cut.KeptLines, cut.Reduction())
	if len(lines) != 1 || !strings.Contains(lines[0], want) || cut.Reduction() < 50 {
		t.Errorf("got %q, want one with %s", lines, want)
	}
}
