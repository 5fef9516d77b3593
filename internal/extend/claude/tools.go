package claude

import (
	"encoding/json"
	"math"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"podd/pkg/item"
)

// call is a tool call in Claude Code's words.
type call struct {
	// names are those of the tool, the first for the hook's input, the others for its matcher.
	names []string
	input map[string]any
	// fields are where the input is from; nil for a tool that Claude Code has not.
	fields []field
	dir    string
}

// field is an argument in podd's words and in Claude Code's.
type field struct {
	own, theirs string
	form        form
}

type form int

const (
	asIs form = iota
	aPath
	milliseconds
	todos
)

// known are the tools that both have.
var known = map[string]call{
	"shell": {names: []string{"Bash"}, fields: []field{
		{"command", "command", asIs}, {"timeout_seconds", "timeout", milliseconds}, {"background", "run_in_background", asIs}, {"why", "description", asIs},
	}},
	"read_file":  {names: []string{"Read"}, fields: []field{{"path", "file_path", aPath}, {"start_line", "offset", asIs}}},
	"write_file": {names: []string{"Write"}, fields: []field{{"path", "file_path", aPath}, {"content", "content", asIs}}},
	"edit_file": {names: []string{"Edit", "MultiEdit"}, fields: []field{
		{"path", "file_path", aPath}, {"old", "old_string", asIs}, {"new", "new_string", asIs}, {"all", "replace_all", asIs},
	}},
	"glob": {names: []string{"Glob"}, fields: []field{{"pattern", "pattern", asIs}}},
	"search": {names: []string{"Grep"}, fields: []field{
		{"pattern", "pattern", asIs}, {"path", "path", aPath}, {"glob", "glob", asIs}, {"ignore_case", "-i", asIs},
	}},
	"list_dir":  {names: []string{"LS"}, fields: []field{{"path", "path", aPath}}},
	"web_fetch": {names: []string{"WebFetch"}, fields: []field{{"url", "url", asIs}}},
	"todo":      {names: []string{"TodoWrite"}, fields: []field{{"items", "todos", todos}}},
	"spawn_pod": {names: []string{"Task", "Agent"}, fields: []field{{"task", "prompt", asIs}, {"name", "description", asIs}, {"agent", "subagent_type", asIs}}},
	"ask_user":  {names: []string{"AskUserQuestion"}, fields: []field{{"questions", "questions", asIs}}},
}

// extra are fields that Claude Code always has.
var extra = map[string]map[string]any{
	"search": {"output_mode": "content"}, "web_fetch": {"prompt": ""}, "spawn_pod": {"subagent_type": agentType},
}

// agentType is the type of all sub-pods.
const agentType = "general-purpose"

// Toolset are the tools that a file of Claude Code names.
type Toolset struct {
	// Tools are podd's names, and those that are podd's or an MCP server's already.
	Tools []string
	// Commands are patterns of rules for the commands that shell may run, if not all: Bash(git diff:*).
	Commands []string
	// Limited are other tools, by podd's names, of which a part is named: Read(src/**). Unknown podd has not.
	Limited, Unknown []string
}

// also are Claude Code's names, in lower case, of more tools.
var also = map[string][]string{
	"edit": {"edit_file", "apply_patch"}, "multiedit": {"edit_file", "apply_patch"}, "notebookread": {"read_file"}, "skill": {"skill"}, "slashcommand": {"skill"},
	"bashoutput": {"job"}, "killshell": {"job"}, "killbash": {"job"}, "taskoutput": {"job"}, "taskstop": {"job"},
}

// Tools reads such names.
func Tools(names []string) (n Toolset) {
	whole := false
	for _, given := range names {
		name, part, _ := strings.Cut(given, "(")
		part = strings.TrimSuffix(part, ")")
		own := ownNames(name)
		switch {
		case own == nil:
			n.Unknown = append(n.Unknown, name)
		case own[0] == "shell" && part != "" && part != "*":
			n.Commands = append(n.Commands, commandPattern(part))
			n.Tools = append(n.Tools, own...)
		case part != "" && !slices.Contains([]string{"shell", "spawn_pod", "skill"}, own[0]):
			n.Limited = append(n.Limited, own...)
		default:
			n.Tools = append(n.Tools, own...)
			whole = whole || own[0] == "shell"
		}
	}
	if whole {
		n.Commands = nil
	}
	return n
}

// commandPattern is a pattern of Claude Code for commands as one of podd's rules: git diff:* is git diff *.
func commandPattern(part string) string {
	if prefix, ok := strings.CutSuffix(part, ":*"); ok {
		return prefix + " *"
	}
	return part
}

// ownNames are podd's names for a tool; nil if podd has none. A name in lower case is podd's already.
func ownNames(name string) []string {
	if own := also[strings.ToLower(name)]; own != nil {
		return own
	}
	for own, c := range known {
		if slices.ContainsFunc(c.names, func(theirs string) bool { return strings.EqualFold(theirs, name) }) {
			return []string{own}
		}
	}
	if name == strings.ToLower(name) || strings.HasPrefix(name, "mcp__") {
		return []string{name}
	}
	return nil
}

