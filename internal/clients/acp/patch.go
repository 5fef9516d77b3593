package acp

import (
	"strings"

	"github.com/coder/acp-go-sdk"
)

// change is what a patch does to one file: the old and the new lines, hunk after hunk.
type change struct {
	path     string
	added    bool
	old, new strings.Builder
}

// diff shows the change.
func (c *change) diff(path string) acp.ToolCallContent {
	if c.added {
		return acp.ToolDiffContent(path, c.new.String())
	}
	return acp.ToolDiffContent(path, c.new.String(), c.old.String())
}

// patched reads a patch of apply_patch only to show it: text that is not a patch changes
// nothing.
func patched(text string) (changes []*change) {
	var c *change
	begin := func(path string, added bool) {
		c = &change{path: strings.TrimSpace(path), added: added}
		changes = append(changes, c)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if path, ok := strings.CutPrefix(line, "*** Add File:"); ok {
			begin(path, true)
			continue
		}
		if path, ok := strings.CutPrefix(line, "*** Update File:"); ok {
			begin(path, false)
			continue
		}
		if path, ok := strings.CutPrefix(line, "*** Delete File:"); ok {
			begin(path, false)
			continue
		}
		if c == nil || line == "" {
			continue
		}
		switch line[0] {
		case ' ':
			c.old.WriteString(line[1:] + "\n")
			c.new.WriteString(line[1:] + "\n")
		case '-':
			c.old.WriteString(line[1:] + "\n")
		case '+':
			c.new.WriteString(line[1:] + "\n")
		case '@':
			if c.old.Len()+c.new.Len() > 0 {
				c.old.WriteString("…\n")
				c.new.WriteString("…\n")
			}
		}
	}
	return changes
}
