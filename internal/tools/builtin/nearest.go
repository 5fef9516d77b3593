package builtin

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of the search for similar text; it only helps with an error.
const (
	maxNearestLines = 20
	maxNearestWork  = 4 << 20
	maxWordsWork    = 1 << 20
)

// nearest is the index of the lines that are most similar to want: the most lines that
// are the same except for space or, without such a line, the most common words; -1 if
// nothing is similar.
func nearest(lines []textLine, want []string) int {
	if len(want) > maxNearestLines {
		want = want[:maxNearestLines]
	}
	best, at := 0, -1
	for i := 0; i < len(lines) && len(lines)*len(want) <= maxNearestWork; i++ {
		score := 0
		for j := 0; j < len(want) && i+j < len(lines); j++ {
			score += alike(lines[i+j].text, want[j])
		}
		if score > best {
			best, at = score, i
		}
	}
	if at < 0 && len(lines)*len(want) <= maxWordsWork {
		return nearestWords(lines, want)
	}
	return at
}

// nearestWords compares lines by their words. Two lines that share fewer than half of
// their words differ.
func nearestWords(lines []textLine, want []string) int {
	wanted := make([]map[string]bool, len(want))
	for j, text := range want {
		wanted[j] = make(map[string]bool)
		for _, word := range words(text) {
			wanted[j][word] = true
		}
	}
	scores, best, at := make([]int, len(lines)), 0, -1
	for i, l := range lines {
		have := words(l.text)
		for j := 0; j < len(want) && j <= i; j++ {
			n := 0
			for _, word := range have {
				if wanted[j][word] {
					n++
				}
			}
			if 2*n >= max(len(have), len(wanted[j])) {
				scores[i-j] += n
			}
		}
	}
	for i, score := range scores {
		if score > best {
			best, at = score, i
		}
	}
	return at
}

func words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
}

// alike says how similar two lines are: the same except for space around them, or one
// inside the other. Lines with little content do not count.
func alike(a, b string) int {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	const tells = 4
	switch {
	case len(a) < tells || len(b) < tells:
		return 0
	case a == b:
		return 4
	case strings.EqualFold(strings.Join(strings.Fields(a), ""), strings.Join(strings.Fields(b), "")):
		return 3
	case strings.Contains(a, b) || strings.Contains(b, a):
		return 1
	}
	return 0
}

// difference says how the text that a model expects first differs from the file, and at
// which line of the file, from the index at.
func difference(lines []textLine, at int, want []string) (line int, text string) {
	for i, w := range want {
		have := "the end of the file"
		if at+i < len(lines) {
			have = quote(lines[at+i].text)
			if lines[at+i].text == w {
				continue
			}
		}
		return at + i + 1, fmt.Sprintf("line %d is %s, not %s", at+i+1, have, quote(w))
	}
	return at + len(want), "the line ends differ"
}

// quote shows a line with its spaces, which may be the mistake.
func quote(line string) string {
	const most = 60
	if runes := []rune(line); len(runes) > most {
		return strconv.Quote(string(runes[:most])) + "…"
	}
	return strconv.Quote(line)
}