// HasTool says whether a list of names has a tool. In a name, * matches any text; mcp__SERVER is all tools of a server.
func HasTool(list []string, tool string) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		matches, _ := path.Match(name, tool) // No tool has a name that is no pattern.
		return matches || strings.HasPrefix(name, "mcp__") && strings.HasPrefix(tool, strings.TrimSuffix(name, "__")+"__")
	})
}

// callsOf are a tool call in Claude Code's words: a patch is one call for each of its files.
func callsOf(tool, arguments, dir string) []call {
	args := object(arguments)
	if patch, ok := args["input"].(string); ok && tool == "apply_patch" {
		return patched(patch, dir)
	}
	c, ok := known[tool]
	if !ok {
		return []call{{names: []string{tool}, input: args, dir: dir}}
	}
	c.dir, c.input = dir, map[string]any{}
	for key, value := range extra[tool] {
		c.input[key] = value
	}
	for _, f := range c.fields {
		if value, ok := args[f.own]; ok {
			c.input[f.theirs] = f.give(value, dir)
		}
	}
	from, _ := args["start_line"].(float64)
	if to, ok := args["end_line"].(float64); ok && tool == "read_file" {
		c.input["limit"] = to - max(from, 1) + 1
	}
	c.names = append([]string{}, append(c.names, tool)...)
	return []call{c}
}

// object is a JSON object; empty for anything else.
func object(text string) map[string]any {
	all := map[string]any{}
	_ = json.Unmarshal([]byte(text), &all)
	return all
}

func (f field) give(value any, dir string) any {
	switch v := value.(type) {
	case string:
		if f.form == aPath {
			return absolute(v, dir)
		}
	case float64:
		if f.form == milliseconds {
			return v * 1000
		}
	case []any:
		if f.form != todos {
			return value
		}
		list := []any{}
		for _, entry := range v {
			e, _ := entry.(map[string]any)
			status := e["status"]
			if status == "done" {
				status = "completed"
			}
			list = append(list, map[string]any{"content": e["text"], "activeForm": e["text"], "status": status})
		}
		return list
	}
	return value
}

func absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// rewritten are the arguments with what a hook changed. A field that podd has not is left out.
func (c call) rewritten(arguments string, updated map[string]any) (string, bool) {
	args := object(arguments)
	if c.fields == nil {
		args = updated
	}
	if c.names[len(c.names)-1] == "apply_patch" {
		return "", false // It is one of the patch's changes.
	}
	for _, f := range c.fields {
		value, ok := updated[f.theirs]
		if !ok || f.form == todos || reflect.DeepEqual(value, c.input[f.theirs]) {
			continue
		}
		if ms, is := value.(float64); is && f.form == milliseconds {
			value = math.Ceil(ms / 1000)
		}
		args[f.own] = value
	}
	if reflect.DeepEqual(args, object(arguments)) {
		return "", false
	}
	text, err := json.Marshal(args)
	return string(text), err == nil
}

// patched are the changes of a patch, each as the call that Claude Code would make.
func patched(patch, dir string) (calls []call) {
	var old, fresh []string
	end := func() {
		if len(calls) == 0 {
			return
		}
		input := calls[len(calls)-1].input
		if _, is := input["content"]; is {
			input["content"] = strings.Join(fresh, "\n")
		} else {
			input["old_string"], input["new_string"] = strings.Join(old, "\n"), strings.Join(fresh, "\n")
		}
		old, fresh = nil, nil
	}
	begin := func(name, path string, more string) {
		end()
		calls = append(calls, call{names: []string{name, "apply_patch"}, dir: dir, input: map[string]any{"file_path": absolute(strings.TrimSpace(path), dir), more: ""}})
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		verb, path, _ := strings.Cut(line, ":")
		switch {
		case verb == "*** Add File", verb == "*** Move to":
			begin("Write", path, "content")
		case verb == "*** Update File", verb == "*** Delete File":
			begin("Edit", path, "old_string")
		case strings.HasPrefix(line, "+"):
			fresh = append(fresh, line[1:])
		case strings.HasPrefix(line, "-"):
			old = append(old, line[1:])
		case strings.HasPrefix(line, " "):
			old, fresh = append(old, line[1:]), append(fresh, line[1:])
		}
	}
	end()
	return calls
}

// response is an output in Claude Code's words.
func (c call) response(out item.Output) map[string]any {
	r := map[string]any{"content": out.Content, "summary": out.Summary}
	switch c.names[0] {
	case "Bash":
		r["stdout"], r["stderr"], r["interrupted"], r["isImage"] = out.Content, "", false, false
	case "Write", "Edit":
		r["filePath"], r["success"] = c.input["file_path"], !out.IsError
	}
	return r
}
