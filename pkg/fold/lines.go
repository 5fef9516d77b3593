package fold

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"podd/pkg/item"
)

// Lines are those of a file that a read shows: from First to Last, both counted from 1. The zero value is
// the whole file.
type Lines struct{ First, Last int }

// someLines are lines of which the numbers are not known.
var someLines = Lines{-1, -1}

// cover says that whoever reads a sees b again.
func (a Lines) cover(b Lines) bool {
	if a == (Lines{}) || b == (Lines{}) || a == someLines || b == someLines {
		return a == Lines{}
	}
	return a.First <= b.First && b.Last <= a.Last
}

// shownBy are the lines that a call of read_file shows.
func shownBy(arguments string, cut *item.Cut) Lines {
	var a struct {
		Start int `json:"start_line"`
		End   int `json:"end_line"`
	}
	if json.Unmarshal([]byte(arguments), &a) != nil || a.Start <= 1 && a.End <= 0 && cut == nil {
		return Lines{}
	}
	l := Lines{max(a.Start, 1), a.End}
	if l.Last <= 0 {
		l.Last = math.MaxInt
	}
	if cut != nil {
		l.Last = min(l.Last, l.First+int(cut.KeptLines)-1)
	}
	return l
}

// shownByAll are the lines that a pipeline of commands for which ReadCommand is true shows.
func shownByAll(commands [][]word) Lines {
	var all Lines
	for _, words := range commands {
		switch lines := shownByCommand(words[0].text, words[1:]); {
		case all == Lines{}:
			all = lines
		case lines != Lines{}:
			return someLines
		}
	}
	return all
}

// shownByCommand understands cat, nl, one range of sed -n, and head with a number.
func shownByCommand(name string, args []word) Lines {
	if name == "cat" || name == "nl" {
		return Lines{}
	}
	if len(args) == 0 {
		return someLines
	}
	switch first := args[0].text; {
	case name == "head" && first == "-n" && len(args) > 1:
		return between("1", args[1].text)
	case name == "head":
		return between("1", strings.TrimPrefix(strings.TrimPrefix(first, "-"), "n"))
	case name == "sed" && first == "-n" && len(args) > 1:
		if script, ok := strings.CutSuffix(args[1].text, "p"); ok {
			from, to, both := strings.Cut(script, ",")
			if !both {
				to = from
			}
			return between(from, to)
		}
	}
	return someLines
}

// between are the lines between two numbers; "$" is the last one.
func between(from, to string) Lines {
	first, err := strconv.Atoi(strings.TrimSpace(from))
	last := math.MaxInt
	if to = strings.TrimSpace(to); to != "$" && err == nil {
		last, err = strconv.Atoi(to)
	}
	if err != nil || first < 1 || last < first {
		return someLines
	}
	return Lines{first, last}
}
