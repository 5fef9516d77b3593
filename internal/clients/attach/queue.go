package attach

import (
	"fmt"
	"strings"

	"podd/internal/clients/cells"
	"podd/internal/sanitize"
	"podd/pkg/transcript"
)

// queuedRows are at most so many rows about the prompts that wait, the next one first. A prompt
// that its turn takes at once has none.
func (a frame) queuedRows(most int) (rows []line) {
	if a.turn == 0 && a.pod.GetPause() == nil {
		return nil
	}
	var waiting []*block
	for _, b := range a.log.blocks {
		if b.Kind == transcript.User && b.State == transcript.Queued {
			waiting = append(waiting, b)
		}
	}
	for i, b := range waiting[:min(most, len(waiting))] {
		more := ""
		if left := len(waiting) - most; left > 0 && i == most-1 {
			more = fmt.Sprintf("  (%d more)", left)
		}
		text := "  queued: " + sanitize.Line(strings.Join(strings.Fields(b.Text), " "))
		rows = append(rows, in(dim, cells.Fit(text, a.columns-len(more))+more))
	}
	return rows
}
