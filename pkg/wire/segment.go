package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// SegmentToProto converts a segment. UnknownSegment and nil become a message
// without a kind.
func SegmentToProto(s item.Segment) *poddv1.Segment {
	switch s := s.(type) {
	case item.TextSegment:
		return &poddv1.Segment{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: clean(s.Text)}}}
	case item.PasteSegment:
		return &poddv1.Segment{Kind: &poddv1.Segment_Paste{Paste: &poddv1.PasteSegment{Text: clean(s.Text), Name: clean(s.Name)}}}
	case item.FileRef:
		return &poddv1.Segment{Kind: &poddv1.Segment_FileRef{FileRef: &poddv1.FileRefSegment{
			Path:      clean(s.Path),
			StartLine: toInt32(s.StartLine),
			EndLine:   toInt32(s.EndLine),
		}}}
	case item.ImageSegment:
		return &poddv1.Segment{Kind: &poddv1.Segment_Image{Image: imageSegmentToProto(s)}}
	default:
		return &poddv1.Segment{}
	}
}

// SegmentFromProto converts a segment. One of a kind that this podd does not know,
// or of none, is item.UnknownSegment.
func SegmentFromProto(p *poddv1.Segment) item.Segment {
	switch k := p.GetKind().(type) {
	case *poddv1.Segment_Text:
		return item.TextSegment{Text: k.Text.GetText()}
	case *poddv1.Segment_Paste:
		return item.PasteSegment{Text: k.Paste.GetText(), Name: k.Paste.GetName()}
	case *poddv1.Segment_FileRef:
		return item.FileRef{
			Path:      k.FileRef.GetPath(),
			StartLine: int(k.FileRef.GetStartLine()),
			EndLine:   int(k.FileRef.GetEndLine()),
		}
	case *poddv1.Segment_Image:
		return imageSegmentFromProto(k.Image)
	default:
		return item.UnknownSegment{}
	}
}

// SegmentsToProto converts segments in their order.
func SegmentsToProto(list []item.Segment) []*poddv1.Segment {
	if len(list) == 0 {
		return nil
	}
	out := make([]*poddv1.Segment, len(list))
	for i, s := range list {
		out[i] = SegmentToProto(s)
	}
	return out
}

// SegmentsFromProto converts segments in their order.
func SegmentsFromProto(list []*poddv1.Segment) []item.Segment {
	if len(list) == 0 {
		return nil
	}
	out := make([]item.Segment, len(list))
	for i, p := range list {
		out[i] = SegmentFromProto(p)
	}
	return out
}
