package view

import (
	"cmp"
	"fmt"
	"strings"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/transcript"
)

// Picture is an image in one safe line: "[picture shot.png, PNG 800×600, 41 KB]".
func Picture(i transcript.Image) string {
	size := fmt.Sprintf("%d bytes", i.Bytes)
	if i.Bytes >= 1000 {
		size = fmt.Sprintf("%d KB", (i.Bytes+500)/1000)
	}
	format := strings.ToUpper(strings.TrimPrefix(i.MediaType, "image/"))
	return sanitize.Line(fmt.Sprintf("[picture %s, %s %d×%d, %s]", cmp.Or(i.Name, "without a name"), format, i.Width, i.Height, size))
}

// withPictures is the text of an item with a line for each of its images.
func withPictures(text string, it item.Item) string {
	lines := []string{strings.TrimSuffix(text, "\n")}
	if lines[0] == "" {
		lines = nil
	}
	images := transcript.ImagesOf(it)
	if len(images) == 0 {
		return text
	}
	for _, i := range images {
		lines = append(lines, Picture(i))
	}
	return strings.Join(lines, "\n")
}
