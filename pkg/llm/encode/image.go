package encode

import (
	"encoding/base64"
	"fmt"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// unseen replaces the images that a model cannot take.
const unseen = "[The images are left out: this model does not accept images.]"

// Pictures are where the images of a request come from.
type Pictures struct {
	images llm.Images
	// none says that the model takes no images.
	none bool
	// failed is the first error of images.
	failed error
}

// Text is an item's text as sent; a model that takes no images reads a sentence in their place.
func (p *Pictures) Text(text string, images *item.Images) string {
	switch {
	case !p.none || images == nil:
		return text
	case text == "":
		return unseen
	}
	return text + "\n" + unseen
}

// Told is an output as it is sent to a model that may take no images.
func (p *Pictures) Told(o item.Output) item.Output {
	if p.none && o.Images != nil {
		o.Content = p.Text(o.Content, o.Images)
	}
	return o
}

// Sent are the images that a model is sent of these.
func (p *Pictures) Sent(images *item.Images) []item.Image {
	if p.none {
		return nil
	}
	return images.List()
}

// DataURL appends an image as a data URL in a JSON string.
func (p *Pictures) DataURL(dst []byte, image item.Image) []byte {
	dst = append(dst, `"data:`...)
	dst = Escaped(dst, image.MediaType)
	dst = append(dst, `;base64,`...)
	return append(p.Base64(dst, image), '"')
}

// Base64 appends the bytes of an image.
func (p *Pictures) Base64(dst []byte, image item.Image) []byte {
	var data []byte
	var err error
	if p.images != nil {
		data, err = p.images(image.Digest)
	} else {
		err = fmt.Errorf("the request has no bytes of image %s", image.Digest)
	}
	if err != nil && p.failed == nil {
		p.failed = &llm.Error{Class: llm.ClassInvalid, Message: err.Error()}
	}
	return base64.StdEncoding.AppendEncode(dst, data)
}

// TextPart appends a part of a content with text.
func TextPart(dst []byte, kind, text string) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, '"')
	dst = Member(dst, "text", text)
	return append(dst, '}')
}
