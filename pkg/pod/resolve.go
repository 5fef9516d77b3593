package pod

import (
	"context"
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// maxResolved bounds what the file references of one submit add to it, in bytes: the
// submit is one entry of the log, and what is stored must be small enough to be
// streamed.
const maxResolved = 4 << 20

// unknownSegment stands for a segment of a kind that this podd does not know.
const unknownSegment = "[unknown input segment]"

// measure is the size of all segments in bytes, and whether there is nothing in
// them but white space.
func measure(segments []item.Segment) (size int, blank bool) {
	blank = true
	for _, s := range segments {
		text := ""
		switch s := s.(type) {
		case item.TextSegment:
			text = s.Text
		case item.PasteSegment:
			text = s.Text
		case item.FileRef:
			size += len(s.Path)
			blank = blank && s.Path == ""
		case item.UnknownSegment:
			blank = false
		}
		size += len(text)
		blank = blank && strings.TrimSpace(text) == ""
	}
	return size, blank
}

// resolve turns a submit into what is stored: the segments with their references
// found, the text with a placeholder for each, and what each resolved to, in order.
// A reference that fails is an alert; nothing is silent.
func (h *Host) resolve(ctx context.Context, pod string, fs *scopefs.FS, s Submit) (item.Submitted, []item.Alert) {
	out := item.Submitted{RequestID: s.RequestID, Mode: s.Mode}
	var text strings.Builder
	var alerts []item.Alert
	resolved := 0
	warn := func(source, format string, args ...any) {
		alerts = append(alerts, item.Alert{
			Pod: pod, Level: item.LevelWarn, Source: source, Text: fmt.Sprintf(format, args...), Time: h.Now(),
		})
	}
	for _, segment := range parse(fs, s) {
		out.Segments = append(out.Segments, segment)
		switch segment := segment.(type) {
		case item.TextSegment:
			text.WriteString(segment.Text)
		case item.PasteSegment:
			text.WriteString(segment.Text)
		case item.FileRef:
			message, err := fs.ResolveRef(ctx, segment, h.FileRefs)
			if resolved += len(message.Text); err == nil && resolved > maxResolved {
				err = fmt.Errorf("the references of this submit are larger than %d bytes together: refer to less at once", maxResolved)
			}
			if err != nil {
				warn("file_ref", "%s was not added: %v", scopefs.FormatRef(segment), err)
				fmt.Fprintf(&text, "[unresolved file ref: %s]", segment.Path)
				continue
			}
			out.Items = append(out.Items, message)
			text.WriteString(scopefs.FormatRef(segment))
		default:
			warn("segment", "a segment of the submit is of a kind that this podd does not know: upgrade podd, or the client is wrong")
			text.WriteString(unknownSegment)
		}
	}
	out.Text = text.String()
	return out, alerts
}

// parse finds @path in the text segments of a submit that asks for it.
func parse(fs *scopefs.FS, s Submit) []item.Segment {
	if !s.ParseRefs {
		return s.Segments
	}
	var segments []item.Segment
	for _, segment := range s.Segments {
		if t, ok := segment.(item.TextSegment); ok {
			segments = append(segments, scopefs.ParseRefs(t.Text, fs.ExistsRef)...)
			continue
		}
		segments = append(segments, segment)
	}
	return segments
}
