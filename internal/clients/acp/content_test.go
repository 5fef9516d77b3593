package acp

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/coder/acp-go-sdk"

	"podd/pkg/item"
)

func TestFilePath(t *testing.T) {
	type place struct {
		path        string
		first, last int
	}
	for uri, want := range map[string]place{
		"file:///w/a.go":              {"/w/a.go", 0, 0},
		"file://localhost/w/a.go":     {"/w/a.go", 0, 0},
		"file:///w/a%20b.go#L10":      {"/w/a b.go", 10, 10},
		"file:///w/a.go#L10:20":       {"/w/a.go", 10, 20},
		"file:///w/a.go#L10-20":       {"/w/a.go", 10, 20},
		"file:///w/a.go#L10-L20":      {"/w/a.go", 10, 20},
		"file:///w/a.go#L10C3-L20C7":  {"/w/a.go", 10, 20},
		"file:///w/a.go#L20-10":       {"/w/a.go", 20, 20},
		"file:///w/a.go#main":         {"/w/a.go", 0, 0},
		"file:///w/dir/":              {"/w/dir", 0, 0},
		"/w/plain.go":                 {"/w/plain.go", 0, 0},
		"file://host/w/a.go":          {},
		"https://example.com/w/a.go":  {},
		"zed:///agent/thread/1":       {},
		"file:relative":               {},
		"file:///w/a.go#L9999999999L": {"/w/a.go", 0, 0},
		"%zz":                         {},
	} {
		path, first, last, ok := filePath(uri)
		if got := (place{path, first, last}); got != want || ok != (want.path != "") {
			t.Errorf("%s is %+v, want %+v", uri, got, want)
		}
	}
}

func FuzzFilePath(f *testing.F) {
	for _, seed := range []string{"file:///w/a.go#L10:20", "/w", "file:///w/%00#L1C1-L2C2", "zed:///x?path=/y", "file://h/x#"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, first, last, ok := filePath(uri)
		if ok != filepath.IsAbs(path) || first < 0 || last < first {
			t.Errorf("%q is %q, %d to %d, %v", uri, path, first, last, ok)
		}
	})
}

func TestWithin(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{dir + "/a/b": "a/b", dir: ".", "/elsewhere/x": "/elsewhere/x", dir + "x": dir + "x"} {
		if got := within(path, dir); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestFenced(t *testing.T) {
	for text, want := range map[string]string{
		"a\n":           "```\na\n```",
		"":              "```\n\n```",
		"x ```` y\n```": "`````\nx ```` y\n```\n`````",
	} {
		if got := fenced(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPasteNameIsBounded(t *testing.T) {
	if got := pasteName("a.go:1-2"); got != "a.go:1-2, as it is in the editor" {
		t.Errorf("got %q", got)
	}
	long := pasteName(strings.Repeat("é/", 200) + "end.go")
	if len(long) > 256 || !utf8.ValidString(long) || !strings.HasPrefix(long, "…") || !strings.HasSuffix(long, "/end.go, as it is in the editor") {
		t.Errorf("%d bytes: %q", len(long), long)
	}
}

func TestOutputIsBounded(t *testing.T) {
	got := end(strings.Repeat("é\n", 3*mostOutput))
	if len(got) > mostOutput || len(got) < mostOutput/2 || !utf8.ValidString(got) || !strings.HasPrefix(got, "é\n") {
		t.Errorf("%d bytes, beginning with %q", len(got), got[:4])
	}
	got = end(got + strings.Repeat("ü", mostOutput))
	if len(got) > mostOutput || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
}

// Images of a prompt keep their bytes and are named by their files; podd looks at what they are.
func TestImagesOfPrompts(t *testing.T) {
	uri, kind := "file:///w/shot.png", "image/png"
	blob := acp.EmbeddedResourceResource{BlobResourceContents: &acp.BlobResourceContents{Uri: uri, MimeType: &kind, Blob: "aGk="}}
	got, err := segments([]acp.ContentBlock{
		{Image: &acp.ContentBlockImage{Data: "aGk=", MimeType: kind, Uri: &uri}},
		{Resource: &acp.ContentBlockResource{Resource: blob}},
	}, "/w", func(string) bool { return false })
	want := item.ImageSegment{Image: item.Image{Name: "shot.png", Data: []byte("hi")}}
	if err != nil || !reflect.DeepEqual(got, []item.Segment{want, want}) {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = segments([]acp.ContentBlock{{Image: &acp.ContentBlockImage{Data: "?"}}}, "/w", nil)
	if err == nil || !strings.Contains(err.Error(), "block 1 of the prompt: the data of the image is not base64") {
		t.Errorf("%v", err)
	}
}
