package workspace

import (
	"strings"

	"podd/internal/workspace/instructions"
	"podd/internal/workspace/skills"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// Explain gives the parts of a setup in the order in which they are sent; see
// [pod.Workspaces].
func (all *Workspaces) Explain(s item.Setup, perToken float64) (parts []pod.FixedPart, source string) {
	source = instructions.Source(s.ProjectInstructions)
	text := func(kind, name, text string) {
		if text != "" {
			parts = append(parts, pod.FixedPart{Kind: kind, Name: name, Tokens: fold.Estimate(len(text), perToken)})
		}
	}
	own, listed := skills.Split(s.Instructions)
	said, offered := skills.Split(s.ProjectInstructions)
	text("instructions", "", own)
	for _, skill := range listed {
		text("skill", skill.Name+" (user)", skill.Line)
	}
	text("project", source, said)
	for _, skill := range offered {
		text("skill", skill.Name+" (workspace)", skill.Line)
	}
	bytes := 0
	for n, t := range s.Tools {
		part := pod.FixedPart{Kind: "tools"}
		if rest, ok := all.foreign(t.Name); ok {
			part.Kind = "mcp"
			part.Name, _, _ = strings.Cut(rest, "__")
		}
		if last := len(parts) - 1; n == 0 || parts[last].Kind != part.Kind || parts[last].Name != part.Name {
			parts, bytes = append(parts, part), 0
		}
		last := &parts[len(parts)-1]
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
		last.Count++
		last.Tokens = fold.Estimate(bytes, perToken)
	}
	return parts, source
}
