package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"podd/internal/workspace/picture"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
)

// Bounds of the file references of one submit: how many are resolved, and how many bytes
// they add. The submit is one entry of the log, and an entry must be small enough for a
// stream.
const (
	maxRefs     = 256
	maxResolved = 4 << 20
)

// unknownSegment replaces a segment of a kind that this podd does not know.
const unknownSegment = "[unknown input segment]"

// resolveTime bounds how long the file references of one submit may take.
const resolveTime = 10 * time.Second

// Refer converts a submit for the log: the segments with the prompt that they begin with and the references
// found in them, the text as the model sees it, and what each reference resolved to, in order. A
// reference that fails, or that a rule denies, raises an alert; nothing fails silently.
func (w *Workspace) Refer(ctx context.Context, s pod.Submit) (item.Submitted, []item.Alert, error) {
	dir, err := w.opened()
	if err != nil {
		return item.Submitted{}, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, resolveTime, errors.New("no answer within "+resolveTime.String()))
	defer cancel()
	r := resolver{
		workspace: w, dir: dir, settings: w.all.settings(), fs: dir.fs, guarded: w.referenced(dir.fs), typos: scopefs.NewTypos(dir.fs),
		out: item.Submitted{RequestID: s.RequestID, Mode: s.Mode},
	}
	for _, segment := range s.Segments {
		if _, attached := segment.(item.ImageSegment); attached {
			r.images++
		}
	}
	if s.ParseRefs {
		if s.Segments, err = r.prompt(ctx, s.Segments); err != nil {
			return item.Submitted{}, nil, err
		}
	}
	for _, segment := range s.Segments {
		if t, ok := segment.(item.TextSegment); ok && s.ParseRefs {
			r.typed(ctx, t.Text)
			continue
		}
		r.segment(ctx, segment)
	}
	if extra := r.refs - maxRefs; extra > 0 {
		r.warn("file_ref", "%d file references were not added: the limit of a submit is %d", extra, maxRefs)
	}
	r.out.Text = r.text.String()
	return r.out, r.alerts, nil
}

// resolver converts one submit.
type resolver struct {
	workspace *Workspace
	dir       *directory
	settings  *Settings
	fs        *scopefs.FS
	// guarded is fs without the files that rules deny.
	guarded *scopefs.FS
	typos   *scopefs.Typos
	out     item.Submitted
	text    strings.Builder
	alerts  []item.Alert
	// refs counts the references, size the bytes that they resolved to.
	refs, size int
	// images counts the images: the attached ones, and then those of references.
	images int
}

// segment adds a segment as the client made it.
func (r *resolver) segment(ctx context.Context, segment item.Segment) {
	r.out.Segments = append(r.out.Segments, segment)
	switch segment := segment.(type) {
	case item.TextSegment:
		r.text.WriteString(segment.Text)
	case item.PasteSegment:
		r.pasted(segment)
	case item.ImageSegment:
		if before := r.text.String(); before != "" {
			r.text.WriteString("\n"[:1-min(trailingNewlines(before), 1)])
		}
		fmt.Fprintf(&r.text, "[%s]\n", segment.Image)
	case item.FileRef:
		found, ok, err := r.ref(ctx, segment)
		if r.out.Segments[len(r.out.Segments)-1] = found; ok {
			r.text.WriteString(scopefs.FormatRef(found))
		} else {
			fmt.Fprintf(&r.text, "[unresolved file ref: %s]", scopefs.Display(segment.Path))
		}
		if err != nil {
			r.warn("file_ref", "file reference not added: %v", err)
		}
	default:
		r.text.WriteString(unknownSegment)
		r.warn("segment", "this podd does not know the kind of one segment: upgrade podd, or check the client")
	}
}

// pasted adds a paste. A named one is between two lines that show the model where it
// begins and ends; no line of the paste can pass for the second one.
func (r *resolver) pasted(p item.PasteSegment) {
	if p.Name == "" {
		r.text.WriteString(p.Text)
		return
	}
	if before := r.text.String(); before != "" {
		r.text.WriteString("\n\n"[:2-trailingNewlines(before)])
	}
	r.text.WriteString(p.Framed())
}

// trailingNewlines counts the newlines that a text ends with, up to two.
func trailingNewlines(text string) int {
	return min(len(text)-len(strings.TrimRight(text, "\n")), 2)
}

// typed adds typed text. It keeps what looks like a reference and leads to no file as it
// was typed: often it is a name, a decorator or a package.
func (r *resolver) typed(ctx context.Context, text string) {
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			r.segment(ctx, item.TextSegment{Text: plain.String()})
			plain.Reset()
		}
	}
	known := make(map[string]bool)
	exists := func(path string) bool {
		there, asked := known[path]
		if !asked {
			there = r.fs.ExistsRef(path)
			known[path] = there
		}
		return there
	}
	for _, p := range scopefs.ParseRefs(text, exists) {
		if p.Ref.Path == "" || !exists(p.Ref.Path) && (r.resource(ctx, p.Source) || !r.typos.Has(p)) {
			plain.WriteString(p.Source)
			continue
		}
		found, ok, err := r.ref(ctx, p.Ref)
		if ok {
			flush()
			r.out.Segments = append(r.out.Segments, found)
			r.text.WriteString(scopefs.FormatRef(found))
			continue
		}
		plain.WriteString(p.Source)
		if err != nil {
			r.warn("file_ref", "%s is sent as text: %v", scopefs.FormatRef(p.Ref), err)
		}
	}
	flush()
}

