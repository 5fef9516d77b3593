package acp

import (
	"strings"

	"github.com/coder/acp-go-sdk"

	"podd/pkg/item"
)

// showDiff shows a unified diff of a file.
type showDiff func(path, diff string) acp.ToolCallContent

// previewContent are what a call that waits would make of files.
func previewContent(list []item.Preview, dir string, show showDiff) (content []acp.ToolCallContent, places []acp.ToolCallLocation) {
	for _, p := range list {
		path := absolute(p.Path, dir)
		places = append(places, acp.ToolCallLocation{Path: path})
		// What it executes, the text of the question shows.
		if p.Diff != "" && !p.Runs {
			content = append(content, show(path, p.Diff))
		}
	}
	return content, places
}

// diffsContent are the changes of a call.
func diffsContent(diffs *item.Diffs, dir string, show showDiff) (content []acp.ToolCallContent) {
	for _, d := range diffs.List() {
		content = append(content, show(absolute(d.Path, dir), d.Diff))
	}
	return content
}

// diffContent is a unified diff as the old and the new lines, hunk after hunk.
func diffContent(path, diff string) acp.ToolCallContent {
	var before, after strings.Builder
	var last byte
	for line := range strings.Lines(diff) {
		switch op := line[0]; op {
		case '@':
			if before.Len()+after.Len() > 0 {
				before.WriteString("…\n")
				after.WriteString("…\n")
			}
		case '\\':
			// The line above has no newline.
			if last != '+' {
				trimNewline(&before)
			}
			if last != '-' {
				trimNewline(&after)
			}
		default:
			if last = op; op != '+' {
				before.WriteString(line[1:])
			}
			if op != '-' {
				after.WriteString(line[1:])
			}
		}
	}
	if strings.HasPrefix(diff, "@@ -0,0 ") {
		return acp.ToolDiffContent(path, after.String())
	}
	return acp.ToolDiffContent(path, after.String(), before.String())
}

func trimNewline(b *strings.Builder) {
	text := strings.TrimSuffix(b.String(), "\n")
	b.Reset()
	b.WriteString(text)
}
