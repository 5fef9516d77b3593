package tool

import (
	"fmt"
	"strings"

	"podd/pkg/item"
)

// Summarized makes the content of an output above the limit from a model's summary of it,
// after a marker that says so. read is how many bytes of the output the model got. cut
// says how long the output was and where it is kept; it returns with the summary's size
// as what is kept.
//
// ok is false for a summary that is empty or not shorter than the output. A summary above
// the limit is cut, which the content says.
func (l Limit) Summarized(text, model string, read int64, cut item.Cut) (content string, _ item.Cut, ok bool) {
	const rest = "\n[the rest of the summary was left out]"
	marker := summaryMarker(model, read, cut, true)
	if len(marker) > l.MaxBytes/2 {
		marker = summaryMarker(model, read, cut, false)
	}
	text = strings.TrimSpace(Repair(text))
	bytes, lines := l.MaxBytes-len(marker)-len("\n"), l.MaxLines-1
	if len(text) > bytes || CountLines(text) > int64(lines) {
		if lines > 1 {
			text = strings.TrimRight(fitHead(text, max(bytes-len(rest), 0), lines-1), "\n") + rest
		} else {
			text = strings.TrimRight(fitHead(text, max(bytes, 0), lines), "\n")
		}
	}
	if text == "" || int64(len(text)) >= cut.TotalBytes {
		return "", cut, false
	}
	cut.KeptBytes, cut.KeptLines = int64(len(text)), min(CountLines(text), cut.TotalLines)
	return marker + "\n" + text, cut, true
}

// summaryMarker is the line before a summary.
func summaryMarker(model string, read int64, cut item.Cut, withPath bool) string {
	where := "the full text is in " + cut.SpoolPath + " (read_file or search it)"
	switch {
	case cut.SpoolPath == "":
		where = "the full text was not kept"
	case !withPath || strings.Contains(cut.SpoolPath, "\n"):
		where = "the full text is kept in a file"
	}
	part := ""
	if read < cut.TotalBytes {
		part = fmt.Sprintf("; it read %d bytes of them, from both ends", read)
	}
	return fmt.Sprintf("[summarized by %s from %d bytes, %d lines%s; %s]",
		Bound(model), cut.TotalBytes, cut.TotalLines, part, where)
}