// ref adds the file that a reference resolves to. Its path, in found, may only look like that of the reference.
// ok is false when it does not; without an error the submit already has the most references.
func (r *resolver) ref(ctx context.Context, ref item.FileRef) (found item.FileRef, ok bool, err error) {
	if r.refs++; r.refs > maxRefs {
		return ref, false, nil
	}
	if ref.Path, err = r.guarded.Alike(ref.Path); err != nil {
		return ref, false, err
	}
	message, err := r.guarded.ResolveRef(ctx, ref, r.settings.FileRefs)
	if e, ok := errors.AsType[*scopefs.PathError](err); ok && e.Kind == scopefs.Binary && ref.StartLine == 0 {
		message, err = r.picture(ref.Path, err)
	}
	if err == nil && r.size+len(message.Text) > maxResolved {
		err = fmt.Errorf("%s: the references of this submit exceed %d bytes together: refer to fewer files or to line ranges",
			scopefs.Display(ref.Path), maxResolved)
	}
	if err != nil {
		return ref, false, err
	}
	message.Text = r.settings.ToolOutput.Redact(message.Text)
	r.size += len(message.Text)
	r.out.Items = append(r.out.Items, message)
	return ref, true, nil
}

// resourceRef is a reference to a resource of an MCP server: its name and the URI.
var resourceRef = regexp.MustCompile(`^@"?([A-Za-z0-9_-]+):([A-Za-z][A-Za-z0-9+.-]*:[^"]+)"?$`)

// resource adds what a reference to a resource of a server resolves to; false means that it is none. The reference stays in the text.
func (r *resolver) resource(ctx context.Context, source string) bool {
	parts := resourceRef.FindStringSubmatch(source)
	if parts == nil || r.workspace.all.Project == nil {
		return false
	}
	read := r.workspace.all.Project(r.workspace.rules.Load().base).Resource
	if read == nil {
		return false
	}
	if r.refs++; r.refs > maxRefs {
		return true
	}
	text, known, err := read(ctx, parts[1], parts[2])
	if !known {
		r.refs--
		return false
	}
	if err == nil {
		err = r.add(source[1:], text)
	}
	if err != nil {
		r.warn("file_ref", "%s is sent as text: %v", scopefs.Display(source), err)
	}
	return true
}

// foreign is a text of another program, bounded and without secrets.
func (r *resolver) foreign(text string) (string, error) {
	text = r.settings.ToolOutput.Redact(text)
	most := cmp.Or(max(r.settings.FileRefs.MaxBytes, 0), 16<<10)
	if size := len(text); size > most {
		text = fmt.Sprintf("%s\n[cut: it has %d bytes, and %d are shown]", strings.ToValidUTF8(text[:most], ""), size, most)
	}
	if r.size += len(text); r.size > maxResolved {
		return "", fmt.Errorf("the references of this submit exceed %d bytes together", maxResolved)
	}
	return text, nil
}

// add adds a text of another program by a name, with images.
func (r *resolver) add(name, text string, images ...item.Image) error {
	text, err := r.foreign(text)
	if err == nil {
		r.out.Items = append(r.out.Items, item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: " + scopefs.Display(name) + "]\n" + text, Images: item.NewImages(images...)})
	}
	return err
}

// picture resolves a reference to an image; notText is the error for any other file.
func (r *resolver) picture(path string, notText error) (m item.SystemMessage, err error) {
	file, err := r.guarded.ReadFile(path, picture.MaxFileBytes)
	if err != nil || picture.Kind(file.Data) == "" {
		return m, notText
	}
	name := scopefs.Display(path)
	switch {
	case file.Truncated:
		return m, fmt.Errorf("%s is an image of %d bytes, the limit is %d: reduce it first", name, file.Size, picture.MaxFileBytes)
	case r.images == item.MaxImages:
		return m, fmt.Errorf("%s: a submit can have %d images", name, item.MaxImages)
	}
	image, err := picture.Read(file.Data, name)
	if err != nil {
		return m, fmt.Errorf("%s %w", name, err)
	}
	r.images++
	return item.SystemMessage{
		Origin: item.OriginFileRef, Text: "[File: " + name + "]\n" + image.String(), Images: item.NewImages(image),
	}, nil
}

func (r *resolver) warn(source, format string, args ...any) {
	r.alerts = append(r.alerts, item.Alert{
		Pod: r.workspace.id, Level: item.LevelWarn, Source: source, Text: fmt.Sprintf(format, args...), Time: r.workspace.all.Now(),
	})
}
