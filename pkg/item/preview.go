package item

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Preview is what a call would make of one file, as its tool says before the call runs, or the
// text of a file that the call executes.
type Preview struct {
	// Path is relative to the workspace if the file is inside. MovesTo is where the call moves
	// the file; empty if it stays.
	Path, MovesTo string
	// Diff is a unified diff with three lines of context, without the lines with the names. It
	// is UTF-8: other bytes of the file are escapes, such as \xe9. Line ends are those of the
	// files.
	Diff string
	// Base identifies the content from which the preview was made; see BaseOf.
	Base string
	// Deletes says that the call removes the file.
	Deletes bool
	// Runs says that the call executes the file and does not change it: all lines of Diff begin
	// with a blank.
	Runs bool
	// Omitted says what Diff does not show, in a few words; empty if it shows all.
	Omitted string
}

// BaseOf is the SHA-256 of a file's content in hexadecimal.
func BaseOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// NoFile is the base of a file that does not exist.
const NoFile = ""

// MaxPreviewBytes is how much the diffs of one call's previews have together.
const MaxPreviewBytes = 64 << 10

// HideArguments says whether previews say all that the arguments of their call do: those of an
// edit, if nothing of them is left out.
func HideArguments(list []Preview) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(p Preview) bool { return p.Runs || p.Omitted != "" })
}

// EscapeBytes shows the bytes of a text that are not UTF-8 as escapes.
func EscapeBytes(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, text[0])
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// NewPreviews are these previews. What exceeds MaxPreviewBytes is cut at a line, and Omitted
// says how much that is.
func NewPreviews(list []Preview) []Preview {
	left := MaxPreviewBytes
	for i := range list {
		p := &list[i]
		if len(p.Diff) > left {
			kept := p.Diff[:strings.LastIndexByte(p.Diff[:left], '\n')+1]
			rest := p.Diff[len(kept):]
			more := fmt.Sprintf("%d more lines of the diff (%d bytes) are left out", strings.Count(rest, "\n"), len(rest))
			p.Diff, p.Omitted = kept, strings.TrimPrefix(p.Omitted+"; "+more, "; ")
		}
		left -= min(left, len(p.Diff))
	}
	return list
}
