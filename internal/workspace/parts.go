package workspace

import (
	"strings"

	"podd/internal/workspace/instructions"
	"podd/internal/workspace/skills"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// Explain returns the parts of a setup in the order in which they are sent; see
// [pod.Workspaces].
func (all *Workspaces) Explain(s item.Setup, perToken float64) (parts []pod.FixedPart, files string) {
	text := func(kind, name, text string) {
		if text != "" {
			parts = append(parts, pod.FixedPart{Kind: kind, Name: name, Bytes: len(text), Tokens: fold.Estimate(len(text), perToken)})
		}
	}
	own, listed := skills.Split(s.Instructions)
	said, offered := skills.Split(s.ProjectInstructions)
	text("base", "", s.Base)
	text("environment", "", s.Environment)
	text("instructions", "", own)
	for _, skill := range listed {
		text("skill", skill.Name+" (user)", skill.Line)
	}
	var sources []string
	for _, part := range instructions.Parts(said) {
		text("project", part.File, part.Text)
		if part.File != "" {
			sources = append(sources, part.File)
		}
	}
	for _, skill := range offered {
		text("skill", skill.Name+" (workspace)", skill.Line)
	}
	for n, t := range s.Tools {
		part := pod.FixedPart{Kind: "tools"}
		if rest, ok := all.foreign(t.Name); ok {
			part.Kind = "mcp"
			part.Name, _, _ = strings.Cut(rest, "__")
		}
		if t.Name == tool.FindTool || t.Name == tool.CallTool {
			part.Kind, part.Name = "mcp", "search"
		}
		if last := len(parts) - 1; n == 0 || parts[last].Kind != part.Kind || parts[last].Name != part.Name {
			parts = append(parts, part)
		}
		last := &parts[len(parts)-1]
		last.Count++
		last.Bytes += len(t.Name) + len(t.Description) + len(t.Schema)
		last.Tokens = fold.Estimate(last.Bytes, perToken)
	}
	return parts, strings.Join(sources, ", ")
}
