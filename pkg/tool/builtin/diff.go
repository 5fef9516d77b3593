package builtin

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"podd/pkg/item"
)

// maxDiffed is how large a file and its change may be together to be compared, in bytes.
const maxDiffed = 1 << 20

// diffOf is the change of a file, for people. Binary and large files have none.
func (f *files) diffOf(path, before, after string) item.FileDiff {
	d := item.FileDiff{Path: f.Rel(path)}
	if len(before)+len(after) <= maxDiffed && !strings.Contains(before+after, "\x00") {
		_, _, d.Diff = showDiff(before, udiff.Strings(before, after))
	}
	return d
}

// showDiff is a unified diff of edits to a text, without the lines with the files' names,
// and the number of lines added and removed. It is empty if the diff cannot be made.
func showDiff(before string, edits []udiff.Edit) (added, removed int, diff string) {
	const context = 2
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
	return added, removed, strings.ReplaceAll(diff, "\r\n", "\n")
}
