package show

import (
	"unicode"
)

// part is a piece of a line, and whether the other line of the pair lacks it.
type part struct {
	text    string
	changed bool
}

const (
	// alike is how much of two lines must be the same for their words to be marked, in per
	// cent.
	alike = 60
	// maxWords is how many words of a line are compared: it costs the square of it.
	maxWords = 200
)

// markPairs marks what changed in lines that were replaced one by one.
func markPairs(rows []row) {
	for i := 0; i < len(rows); {
		from := i
		for i < len(rows) && rows[i].sign == '-' {
			i++
		}
		removed := i - from
		for i < len(rows) && rows[i].sign == '+' {
			i++
		}
		if added := i - from - removed; added == removed {
			for j := range removed {
				markPair(&rows[from+j], &rows[from+removed+j])
			}
		}
		if i == from {
			i++
		}
	}
}

func markPair(a, b *row) {
	before, after := splitWords(a.text), splitWords(b.text)
	if len(before) > maxWords || len(after) > maxWords {
		return
	}
	keptBefore, keptAfter := inBoth(before, after)
	same := 0
	for i, kept := range keptBefore {
		if kept {
			same += len(before[i])
		}
	}
	if 200*same < alike*(len(a.text)+len(b.text)) {
		return
	}
	a.marks, b.marks = parts(before, keptBefore), parts(after, keptAfter)
}

// splitWords divides a line into words, blanks and single other characters.
func splitWords(text string) (words []string) {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '_':
			return 1
		case r == ' ' || r == '\t':
			return 2
		}
		return 3
	}
	begin, last := 0, 0
	for i, r := range text {
		c := class(r)
		if i > 0 && (c != last || c == 3) {
			words = append(words, text[begin:i])
			begin = i
		}
		last = c
	}
	if begin < len(text) {
		words = append(words, text[begin:])
	}
	return words
}

// inBoth says which words belong to the longest common subsequence.
func inBoth(a, b []string) (inA, inB []bool) {
	lengths := make([][]int, len(a)+1)
	for i := range lengths {
		lengths[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lengths[i][j] = lengths[i+1][j+1] + len(a[i])
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case lengths[i+1][j] >= lengths[i][j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}

// parts are the words, neighbours of the same fate together.
func parts(words []string, kept []bool) (list []part) {
	for i, w := range words {
		if last := len(list) - 1; last >= 0 && list[last].changed == !kept[i] {
			list[last].text += w
			continue
		}
		list = append(list, part{w, !kept[i]})
	}
	return list
}
