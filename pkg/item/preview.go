package item

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Preview is what a call would make of one file, as its tool says before the call runs.
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
