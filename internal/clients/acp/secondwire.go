package acp

import (
	"encoding/json"
	"strings"

	"github.com/coder/acp-go-sdk"
)

// secondVersion is the newest version of the protocol that podd speaks. Its library has only the first: what the versions say
// differently is translated here.
const secondVersion = 2

// planID is the id of the only plan of a session.
const planID = "todo"

// object is a value as the object that its JSON is.
func object(v any) map[string]any {
	m := make(map[string]any)
	if text, err := json.Marshal(v); err == nil {
		_ = json.Unmarshal(text, &m) // A value of the protocol is an object.
	}
	return m
}

// secondUpdate is an update of a session in version 2.
func secondUpdate(u acp.SessionUpdate) map[string]any {
	switch {
	case u.Plan != nil:
		return map[string]any{"sessionUpdate": "plan_update", "plan": map[string]any{"type": "items", "planId": planID, "entries": u.Plan.Entries}}
	case u.ConfigOptionUpdate != nil:
		return map[string]any{"sessionUpdate": "config_option_update", "configOptions": secondOptions(u.ConfigOptionUpdate.ConfigOptions)}
	case u.AvailableCommandsUpdate != nil:
		list := []any{}
		for _, c := range u.AvailableCommandsUpdate.AvailableCommands {
			m := map[string]any{"type": "command", "name": c.Name, "description": c.Description}
			if c.Input != nil {
				m["input"] = map[string]any{"type": "text", "hint": c.Input.Unstructured.Hint}
			}
			list = append(list, m)
		}
		return map[string]any{"sessionUpdate": "available_commands_update", "availableCommands": list}
	case u.ToolCall != nil:
		return secondCall(u.ToolCall)
	case u.ToolCallUpdate != nil:
		return secondCall(u.ToolCallUpdate)
	}
	return object(u)
}

// secondCall is a call in version 2, which has one update for new calls and others.
func secondCall(call any) map[string]any {
	m := object(call)
	m["sessionUpdate"] = "tool_call_update"
	content, _ := m["content"].([]any)
	for i, c := range content {
		if d, ok := c.(map[string]any); ok && d["type"] == "diff" {
			content[i] = secondDiff(d)
		}
	}
	return m
}

// patchKey is where patchContent has its patch.
const patchKey = "patch"

// patchContent is a unified diff for secondDiff.
func patchContent(path, diff string) acp.ToolCallContent {
	c := acp.ToolDiffContent(path, "")
	c.Diff.Meta = map[string]any{patchKey: diff}
	return c
}

// secondDiff is a diff of patchContent in version 2.
func secondDiff(d map[string]any) map[string]any {
	path, _ := d["path"].(string)
	meta, _ := d["_meta"].(map[string]any)
	hunks, _ := meta[patchKey].(string)
	change := map[string]any{"operation": "modify", "path": path}
	name := strings.TrimPrefix(path, "/")
	from, to, mode := "a/"+name, "b/"+name, ""
	first, _, _ := strings.Cut(hunks, "\n")
	switch {
	case strings.HasPrefix(first, "@@ -0,0 "):
		change["operation"], from, mode = "add", "/dev/null", "new file mode 100644\n"
	case strings.Contains(first, " +0,0 @@"):
		change["operation"], to, mode = "delete", "/dev/null", "deleted file mode 100644\n"
	}
	text := "diff --git a/" + name + " b/" + name + "\n" + mode + "--- " + from + "\n+++ " + to + "\n" + hunks
	return map[string]any{"type": "diff", "changes": []any{change}, "patch": map[string]any{"format": "git_patch", "text": text}}
}

// secondOptions are options in version 2.
func secondOptions(list []acp.SessionConfigOption) []any {
	all := []any{}
	for _, o := range list {
		m := object(o)
		m["configId"] = m["id"]
		delete(m, "id")
		all = append(all, m)
	}
	return all
}

// secondQuestion is a question about a call in version 2.
func secondQuestion(q acp.RequestPermissionRequest) map[string]any {
	call := secondCall(q.ToolCall)
	delete(call, "sessionUpdate")
	return map[string]any{
		"sessionId": q.SessionId, "title": *q.ToolCall.Title, "options": q.Options,
		"subject": map[string]any{"type": "tool_call", "toolCall": call},
	}
}
