package attach

import (
	"bytes"
	"unicode/utf8"
)

// keyKind says which key was pressed.
type keyKind int

const (
	// keyOther is a key without a function here.
	keyOther keyKind = iota
	// keyText is a typed character; keyPaste is pasted text.
	keyText
	keyPaste
	keyEnter
	keyNewline
	keyTab
	keyEscape
	keyBackspace
	keyDelete
	keyDeleteWord
	keyDeleteToStart
	keyDeleteToEnd
	keyLeft
	keyRight
	keyWordLeft
	keyWordRight
	keyHome
	keyEnd
	keyUp
	keyDown
	keyPageUp
	keyPageDown
	keyPrevious
	keyNext
	keyLive
	keyInterrupt
	keyEndOfInput
	keyTools
	keyPlan
	keyCancel
	keyAnswer
	keyRedraw
)

// key is one key, with its text for keyText and keyPaste.
type key struct {
	kind keyKind
	text string
}

// controls are the keys that are one byte.
var controls = map[byte]keyKind{
	0x01: keyHome, 0x02: keyLeft, 0x03: keyInterrupt, 0x04: keyEndOfInput, 0x05: keyEnd, 0x06: keyRight,
	0x07: keyLive, 0x08: keyBackspace, 0x09: keyTab, 0x0a: keyNewline, 0x0b: keyDeleteToEnd, 0x0c: keyRedraw, 0x0d: keyEnter,
	0x0e: keyNext, 0x10: keyPrevious, 0x14: keyTools, 0x15: keyDeleteToStart, 0x17: keyDeleteWord,
	0x18: keyCancel, 0x19: keyAnswer, 0x7f: keyBackspace,
}

// sequences are the keys that are an escape and more.
var sequences = map[string]keyKind{
	"[A": keyUp, "[B": keyDown, "[C": keyRight, "[D": keyLeft, "[H": keyHome, "[F": keyEnd,
	"OA": keyUp, "OB": keyDown, "OC": keyRight, "OD": keyLeft, "OH": keyHome, "OF": keyEnd,
	"[1~": keyHome, "[4~": keyEnd, "[7~": keyHome, "[8~": keyEnd, "[3~": keyDelete, "[5~": keyPageUp, "[6~": keyPageDown,
	"[1;5C": keyWordRight, "[1;5D": keyWordLeft, "[1;3C": keyWordRight, "[1;3D": keyWordLeft,
	"[Z": keyPlan, "[1;2A": keyPageUp, "[1;2B": keyPageDown, "[1;5F": keyLive, "[1;5H": keyHome,
	"b": keyWordLeft, "f": keyWordRight, "\r": keyNewline, "\n": keyNewline, "\x7f": keyDeleteWord,
}

// A terminal encloses pasted text in these.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// mostPaste bounds a paste, in bytes. It is above the limit of a submit.
const mostPaste = 16 << 20

// decoder turns a terminal's bytes into keys. The bytes may be split anywhere but inside
// the escape sequence of a key: terminals send those at once, and a lone escape is a key
// too.
type decoder struct {
	rest    []byte
	pasting bool
	paste   []byte
}

// decode takes the next bytes.
func (d *decoder) decode(p []byte) (keys []key) {
	d.rest = append(d.rest, p...)
	for len(d.rest) > 0 {
		if d.pasting {
			if !d.pasted(&keys) {
				return keys
			}
			continue
		}
		if bytes.HasPrefix(d.rest, []byte(pasteBegin)) {
			d.rest, d.pasting = d.rest[len(pasteBegin):], true
			continue
		}
		if len(d.rest) > 1 && bytes.HasPrefix([]byte(pasteBegin), d.rest) {
			return keys
		}
		k, n := next(d.rest)
		if n == 0 {
			return keys
		}
		d.rest = d.rest[n:]
		keys = append(keys, k)
	}
	d.rest = nil
	return keys
}

// pasted reads pasted text up to its end; false if the end has not arrived yet.
func (d *decoder) pasted(keys *[]key) bool {
	text, rest, ended := bytes.Cut(d.rest, []byte(pasteEnd))
	if !ended {
		// The last bytes may be the start of the end mark.
		keep := min(len(pasteEnd)-1, len(d.rest))
		text, rest = d.rest[:len(d.rest)-keep], d.rest[len(d.rest)-keep:]
	}
	d.paste = append(d.paste, text[:min(len(text), mostPaste-len(d.paste))]...)
	d.rest = bytes.Clone(rest)
	if ended {
		*keys = append(*keys, key{keyPaste, pasteText(d.paste)})
		d.pasting, d.paste = false, nil
	}
	return ended
}

// pasteText is pasted text with newlines as files have them: terminals send returns.
func pasteText(p []byte) string {
	p = bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n"))
	p = bytes.ReplaceAll(p, []byte("\r"), []byte("\n"))
	return string(bytes.ToValidUTF8(p, []byte("\ufffd")))
}

// next is the first key of p and its length; 0 if more bytes are needed.
func next(p []byte) (key, int) {
	switch {
	case p[0] == 0x1b:
		return escape(p)
	case p[0] < 0x20 || p[0] == 0x7f:
		return key{kind: controls[p[0]]}, 1
	case !utf8.FullRune(p):
		return key{}, 0
	}
	r, n := utf8.DecodeRune(p)
	return key{keyText, string(r)}, n
}

// escape reads an escape sequence.
func escape(p []byte) (key, int) {
	if len(p) == 1 {
		return key{kind: keyEscape}, 1
	}
	n := 2
	switch p[1] {
	case '[':
		for n < len(p) && (p[n] < 0x40 || p[n] > 0x7e) {
			n++
		}
		n = min(n+1, len(p))
	case 'O':
		n = min(3, len(p))
	case 0x1b:
		return key{kind: keyEscape}, 1
	default:
		if !utf8.FullRune(p[1:]) {
			return key{}, 0
		}
		_, size := utf8.DecodeRune(p[1:])
		n = 1 + size
	}
	return key{kind: sequences[string(p[1:n])]}, n
}
