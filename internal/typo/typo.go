// Package typo finds the words that a mistyped one was probably meant to be.
package typo

import (
	"cmp"
	"slices"
)

// Nearest is the word that a mistyped one was probably meant to be; empty if none is
// similar.
func Nearest(typed string, words []string) string {
	if near := Near(typed, words, max(1, len(typed)/4)); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Near are the words that at most so many edits make of a mistyped one, the nearest first.
func Near(typed string, words []string, most int) []string {
	type near struct {
		word string
		away int
	}
	var found []near
	for _, word := range words {
		if n := edits(typed, word); n <= most {
			found = append(found, near{word, n})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.away, b.away) })
	out := make([]string, len(found))
	for i, n := range found {
		out[i] = n.word
	}
	return out
}

// edits is how many characters must be inserted, removed, replaced or swapped with the
// next one to turn one word into the other.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			differs := 0
			if a[i-1] != b[j-1] {
				differs = 1
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differs)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
