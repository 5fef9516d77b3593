package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func imagesToProto(images *item.Images) []*poddv1.Image {
	var out []*poddv1.Image
	for _, i := range images.List() {
		out = append(out, ImageToProto(i))
	}
	return out
}

func imagesFromProto(list []*poddv1.Image) *item.Images {
	var out []item.Image
	for _, p := range list {
		out = append(out, imageFromProto(p))
	}
	return item.NewImages(out...)
}

// ImageToProto describes an image. It leaves the bytes out: the store has them.
func ImageToProto(i item.Image) *poddv1.Image {
	return &poddv1.Image{
		Digest: clean(i.Digest), MediaType: clean(i.MediaType), Width: toInt32(i.Width), Height: toInt32(i.Height),
		Bytes: i.Bytes, Name: clean(i.Name),
	}
}

func imageFromProto(p *poddv1.Image) item.Image {
	return item.Image{
		Digest: p.GetDigest(), MediaType: p.GetMediaType(), Width: int(p.GetWidth()), Height: int(p.GetHeight()),
		Bytes: p.GetBytes(), Name: p.GetName(),
	}
}

// imageSegmentToProto is a picture as a client sends it, or as it is stored.
func imageSegmentToProto(s item.ImageSegment) *poddv1.ImageSegment {
	if s.Digest != "" {
		return &poddv1.ImageSegment{Image: ImageToProto(s.Image)}
	}
	return &poddv1.ImageSegment{MediaType: clean(s.MediaType), Data: s.Data, Name: clean(s.Name)}
}

func imageSegmentFromProto(p *poddv1.ImageSegment) item.ImageSegment {
	if p.GetImage() != nil && len(p.GetData()) == 0 {
		return item.ImageSegment{Image: imageFromProto(p.GetImage())}
	}
	return item.ImageSegment{Image: item.Image{MediaType: p.GetMediaType(), Data: p.GetData(), Name: p.GetName()}}
}
