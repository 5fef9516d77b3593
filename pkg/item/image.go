package item

import (
	"fmt"
	"strconv"
)

// The bounds of images.
const (
	// MaxImages is how many images a submit, a result and a model request may have.
	MaxImages = 20
	// MaxImagesBytes is how many bytes of images, as they are sent to podd, a submit may have.
	MaxImagesBytes = 10 << 20
	// MaxPodImagesBytes is how many bytes of images, as they are stored, a pod may have.
	MaxPodImagesBytes = 64 << 20
	// pixelsPerToken is the number of pixels that a token of an image is estimated at.
	pixelsPerToken = 750
)

// Image is a picture of the conversation. Its bytes are stored once, under their digest.
type Image struct {
	// Digest is the SHA-256 of the bytes, in lower-case hexadecimal.
	Digest string
	// MediaType is what the bytes are: image/png or image/jpeg.
	MediaType     string
	Width, Height int
	// Bytes is the size.
	Bytes int64
	// Name is what people call it, such as its path; may be empty.
	Name string
	// Data are the bytes, on their way to the store. What was stored has none here.
	Data []byte
}

// String describes the image in a few words: "shot.png, image 1280x800, 214 KB".
func (i Image) String() string {
	size := strconv.FormatInt(i.Bytes, 10) + " bytes"
	if i.Bytes >= 1000 {
		size = strconv.FormatInt((i.Bytes+500)/1000, 10) + " KB"
	}
	text := fmt.Sprintf("image %dx%d, %s", i.Width, i.Height, size)
	if i.Name == "" {
		return text
	}
	return i.Name + ", " + text
}

// Tokens estimates what an image adds to a request.
func (i Image) Tokens() int { return (i.Width*i.Height + pixelsPerToken - 1) / pixelsPerToken }

// Images are the pictures of an item; nil has none. They are behind a pointer so that items
// can be compared.
type Images []Image

// NewImages are these images; nil for none.
func NewImages(list ...Image) *Images {
	if len(list) == 0 {
		return nil
	}
	images := Images(list)
	return &images
}

// List are the images in their order.
func (i *Images) List() []Image {
	if i == nil {
		return nil
	}
	return *i
}

// ImagesOf are the images of an item.
func ImagesOf(it Item) []Image {
	switch it := it.(type) {
	case UserMessage:
		return it.Images.List()
	case SystemMessage:
		return it.Images.List()
	case ToolResult:
		return it.Images.List()
	}
	return nil
}

// WithImages is an item with other images; an item of a kind that has none stays as it is.
func WithImages(it Item, images ...Image) Item {
	switch it := it.(type) {
	case UserMessage:
		it.Images = NewImages(images...)
		return it
	case SystemMessage:
		it.Images = NewImages(images...)
		return it
	case ToolResult:
		it.Images = NewImages(images...)
		return it
	}
	return it
}

// ImagesIn are the images that an entry of this kind refers to.
func ImagesIn(k Kind) (images []Image) {
	Stored(k, func(i Image) Image {
		images = append(images, i)
		return i
	})
	return images
}

// Stored is a kind with each of its images changed. It shares what has no images with k.
func Stored(k Kind, change func(Image) Image) Kind {
	switch k := k.(type) {
	case ItemAdded:
		k.Item = changed(k.Item, change)
		return k
	case Compaction:
		k.Summary = changed(k.Summary, change)
		return k
	case Submitted:
		k.Segments = changedSegments(k.Segments, change)
		k.Items = changedItems(k.Items, change)
		return k
	}
	return k
}

func changed(it Item, change func(Image) Image) Item {
	images := ImagesOf(it)
	if len(images) == 0 {
		return it
	}
	out := make([]Image, len(images))
	for i, image := range images {
		out[i] = change(image)
	}
	return WithImages(it, out...)
}

func changedItems(items []Item, change func(Image) Image) []Item {
	var out []Item
	for i, it := range items {
		if len(ImagesOf(it)) == 0 {
			continue
		}
		if out == nil {
			out = append(out, items...)
		}
		out[i] = changed(it, change)
	}
	if out == nil {
		return items
	}
	return out
}

func changedSegments(segments []Segment, change func(Image) Image) []Segment {
	var out []Segment
	for i, s := range segments {
		picture, ok := s.(ImageSegment)
		if !ok {
			continue
		}
		if out == nil {
			out = append(out, segments...)
		}
		out[i] = ImageSegment{Image: change(picture.Image)}
	}
	if out == nil {
		return segments
	}
	return out
}
