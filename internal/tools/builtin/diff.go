package builtin

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"podd/pkg/item"
)

// maxDiffed is how large the parts of two texts that differ may be together to be compared, in
// bytes.
const maxDiffed = 1 << 20

// diffOf is the change of a file, for people. Binary and large files have none.
func (f *files) diffOf(path, before, after string) item.FileDiff {
	d := item.FileDiff{Path: f.Rel(path)}
	if strings.Contains(before, "\x00") || strings.Contains(after, "\x00") {
		return d
	}
	if edits, ok := editsOf(before, after); ok {
		_, _, d.Diff = showDiff(before, edits)
	}
	return d
}

// Diff is a unified diff of two texts, without names, and the lines added and removed. It is
// empty if they are too large to be compared.
func Diff(before, after string) (added, removed int, diff string) {
	edits, ok := editsOf(before, after)
	if !ok {
		return 0, 0, ""
	}
	return showDiff(before, edits)
}

// showDiff is a unified diff of edits to a text, without the lines with the files' names,
// and the number of lines added and removed. It is empty if the diff cannot be made.
func showDiff(before string, edits []udiff.Edit) (added, removed int, diff string) {
	const context = 2
	added, removed, diff = unified(before, edits, context)
	return added, removed, strings.ReplaceAll(diff, "\r\n", "\n")
}

// unified is showDiff with the line ends of the texts.
func unified(before string, edits []udiff.Edit, context int) (added, removed int, diff string) {
	whole, err := udiff.ToUnifiedDiff("", "", before, edits, context)
	if err != nil {
		return 0, 0, ""
	}
	for _, hunk := range whole.Hunks {
		for _, line := range hunk.Lines {
			switch line.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
	}
	_, diff, _ = strings.Cut(whole.String(), "\n")
	_, diff, _ = strings.Cut(diff, "\n")
	return added, removed, diff
}
