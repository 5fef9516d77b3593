package transcript

import "podd/pkg/item"

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

// attached are the pictures that a submit attaches.
func attached(segments []item.Segment) []Image {
	var images []item.Image
	for _, s := range segments {
		if s, ok := s.(item.ImageSegment); ok {
			images = append(images, s.Image)
		}
	}
	return ImagesOf(item.UserMessage{Images: item.NewImages(images...)})
}
