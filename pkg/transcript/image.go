package transcript

import (
	"fmt"
	"strings"

	"podd/pkg/item"
)

// Image describes a picture of a block. GetImage returns its bytes by the digest.
type Image struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	Bytes     int64  `json:"bytes,string"`
	Digest    string `json:"digest"`
}

// ImagesOf are the pictures of an item.
func ImagesOf(it item.Item) (list []Image) {
	for _, i := range item.ImagesOf(it) {
		list = append(list, Image{i.Name, i.MediaType, i.Width, i.Height, i.Bytes, i.Digest})
	}
	return list
}

// attached is a submit as the message that it becomes.
func attached(s item.Submitted) item.UserMessage {
	var images []item.Image
	for _, segment := range s.Segments {
		if picture, ok := segment.(item.ImageSegment); ok {
			images = append(images, picture.Image)
		}
	}
	return item.UserMessage{Text: s.Text, Images: item.NewImages(images...)}
}

// typed is the text of a message without the lines that tell the model where its pictures are.
func typed(m item.UserMessage) string {
	text := "\n" + m.Text
	for _, i := range item.ImagesOf(m) {
		before, after, found := strings.Cut(text, fmt.Sprintf("\n[%s]\n", i))
		switch {
		case found && after != "":
			text = before + "\n" + after
		case found:
			text = before
		}
	}
	return strings.TrimPrefix(text, "\n")
}
