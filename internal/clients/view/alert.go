package view

import (
	"fmt"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// AlertText is an alert as one safe line: level, text and how often it was raised.
func AlertText(a item.Alert) string {
	line := string(a.Level)
	if line == "" {
		line = "alert"
	}
	line += ": " + sanitize.Line(a.Text)
	if a.Count > 1 {
		line += fmt.Sprintf(" (x%s)", Count(a.Count))
	}
	return line
}

func alertStyle(l item.Level) style {
	switch l {
	case item.LevelError:
		return red
	case item.LevelWarn:
		return yellow
	}
	return plain
}
