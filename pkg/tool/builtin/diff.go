package builtin

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

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
