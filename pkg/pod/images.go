package pod

import (
	"fmt"

	"podd/pkg/item"
)

// pictures makes images of the bytes that a client sent. One that is no image, or too large,
// refuses the submit.
func pictures(read func(data []byte, name string) (item.Image, error), segments []item.Segment) ([]item.Segment, error) {
	var out []item.Segment
	count, bytes := 0, 0
	for i, s := range segments {
		given, ok := s.(item.ImageSegment)
		if !ok {
			continue
		}
		count, bytes = count+1, bytes+len(given.Data)
		switch {
		case count > item.MaxImages:
			return nil, item.Errorf(item.KindInvalid, "TOO_MANY_IMAGES", "the submit has more than %d images: submit the others later", item.MaxImages)
		case bytes > item.MaxImagesBytes:
			return nil, item.Errorf(item.KindInvalid, "IMAGES_TOO_LARGE",
				"the images of the submit have more than %d bytes together: reduce them or submit some later", item.MaxImagesBytes)
		}
		image, err := read(given.Data, given.Name)
		if err != nil {
			return nil, item.Errorf(item.KindInvalid, "BAD_IMAGE", "%s %v", named(given.Name, count), err)
		}
		if out == nil {
			out = append(out, segments...)
		}
		out[i] = item.ImageSegment{Image: image}
	}
	if out == nil {
		return segments, nil
	}
	return out, nil
}

// named is how an error names an image.
func named(name string, number int) string {
	if name == "" {
		return fmt.Sprintf("image %d", number)
	}
	return fmt.Sprintf("image %q", name)
}
