package show

import "strconv"

// Color is one of the 16 colours of a terminal's own palette; the zero value is its
// default.
type Color uint8

// The colours.
const (
	Default Color = iota
	Black
	Red
	Green
	Yellow
	Blue
	Magenta
	Cyan
	White
	BrightBlack
	BrightRed
	BrightGreen
	BrightYellow
	BrightBlue
	BrightMagenta
	BrightCyan
	BrightWhite
)

// Style is how a span looks. The zero value is plain.
type Style struct {
	Color                                Color
	Bold, Italic, Underline, Dim, Strike bool
}

// Add is s with what inner adds: its colour, if it has one, and its attributes.
func (s Style) Add(inner Style) Style {
	if inner.Color != Default {
		s.Color = inner.Color
	}
	s.Bold, s.Italic, s.Underline = s.Bold || inner.Bold, s.Italic || inner.Italic, s.Underline || inner.Underline
	s.Dim, s.Strike = s.Dim || inner.Dim, s.Strike || inner.Strike
	return s
}

// sgr appends the parameters of the style, each followed by a semicolon.
func (s Style) sgr(dst []byte, color bool) []byte {
	for _, a := range []struct {
		on   bool
		code byte
	}{{s.Bold, '1'}, {s.Dim, '2'}, {s.Italic, '3'}, {s.Underline, '4'}, {s.Strike, '9'}} {
		if a.on {
			dst = append(dst, a.code, ';')
		}
	}
	switch c := int(s.Color); {
	case !color || s.Color == Default || s.Color > BrightWhite:
		return dst
	case s.Color < BrightBlack:
		dst = strconv.AppendInt(dst, int64(30+c-1), 10)
	default:
		dst = strconv.AppendInt(dst, int64(90+c-int(BrightBlack)), 10)
	}
	return append(dst, ';')
}
