package builtin

import "strings"

// Bounds of the search for similar text; it only helps with an error.
const (
	maxNearestLines = 20
	maxNearestWork  = 4 << 20
)

// nearest is the run of lines of text that has the most in common with old, by the
// lines that are the same but for the space around them. first counts from 1. There
// are no lines when nothing is alike.
func nearest(text, old string) (first int, lines []string) {
	have := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	want := strings.Split(strings.Trim(old, "\r\n"), "\n")
	if len(want) > maxNearestLines {
		want = want[:maxNearestLines]
	}
	if len(have)*len(want) > maxNearestWork {
		return 0, nil
	}
	best, at := 0, 0
	for i := range have {
		score := 0
		for j := range want {
			if i+j < len(have) {
				score += alike(have[i+j], want[j])
			}
		}
		if score > best {
			best, at = score, i
		}
	}
	if best == 0 {
		return 0, nil
	}
	return at + 1, have[at:min(at+len(want), len(have))]
}

// alike weighs how much two lines have in common: the same but for space around
// them, or one inside the other. Lines that say little count for nothing.
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
