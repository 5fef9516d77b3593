package imports_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/imports/sessions"
	"podd/pkg/item"
)

// counts are messages, calls and results.
type counts struct{ Messages, Calls, Results int }

func (c counts) plus(o counts) counts {
	return counts{c.Messages + o.Messages, c.Calls + o.Calls, c.Results + o.Results}
}

// Real sessions of other agents, below PODD_IMPORT_SESSIONS/AGENT, are imported with 99 % of their messages, calls and results,
// once, and go on. They are not in the repository: they are other people's.
func TestRealSessions(t *testing.T) {
	root := os.Getenv("PODD_IMPORT_SESSIONS")
	if root == "" {
		t.Skip("PODD_IMPORT_SESSIONS names no directory")
	}
	for _, agent := range sessions.Agents() {
		t.Run(agent, func(t *testing.T) {
			h := newHouse(t, "chat", nil)
			var found, got counts
			files, failed := 0, 0
			check(t, filepath.WalkDir(filepath.Join(root, agent), func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return nil
				}
				want, ok := present(agent, path)
				if !ok {
					return nil
				}
				files++
				has, err := h.whole(agent, path)
				if err != nil {
					failed++
					t.Logf("%s: %v", path, err)
				}
				if has.Messages < want.Messages || has.Calls < want.Calls || has.Results < want.Results {
					t.Logf("%s: %+v of %+v", path, has, want)
				}
				found, got = found.plus(want), got.plus(has)
				return nil
			}))
			t.Logf("%s: %d sessions, %d failed: %+v of %+v", agent, files, failed, got, found)
			for _, pair := range [][2]int{{got.Messages, found.Messages}, {got.Calls, found.Calls}, {got.Results, found.Results}} {
				if pair[0]*100 < pair[1]*99 {
					t.Errorf("%d of %d", pair[0], pair[1])
				}
			}
			if failed > 0 {
				t.Errorf("%d of %d sessions failed", failed, files)
			}
		})
	}
}

// whole imports a session twice, goes on with its pod, and counts what the log has.
func (h *house) whole(agent, path string) (has counts, err error) {
	s, err := sessions.Read(agent, path)
	if err != nil {
		return has, err
	}
	s.ID = path
	resp, err := h.send(s, nil)
	if err != nil {
		return has, err
	}
	id := resp.GetPod().GetId()
	for _, e := range h.log(id) {
		switch k := e.Kind.(type) {
		case item.Compaction:
			has.Messages++
		case item.ItemAdded:
			switch it := k.Item.(type) {
			case item.UserMessage, item.AssistantMessage:
				has.Messages++
			case item.ToolCall:
				has.Calls++
			case item.ToolResult:
				if !strings.HasPrefix(it.Summary, "no result: ") {
					has.Results++
				}
			}
		}
	}
	if again, err := h.send(s, nil); err != nil || !again.GetKnown() || again.GetPod().GetLastSeq() != resp.GetPod().GetLastSeq() {
		return has, fmt.Errorf("again: %v, %w", again, err)
	}
	h.goesOn(id, "go on")
	h.log(id)
	return has, nil
}

// present counts what a file has, without the reader: each message, call and result once, whatever branch it is on.
func present(agent, path string) (c counts, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return c, false
	}
	defer f.Close()
	var values []map[string]any
	r := bufio.NewReaderSize(f, 1<<20)
	if agent == "opencode" {
		var v map[string]any
		if json.NewDecoder(r).Decode(&v) != nil {
			return c, false
		}
		values = append(values, v)
	} else {
		for {
			line, err := r.ReadBytes('\n')
			var v map[string]any
			if json.Unmarshal(line, &v) == nil {
				values = append(values, v)
			}
			if err != nil {
				break
			}
		}
	}
	seen := map[string]bool{}
	once := func(kind string, id any) int {
		key := fmt.Sprint(kind, id)
		if seen[key] {
			return 0
		}
		seen[key] = true
		return 1
	}
	count := map[string]func(map[string]any, func(string, any) int) counts{
		"claude": presentClaude, "codex": presentCodex, "pi": presentPi, "opencode": presentOpencode,
	}[agent]
	for _, v := range values {
		c = c.plus(count(v, once))
	}
	return c, c != counts{}
}

func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// said says whether a content has a text.
func said(content any) bool {
	text, _ := content.(string)
	for _, p := range list(content) {
		s, _ := at(p, "text").(string)
		text += s
		if at(p, "type") == "image" {
			text += "image"
		}
	}
	return strings.TrimSpace(text) != ""
}

func presentClaude(v map[string]any, once func(string, any) int) (c counts) {
	if v["isSidechain"] == true || at(v, "message", "model") == "<synthetic>" || v["uuid"] == nil {
		return c
	}
	content := at(v, "message", "content")
	if v["type"] == "user" && said(content) {
		c.Messages += once("m", v["uuid"])
	}
	for i, p := range list(content) {
		switch text, _ := at(p, "text").(string); {
		case at(p, "type") == "text" && v["type"] == "assistant" && strings.TrimSpace(text) != "":
			c.Messages += once("m", fmt.Sprint(v["uuid"], i))
		case at(p, "type") == "tool_use":
			c.Calls += once("c", at(p, "id"))
		case at(p, "type") == "tool_result":
			c.Results += once("r", at(p, "tool_use_id"))
		}
	}
	return c
}

func presentCodex(v map[string]any, once func(string, any) int) (c counts) {
	p := v["payload"]
	kind, _ := at(p, "type").(string)
	switch {
	case v["type"] == "event_msg" && (kind == "user_message" || kind == "agent_message"):
		c.Messages++
	case v["type"] != "response_item" || at(p, "call_id") == nil:
	case strings.HasSuffix(kind, "_call"):
		c.Calls += once("c", at(p, "call_id"))
	case strings.HasSuffix(kind, "_output"):
		c.Results += once("r", at(p, "call_id"))
	}
	return c
}

func presentPi(v map[string]any, once func(string, any) int) (c counts) {
	m := v["message"]
	switch role := at(m, "role"); {
	case v["type"] == "compaction" || v["type"] == "custom_message" && said(v["content"]):
		c.Messages++
	case role == "user" && said(at(m, "content")):
		c.Messages++
	case role == "toolResult":
		c.Results += once("r", at(m, "toolCallId"))
	case role == "assistant":
		for _, p := range list(at(m, "content")) {
			switch text, _ := at(p, "text").(string); {
			case at(p, "type") == "toolCall":
				c.Calls += once("c", at(p, "id"))
			case at(p, "type") == "text" && strings.TrimSpace(text) != "":
				c.Messages++
			}
		}
	}
	return c
}

func presentOpencode(v map[string]any, _ func(string, any) int) (c counts) {
	for _, m := range list(v["messages"]) {
		user := at(m, "info", "role") == "user"
		text := false
		for _, p := range list(at(m, "parts")) {
			words, _ := at(p, "text").(string)
			switch kind := at(p, "type"); {
			case kind == "text" && strings.TrimSpace(words) != "" && user && at(p, "synthetic") != true:
				text = true
			case kind == "text" && strings.TrimSpace(words) != "":
				c.Messages++
			case kind == "tool":
				c.Calls++
				if s := at(p, "state", "status"); s == "completed" || s == "error" {
					c.Results++
				}
			}
		}
		if text {
			c.Messages++
		}
	}
	return c
}
