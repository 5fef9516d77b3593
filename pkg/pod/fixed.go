package pod

import (
	"strings"

	"podd/internal/workspace/instructions"
	"podd/internal/workspace/skills"
	"podd/pkg/fold"
	"podd/pkg/item"
)

// FixedPart is a part of what precedes the conversation in a request.
type FixedPart struct {
	// Kind is instructions, project, skill, tools or mcp.
	Kind string
	// Name is the file or the server that it is from, or the skill; may be empty.
	Name string
	// Count is how many tools it has; 0 for text.
	Count int
	// Tokens is an estimate.
	Tokens int
}

// fixedParts are those of a setup, in the order in which they are sent.
func (h *Host) fixedParts(s item.Setup, perToken float64) []FixedPart {
	var parts []FixedPart
	text := func(kind, name, text string) {
		if text != "" {
			parts = append(parts, FixedPart{Kind: kind, Name: name, Tokens: fold.Estimate(len(text), perToken)})
		}
	}
	own, listed := skills.Split(s.Instructions)
	said, offered := skills.Split(s.ProjectInstructions)
	text("instructions", "", own)
	for _, skill := range listed {
		text("skill", skill.Name+" (user)", skill.Line)
	}
	text("project", instructions.Source(s.ProjectInstructions), said)
	for _, skill := range offered {
		text("skill", skill.Name+" (workspace)", skill.Line)
	}
	bytes := 0
	for n, t := range s.Tools {
		part := FixedPart{Kind: "tools"}
		if rest, ok := strings.CutPrefix(t.Name, h.ForeignPrefix); ok && h.ForeignPrefix != "" {
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
	return parts
}
