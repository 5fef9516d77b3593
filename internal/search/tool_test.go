package search_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/internal/search"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/tool"
)

// look calls the tool.
func look(t *testing.T, of tool.Tool, arguments string) tool.Output {
	t.Helper()
	out, err := of.Run(t.Context(), &tool.Invocation{Arguments: arguments})
	if err != nil {
		return tool.Error("%v", err) // As the worker tells the model.
	}
	return out
}

func TestHistory(t *testing.T) {
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(t.TempDir(), "podd.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreatePod(t.Context(), item.Pod{ID: "id", Name: "demo", CreatedAt: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	epoch, err := s.Claim(t.Context(), "id")
	if err != nil {
		t.Fatal(err)
	}
	var entries []item.Entry
	add := func(kinds ...item.Kind) {
		for _, k := range kinds {
			entries = append(entries, item.Entry{Time: time.Unix(2, 0), Kind: k})
		}
	}
	for i := range 120 {
		add(item.Submitted{RequestID: fmt.Sprint(i), Text: fmt.Sprintf("  prompt\n%d %s", i, strings.Repeat("ä", 100))})
	}
	add(
		item.ItemAdded{Item: item.ToolCall{CallID: "c", Name: "shell", Arguments: `{"command":"make apples"}`}},                                  // 121
		item.ItemAdded{Item: item.ToolResult{CallID: "other", Tool: "shell", Output: item.Output{Summary: "no"}}},                                // 122
		item.ItemAdded{Item: item.ToolResult{CallID: "c", Tool: "shell", Output: item.Output{Summary: "exit 0", Content: "twelve apples made"}}}, // 123
		item.ItemAdded{Item: item.ToolCall{CallID: "h", Name: tool.History, Arguments: `{"find":"apples"}`}},                                     // 124
		item.ItemAdded{Item: item.ToolResult{CallID: "h", Tool: tool.History, Output: item.Output{Content: "apples"}}},                           // 125
		item.Submitted{RequestID: "taken", Text: "apples that are taken back"},                                                                   // 126
		item.Rewind{To: 125}, // 127
		item.Compaction{UpTo: 123, Summary: item.SystemMessage{Text: "Apples were made."}}, // 128
	)
	for i := range 30 {
		add(item.ItemAdded{Item: item.AssistantMessage{Text: fmt.Sprint("pears ", i)}})
	}
	if _, err := s.Append(t.Context(), store.Batch{Pod: "id", Epoch: epoch, Entries: entries}); err != nil {
		t.Fatal(err)
	}
	h := search.New(s).Tool("id")
	spec := h.Spec()
	if n := len(spec.Name) + len(spec.Description) + len(spec.Schema); n > 300 {
		t.Errorf("the tool costs each request %d bytes", n)
	}
	all := look(t, h, `{}`)
	if all.Summary != "history: 158 entries from #1 to #158" || !strings.HasPrefix(all.Content, "[21 earlier ones are left out: find looks into all]\n#22 prompt: prompt 21 ää") ||
		!strings.HasSuffix(all.Content, "ä…\n#128 summary of what is up to #123\n") || strings.Contains(all.Content, "taken back") || strings.Count(all.Content, "\n") != 101 {
		t.Errorf("%q\n%s", all.Summary, all.Content)
	}
	if out := look(t, h, `{"find":"APPLES"}`); out.Summary != `history: 4 entries with "APPLES"` ||
		out.Content != "#128 summary: Apples were made.\n#126 prompt, taken back: apples that are taken back\n#123 result of shell: twelve apples made\n#121 call of shell: make apples\n" {
		t.Errorf("%q\n%s", out.Summary, out.Content)
	}
	if out := look(t, h, `{"find":"pears"}`); strings.Count(out.Content, "\n") != 21 || !strings.HasSuffix(out.Content, "look for a longer text]\n") {
		t.Errorf("%q\n%s", out.Summary, out.Content)
	}
	if out := look(t, h, `{"read":121}`); out.Summary != "history: #121, call of shell" || out.Content != "{\"command\":\"make apples\"}\n\n[#123, its result]\nexit 0\ntwelve apples made" {
		t.Errorf("%q\n%s", out.Summary, out.Content)
	}
	for arguments, want := range map[string]string{
		`{"read":159}`:          "there is no entry #159: the log has #1 to #158",
		`{"read":127}`:          "#127 has no text",
		`{"read":-1}`:           "read is the number of an entry",
		`{"read":1,"find":"a"}`: "give find or read, not both",
		`{"find":"` + strings.Repeat("a", 1025) + `"}`: "give at most 1024",
		`{"find":"nowhere"}`:                           `history: 0 entries with "nowhere"`,
	} {
		if out := look(t, h, arguments); !strings.Contains(out.Summary, want) {
			t.Errorf("%.40s: %q, want %q", arguments, out.Summary, want)
		}
	}
}
