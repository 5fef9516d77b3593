package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/coder/acp-go-sdk"

	"podd/internal/sanitize"
	"podd/pkg/transcript"
)

// looks are how an editor shows a call, derived from its tool and arguments alone.
type looks struct {
	title   string
	kind    acp.ToolKind
	places  []acp.ToolCallLocation
	content []acp.ToolCallContent
	input   any
	// plan is the plan after the call is done.
	plan []acp.PlanEntry
}

// kinds are the kinds of podd's own tools; others have the kind other.
var kinds = map[string]acp.ToolKind{
	"read_file": acp.ToolKindRead, "list_dir": acp.ToolKindRead, "repo_structure": acp.ToolKindRead, "repo_map": acp.ToolKindRead,
	"glob": acp.ToolKindSearch, "search": acp.ToolKindSearch,
	"write_file": acp.ToolKindEdit, "edit_file": acp.ToolKindEdit, "apply_patch": acp.ToolKindEdit,
	"shell": acp.ToolKindExecute, "todo": acp.ToolKindThink,
}

// arguments are the arguments of podd's tools that are shown. A model may write anything:
// what does not fit is ignored.
type arguments struct {
	Path    string `json:"path"`
	Start   int    `json:"start_line"`
	End     int    `json:"end_line"`
	Pattern string `json:"pattern"`
	Command string `json:"command"`
	Access  string `json:"access"`
	Items   []struct {
		Text   string `json:"text"`
		Status string `json:"status"`
	} `json:"items"`
}

func looksOf(tool, raw, dir string) looks {
	var a arguments
	_ = json.Unmarshal([]byte(raw), &a) // See arguments.
	l := looks{title: title(tool, a), kind: acp.ToolKindOther, input: rawInput(raw)}
	if kind, ok := kinds[tool]; ok {
		l.kind = kind
	}
	if a.Path != "" {
		place := acp.ToolCallLocation{Path: absolute(a.Path, dir)}
		if a.Start > 0 {
			place.Line = acp.Ptr(a.Start)
		}
		l.places = []acp.ToolCallLocation{place}
	}
	switch tool {
	case "shell":
		l.content = []acp.ToolCallContent{textContent("$ " + a.Command)}
	case "todo":
		l.plan = planOf(a)
	}
	return l
}

// ended is the content of a finished call: the diffs if it changed files, otherwise its
// result.
func ended(b transcript.Block, dir string, show showDiff) []acp.ToolCallContent {
	failed, text := b.State == transcript.Failed, b.Detail
	if content := diffsContent(b.Call.Diffs, dir, show); len(content) > 0 {
		return content
	}
	if strings.TrimSpace(text) == "" || failed {
		text = strings.TrimSuffix(b.Text+"\n"+text, "\n")
	}
	return []acp.ToolCallContent{textContent(text)}
}

// planOf is the list of a todo call.
func planOf(a arguments) []acp.PlanEntry {
	plan := []acp.PlanEntry{}
	for _, t := range a.Items {
		status := acp.PlanEntryStatusPending
		switch t.Status {
		case "in_progress":
			status = acp.PlanEntryStatusInProgress
		case "done":
			status = acp.PlanEntryStatusCompleted
		}
		plan = append(plan, acp.PlanEntry{Content: sanitize.Line(t.Text), Priority: acp.PlanEntryPriorityMedium, Status: status})
	}
	return plan
}

// mostTitle is the longest title, in characters.
const mostTitle = 120

// title is a call in one safe line.
func title(tool string, a arguments) string {
	about := ""
	switch {
	case a.Command != "":
		about = "`" + strings.TrimSpace(a.Command) + "`"
		if a.Access != "" {
			about = "access " + a.Access + ": " + about
		}
	case a.Pattern != "" && a.Path != "":
		about = fmt.Sprintf("%q in %s", a.Pattern, a.Path)
	case a.Pattern != "":
		about = fmt.Sprintf("%q", a.Pattern)
	case a.Path != "" && a.Start > 0 && a.End > 0:
		about = fmt.Sprintf("%s:%d-%d", a.Path, a.Start, a.End)
	default:
		about = a.Path
	}
	text := []rune(sanitize.Line(strings.TrimSpace(tool + " " + about)))
	if len(text) > mostTitle {
		text = append(text[:mostTitle-1], '…')
	}
	return string(text)
}

// rawInput is a call's arguments as the protocol wants them: an object if they are one.
func rawInput(raw string) any {
	if json.Valid([]byte(raw)) {
		return json.RawMessage(raw)
	}
	return raw
}

func absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
