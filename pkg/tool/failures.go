package tool

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What a cut keeps of the failures in the missing part: each line that names one, and the lines behind it, which often say more.
const (
	failuresTitle   = "[lines of it that name a failure:]\n"
	failuresPercent = 30
	linesBehind     = 2
	// maxFailureBytes bounds a line.
	maxFailureBytes = 200
	// maxAlike is how many lines of one kind come before those of other kinds have their room.
	maxAlike = 3
)

var (
	// failing is the words of compilers, test runners and logs. A word within a longer name does not count, such as that of a test
	// TestErrors; the name of an exception does.
	failing = regexp.MustCompile(`(?i:\b(?:errors?|fail|failed|failure|failures|panic|fatal|critical|severe|exception|traceback|assertion|undefined|cannot|not ok|expected|want)\b)` +
		`|[a-z](?:Error|Exception)\b|\bERR\b|[✖✗✘×]`)
	// passing is the words of lines that name no failure after all.
	passing = regexp.MustCompile(`(?i:\b(?:pass|passed|0 errors?|0 failed|0 failures|no errors?)\b|\bok$|^ok\b)|[✓✔]|^=== `)
	// details are what differs between lines of one kind: numbers, names in quotes, and paths.
	details = regexp.MustCompile(`'[^']*'|"[^"]*"|\S*[/\\.]\S*|\d+`)
	// styles are the colours of a terminal.
	styles = regexp.MustCompile("\x1b\\[[0-9;]*m")
	// stems are in each line that failing matches, in lower case: looking for them is much faster.
	stems = []string{
		"err", "fail", "panic", "fatal", "critical", "severe", "exception", "traceback", "assertion", "undefined", "cannot", "not ok", "expected", "want",
		"✖", "✗", "✘", "×",
	}
)

// failed says whether a line names a failure.
func failed(line string) bool {
	lower := strings.ToLower(line)
	return slices.ContainsFunc(stems, func(stem string) bool { return strings.Contains(lower, stem) }) &&
		failing.MatchString(line) && !passing.MatchString(line)
}

// failure is a line to show.
type failure struct {
	// at is where the line begins in the output.
	at int64
	// shown is the line with its number.
	shown string
	// kept is how many bytes of the line are shown.
	kept int
}

// room is how many bytes and lines failures may have.
type room struct{ bytes, lines int }

// takes says whether a line has room, and takes it.
func (r *room) takes(shown string) bool {
	if r.bytes < len(shown) || r.lines < 1 {
		r.lines = 0
		return false
	}
	r.bytes, r.lines = r.bytes-len(shown), r.lines-1
	return true
}

// findFailures finds the first failures in a part of an output, as many as the bytes and lines allow: some of each kind, then
// more of those of which there are many. The part begins at an offset, in the line with this number.
func findFailures(part string, at, number int64, bytes, lines int) (found []failure) {
	var more []failure
	alike := make(map[string]int)
	left, leftForMore := room{bytes, lines}, room{bytes, lines}
	behind, many := 0, false
	for line := range strings.Lines(part) {
		plain := strings.TrimRight(line, "\r\n")
		if strings.Contains(plain, "\x1b") {
			plain = styles.ReplaceAllString(plain, "")
		}
		if failed(plain) {
			behind = linesBehind + 1
			kind := details.ReplaceAllString(Clip(plain, maxFailureBytes), "")
			alike[kind]++
			many = alike[kind] > maxAlike
		}
		if behind > 0 && strings.TrimSpace(plain) != "" {
			behind--
			plain = Clip(plain, maxFailureBytes)
			f := failure{at, fmt.Sprintf("%d: %s\n", number, plain), len(plain)}
			switch {
			case many && leftForMore.takes(f.shown):
				more = append(more, f)
			case !many && left.takes(f.shown):
				found = append(found, f)
			case left.lines == 0:
				return found
			}
		}
		at, number = at+int64(len(line)), number+1
	}
	for _, f := range more {
		if !left.takes(f.shown) {
			break
		}
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b failure) int { return cmp.Compare(a.at, b.at) })
	return found
}

// showFailures is the lines between two offsets of the output, with a title, and how many bytes of the output they are.
func showFailures(found []failure, from, to int64) (text string, kept int64) {
	var b strings.Builder
	for _, f := range found {
		if f.at < from || f.at >= to {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(failuresTitle)
		}
		b.WriteString(f.shown)
		kept += int64(f.kept)
	}
	return b.String(), kept
}
