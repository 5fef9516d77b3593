package kitty

import (
	"strings"

	"github.com/charmbracelet/x/ansi/kitty"
)

const (
	// MaxID is the highest number of an image: the colour of its placeholders has 24 bits.
	MaxID = 1<<24 - 1
	// MaxSide is how many rows and columns placeholders can count.
	MaxSide = 297
)

// Row is a row of the placeholders of an image, as text of that many columns. The text has to
// have the colour that is the number of the image.
func Row(row, columns int) string {
	var b strings.Builder
	for column := range columns {
		b.WriteRune(kitty.Placeholder)
		b.WriteRune(kitty.Diacritic(row))
		b.WriteRune(kitty.Diacritic(column))
	}
	return b.String()
}

// Fit is how many cells an image takes: as many as it has pixels for, reduced to what there is
// room for. An image without a size takes none.
func Fit(image, cell, room Size) Size {
	room = Size{min(room.Width, MaxSide), min(room.Height, MaxSide)}
	if min(image.Width, image.Height, cell.Width, cell.Height, room.Width, room.Height) <= 0 {
		return Size{}
	}
	w, h := float64(image.Width)/float64(cell.Width), float64(image.Height)/float64(cell.Height)
	scale := min(1, float64(room.Width)/w, float64(room.Height)/h)
	// The nearest number of cells keeps the proportions best; a rest stays empty.
	return Size{max(int(w*scale+0.5), 1), max(int(h*scale+0.5), 1)}
}
