package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"podd/pkg/item"
)

// Fit makes the content of an output above the limit from its two ends: head is its start
// and tail its end, each of at least MaxBytes or whole (both whole for an output in
// memory). cut says how long the output was and where it is kept; Fit returns it together
// with what the content has of it.
//
// A marker replaces the missing part. Cuts fall on line ends, or, where that would waste
// more than half of the room, as with an endless line, between runes. A partly kept line
// is a kept line. Bytes that are not UTF-8 become question marks, one each.
//
// middle returns what the output has between two offsets, or as much of its start as it can. Behind the marker stand the lines of the
// missing part that name a failure. A nil middle, or another strategy than head_tail, keeps none.
func (l Limit) Fit(head, tail string, middle func(from, to int64) string, cut item.Cut) (string, item.Cut) {
	head, tail = Repair(head), Repair(tail)
	cut.KeptBytes, cut.KeptLines = 0, 0
	// The marker is longest when nothing is kept. Two newlines surround it.
	bytes := max(l.MaxBytes-len(l.marker(cut))-2, 0)
	lines := l.MaxLines - 1
	failures := ""
	switch l.Strategy {
	case StrategyHead:
		head, tail = fitHead(head, bytes, lines), ""
	case StrategyTail:
		head, tail = "", fitTail(tail, bytes, lines)
	default:
		share := fitHead(head, bytes*l.HeadPercent/100, lines*l.HeadPercent/100)
		bytes, lines = bytes-len(share), lines-int(CountLines(share))
		var found []failure
		if middle != nil {
			found = l.between(share, tail, middle, cut.TotalBytes, bytes, lines)
			all, _ := showFailures(found, 0, cut.TotalBytes)
			bytes, lines = bytes-len(all), lines-int(CountLines(all))
		}
		// One end gets the room that the other leaves.
		tail = fitTail(tail, bytes, lines)
		head = fitHead(head, len(share)+bytes-len(tail), int(CountLines(share))+lines-int(CountLines(tail)))
		failures, cut.KeptBytes = showFailures(found, int64(len(head)), cut.TotalBytes-int64(len(tail)))
		cut.KeptLines = max(CountLines(failures)-1, 0)
	}
	cut.KeptBytes += int64(len(head) + len(tail))
	// Both ends may hold a part of the same line.
	cut.KeptLines = min(cut.KeptLines+CountLines(head)+CountLines(tail), cut.TotalLines)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	if tail = failures + tail; tail != "" {
		tail = "\n" + tail
	}
	return head + l.marker(cut) + tail, cut
}

// between finds failures behind the head and before the least tail that is kept; bytes and lines are the room of both.
func (l Limit) between(head, tail string, middle func(from, to int64) string, total int64, bytes, lines int) []failure {
	forBytes, forLines := bytes*failuresPercent/100, lines*failuresPercent/100
	least := fitTail(tail, bytes-forBytes, lines-forLines)
	from, to := int64(len(head)), total-int64(len(least))
	if from >= to {
		return nil
	}
	return findFailures(Repair(middle(from, to)), from, int64(strings.Count(head, "\n"))+1, forBytes-len(failuresTitle), forLines-1)
}

// marker is the line in place of what was cut.
func (l Limit) marker(cut item.Cut) string {
	if m := marker(cut, true); len(m) <= l.MaxBytes/2 {
		return m
	}
	return marker(cut, false)
}

func marker(cut item.Cut, withPath bool) string {
	where := "full text in " + cut.SpoolPath + " (read_file or search it)"
	switch {
	case cut.SpoolPath == "":
		where = "the full text was not kept"
	case !withPath || strings.Contains(cut.SpoolPath, "\n"):
		where = "the full text is kept in a file"
	}
	return fmt.Sprintf("[cut: %d of %d bytes, %d of %d lines; %s]",
		cut.TotalBytes-cut.KeptBytes, cut.TotalBytes, cut.TotalLines-cut.KeptLines, cut.TotalLines, where)
}

// splitAtMarker returns the two ends of a content made by Fit.
func splitAtMarker(content string, cut item.Cut) (head, tail string, found bool) {
	for _, withPath := range []bool{true, false} {
		head, tail, found = strings.Cut(content, marker(cut, withPath))
		if !found {
			continue
		}
		tail = strings.TrimPrefix(tail, "\n")
		if int64(len(head)+len(tail)) > cut.KeptBytes {
			head = strings.TrimSuffix(head, "\n")
		}
		return head, tail, true
	}
	return "", "", false
}

// fitHead is as much of the start of s as bytes and lines allow.
func fitHead(s string, bytes, lines int) string {
	end := 0
	for range lines {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			end = len(s)
			break
		}
		end += i + 1
		if end > bytes {
			break
		}
	}
	if end <= bytes {
		return s[:end]
	}
	if whole := strings.LastIndexByte(s[:bytes], '\n') + 1; whole >= (bytes+1)/2 {
		return s[:whole]
	}
	return cutHead(s, bytes)
}

// fitTail is as much of the end of s as bytes and lines allow.
func fitTail(s string, bytes, lines int) string {
	start := len(s)
	for range lines {
		i := strings.LastIndexByte(s[:max(start-1, 0)], '\n')
		start = i + 1
		if i < 0 || len(s)-start > bytes {
			break
		}
	}
	if len(s)-start <= bytes {
		return s[start:]
	}
	from := len(s) - bytes
	// A line that starts exactly at from is whole.
	if i := strings.IndexByte(s[from-1:], '\n'); i >= 0 && bytes-i >= (bytes+1)/2 {
		return s[from+i:]
	}
	return cutTail(s, bytes)
}

// cutHead is the longest start of s with at most n bytes that splits no rune.
func cutHead(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := 0; back < utf8.UTFMax && back <= n; back++ {
		if utf8.RuneStart(s[n-back]) {
			return s[:n-back]
		}
	}
	return s[:n]
}

// cutTail is the longest end of s with at most n bytes that splits no rune.
func cutTail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	start := len(s) - n
	for skip := 0; skip < utf8.UTFMax; skip++ {
		if start+skip == len(s) || utf8.RuneStart(s[start+skip]) {
			return s[start+skip:]
		}
	}
	return s[start:]
}
