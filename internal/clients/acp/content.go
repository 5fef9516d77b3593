package acp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/acp-go-sdk"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// segments convert an editor's prompt, in order: a link to a file becomes a reference,
// which podd resolves when it accepts the submit; embedded content, such as an unsaved
// buffer, becomes pasted text. @path in typed text becomes a reference if the file exists;
// otherwise it stays text, since it is often code.
func segments(blocks []acp.ContentBlock, dir string, exists func(path string) bool) ([]item.Segment, error) {
	var list []item.Segment
	for i, b := range blocks {
		if b.Text != nil {
			list = append(list, typed(valid(b.Text.Text), exists)...)
			continue
		}
		s, err := segment(b, dir)
		if err != nil {
			return nil, item.Errorf(item.KindInvalid, "PROMPT", "block %d of the prompt: %v", i+1, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// typed finds references to what exists.
func typed(text string, exists func(path string) bool) (list []item.Segment) {
	var plain strings.Builder
	for _, p := range scopefs.ParseRefs(text, exists) {
		if p.Ref.Path == "" || !exists(p.Ref.Path) {
			plain.WriteString(p.Source)
			continue
		}
		if plain.Len() > 0 {
			list = append(list, item.TextSegment{Text: plain.String()})
		}
		list = append(list, p.Ref)
		plain.Reset()
	}
	if plain.Len() > 0 {
		list = append(list, item.TextSegment{Text: plain.String()})
	}
	return list
}

func segment(b acp.ContentBlock, dir string) (item.Segment, error) {
	switch {
	case b.ResourceLink != nil:
		return link(b.ResourceLink, dir), nil
	case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
		r := b.Resource.Resource.TextResourceContents
		return item.PasteSegment{Text: valid(r.Text), Name: pasteName(label(r.Uri, dir))}, nil
	case b.Resource != nil && b.Resource.Resource.BlobResourceContents != nil && isImage(b.Resource.Resource.BlobResourceContents.MimeType):
		r := b.Resource.Resource.BlobResourceContents
		return picture(r.Blob, label(r.Uri, dir))
	case b.Resource != nil:
		return nil, fmt.Errorf("podd accepts text and images only, and this resource is neither: save it as a file and name its path")
	case b.Image != nil:
		name := ""
		if b.Image.Uri != nil {
			name = label(*b.Image.Uri, dir)
		}
		return picture(b.Image.Data, name)
	case b.Audio != nil:
		return nil, fmt.Errorf("podd does not accept audio: save it as a file and name its path")
	}
	return nil, fmt.Errorf("podd does not support this type: it accepts text, image, resource_link and resource")
}

func isImage(mimeType *string) bool {
	return mimeType != nil && strings.HasPrefix(*mimeType, "image/")
}

// picture is an image of the prompt. podd looks at what it is.
func picture(encoded, name string) (item.Segment, error) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("the data of the image is not base64")
	}
	return item.ImageSegment{Image: item.Image{Name: valid(name), Data: data}}, nil
}

// mostLabel bounds the label in a paste's name, in bytes: podd's limit for names is 256.
const mostLabel = 200

// pasteName names an embedded text; a long label loses its start.
func pasteName(label string) string {
	if over := len(label) - mostLabel; over > 0 {
		label = "…" + strings.ToValidUTF8(label[over:], "")
	}
	return valid(label + ", as it is in the editor")
}

// link is a reference to a file, or, for another target, a Markdown link.
func link(l *acp.ContentBlockResourceLink, dir string) item.Segment {
	path, first, last, ok := filePath(l.Uri)
	if !ok {
		return item.PasteSegment{Text: valid(fmt.Sprintf("[%s](%s)", l.Name, l.Uri))}
	}
	return item.FileRef{Path: valid(within(path, dir)), StartLine: first, EndLine: last}
}

// label is how an embedded resource is named.
func label(uri, dir string) string {
	path, first, last, ok := filePath(uri)
	if !ok {
		return uri
	}
	path = within(path, dir)
	switch {
	case first == 0:
		return path
	case first == last:
		return fmt.Sprintf("%s:%d", path, first)
	}
	return fmt.Sprintf("%s:%d-%d", path, first, last)
}

// lineRange matches the line numbers that editors append to a file's URI: L10, L10:20,
// L10-20, L10-L20, L10C1-L20C5.
var lineRange = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^L?(\d{1,9})(?:C\d+)?(?:[:-]L?(\d{1,9})(?:C\d+)?)?$`)
})

// filePath reads the URI of a local file, or a plain absolute path. Lines are 0 if the URI
// has none.
func filePath(uri string) (path string, first, last int, ok bool) {
	if filepath.IsAbs(uri) {
		return filepath.Clean(uri), 0, 0, true
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
		return "", 0, 0, false
	}
	if m := lineRange().FindStringSubmatch(u.Fragment); m != nil {
		// Nine digits fit.
		first, _ = strconv.Atoi(m[1])
		last, _ = strconv.Atoi(m[2])
		last = max(first, last)
	}
	return filepath.Clean(u.Path), first, last, true
}

// within is a path relative to the workspace, if it is inside.
func within(path, dir string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	// The workspace may have been named through a link.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		if rel, err := filepath.Rel(dir, target); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}
