package view

import (
	"fmt"
	"strings"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// Rule is a rule in a safe line.
func Rule(r item.Rule) string {
	levels := make([]string, len(r.Access))
	for i, level := range r.Access {
		levels[i] = string(level)
	}
	parts := []string{r.Decision}
	for _, part := range [][2]string{
		{"tool", r.Tool}, {"path", r.Path}, {"command", r.Command}, {"host", r.Host}, {"access", strings.Join(levels, ",")},
	} {
		if part[1] != "" {
			parts = append(parts, fmt.Sprintf("%s %q", part[0], part[1]))
		}
	}
	return sanitize.Line(strings.Join(parts, ", "))
}
