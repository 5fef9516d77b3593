package main

import (
	"io"
	"strings"

	"golang.org/x/term"
	"rsc.io/qr"
)

// quietZone is the light frame of a QR code, in modules.
const quietZone = 4

// The colours are the same on every terminal: readers want dark modules on light ones.
const (
	blackOnWhite = "\x1b[38;5;16;48;5;231m"
	usualColours = "\x1b[0m"
)

// showQR shows a text as a QR code if out is a terminal that is wide enough.
func showQR(out io.Writer, text string) error {
	fd, ok := terminal(out)
	if !ok {
		return nil
	}
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil // It is too long for one. The text itself is shown beside it.
	}
	if width, _, err := term.GetSize(fd); err != nil || width < code.Size+2*quietZone {
		return nil
	}
	_, err = io.WriteString(out, drawQR(code))
	return err
}

// drawQR draws two modules a character, one above the other.
func drawQR(code *qr.Code) string {
	var b strings.Builder
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		b.WriteString(blackOnWhite)
		for x := -quietZone; x < code.Size+quietZone; x++ {
			switch above, below := code.Black(x, y), code.Black(x, y+1); {
			case above && below:
				b.WriteRune('█')
			case above:
				b.WriteRune('▀')
			case below:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString(usualColours + "\n")
	}
	return b.String()
}
