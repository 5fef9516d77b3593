package pod

import (
	"context"
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// Bounds of the file references of one submit: how many are resolved, and what they
// add in bytes. The submit is one entry of the log, and what is stored must be small
// enough to be streamed.
const (
	maxRefs     = 256
	maxResolved = 4 << 20
)

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
	r := resolver{host: h, settings: h.settings(), pod: pod, fs: fs, out: item.Submitted{RequestID: s.RequestID, Mode: s.Mode}}
	for _, segment := range parse(fs, s) {
		r.out.Segments = append(r.out.Segments, segment)
		switch segment := segment.(type) {
		case item.TextSegment:
			r.text.WriteString(segment.Text)
		case item.PasteSegment:
			r.text.WriteString(segment.Text)
		case item.FileRef:
			r.ref(ctx, segment)
		default:
			r.text.WriteString(unknownSegment)
			r.warn("segment", "a segment of the submit is of a kind that this podd does not know: upgrade podd, or the client is wrong")
		}
	}
	if extra := r.refs - maxRefs; extra > 0 {
		r.warn("file_ref", "%d file references were not added: a submit can have %d", extra, maxRefs)
	}
	r.out.Text = r.text.String()
	return r.out, r.alerts
}

// resolver is one submit on its way to what is stored.
type resolver struct {
	host     *Host
	settings *settings
	pod      string
	fs       *scopefs.FS
	out      item.Submitted
	text     strings.Builder
	alerts   []item.Alert
	// refs counts the references, size the bytes that they resolved to.
	refs, size int
}

// ref adds what a reference resolves to, or an alert.
func (r *resolver) ref(ctx context.Context, ref item.FileRef) {
	if r.refs++; r.refs > maxRefs {
		r.unresolved(ref)
		return
	}
	message, err := r.fs.ResolveRef(ctx, ref, r.settings.FileRefs)
	if err == nil && r.size+len(message.Text) > maxResolved {
		err = fmt.Errorf("%s: the references of this submit are larger than %d bytes together: refer to less at once",
			scopefs.Display(ref.Path), maxResolved)
	}
	if err != nil {
		r.unresolved(ref)
		r.warn("file_ref", "file reference not added: %v", err)
		return
	}
	message.Text = r.settings.ToolOutput.Redact(message.Text)
	r.size += len(message.Text)
	r.out.Items = append(r.out.Items, message)
	r.text.WriteString(scopefs.FormatRef(ref))
}

func (r *resolver) unresolved(ref item.FileRef) {
	fmt.Fprintf(&r.text, "[unresolved file ref: %s]", scopefs.Display(ref.Path))
}

func (r *resolver) warn(source, format string, args ...any) {
	r.alerts = append(r.alerts, item.Alert{
		Pod: r.pod, Level: item.LevelWarn, Source: source, Text: fmt.Sprintf(format, args...), Time: r.host.Now(),
	})
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
