package tty

import (
	"bytes"
	"fmt"
	"os"
	"time"
	"unicode/utf8"
)

// What a terminal sends before and after pasted text.
var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// quiet is after how long without input a key is one, and no part of a paste.
const quiet = 500 * time.Millisecond

// Keyboard is a terminal that a view reads. A paste whose end the terminal does not send ends with
// Ctrl-C, Ctrl-D, Escape, or another key after a while.
type Keyboard struct {
	*os.File
	// Fail is called when the terminal cannot be read any more.
	Fail func(error)
	// Now is the clock.
	Now func() time.Time

	// inside says that a paste is open, late that Read has ended one whose own end may still come.
	inside, late bool
	// tail is the end of the last input, which may be part of a start or an end.
	tail []byte
	// last is when it came.
	last time.Time
}

// NewKeyboard is a keyboard at the start.
func NewKeyboard(f *os.File, fail func(error)) *Keyboard {
	return &Keyboard{File: f, Fail: fail, Now: time.Now}
}

// Read reads what was typed.
func (k *Keyboard) Read(p []byte) (int, error) {
	room := max(len(p)-len(pasteStart), 1)
	n, err := k.File.Read(p[:room])
	if err != nil {
		k.Fail(fmt.Errorf("cannot read from the terminal: %w", err))
		return n, err
	}
	return copy(p, k.typed(p[:n])), nil
}

// typed is what a view reads when b was typed: at most as much longer as a start or an end.
func (k *Keyboard) typed(b []byte) []byte {
	now := k.Now()
	rested := now.Sub(k.last) >= quiet
	k.last = now
	out := b
	switch {
	case k.inside && k.ends(b, rested):
		k.inside, k.late, k.tail, out = false, true, nil, append(bytes.Clone(pasteEnd), b...)
		if len(b) == 1 && bytes.IndexByte([]byte("\x03\x04\x1b"), b[0]) >= 0 {
			out = pasteEnd
		}
	case k.late && bytes.Equal(k.tail, pasteEnd[:1]) && bytes.HasPrefix(b, pasteEnd[1:]):
		out = append(bytes.Clone(pasteEnd), b[len(pasteEnd)-1:]...) // It was no Escape.
	case k.late && len(b) > 1 && bytes.ContainsAny(b, "\r\n"):
		// The rest of the paste, and no keys: an Enter in it would send it.
		k.inside, k.late, out = true, false, append(bytes.Clone(pasteStart), b...)
	}
	seen := append(k.tail, b...)
	if start, end := bytes.LastIndex(seen, pasteStart), bytes.LastIndex(seen, pasteEnd); start != end {
		k.inside, k.late = start > end, false
	}
	k.tail = bytes.Clone(seen[max(len(seen)-len(pasteEnd)+1, 0):])
	return out
}

// ends says whether b, in a paste, is a key and no part of it. What is longer than a key may be the
// rest of a paste that was slow.
func (k *Keyboard) ends(b []byte, rested bool) bool {
	switch {
	case len(b) == 1 && (b[0] == 3 || b[0] == 4):
		return true
	case rested && bytes.HasPrefix(b, pasteStart):
		return true
	case !rested || len(k.tail) > 0 && bytes.Contains(append(bytes.Clone(k.tail), b...), pasteEnd):
		return false
	case b[0] == pasteEnd[0]:
		return !bytes.HasPrefix(b, pasteEnd) && (len(b) == 1 || !bytes.HasPrefix(pasteEnd, b))
	}
	return utf8.RuneCount(b) == 1
}
