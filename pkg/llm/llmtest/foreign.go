package llmtest

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"podd/pkg/item"
)

// elsewhere is opaque data of another wire.
var elsewhere = item.Opaque{API: "elsewhere", JSON: `{"sealed":"by another wire"}`}

// sealed sends reasoning back that has no text for people, beside some that has. The
// endpoint refuses it when it is changed or in another place.
func (s *suite) sealed(t *testing.T) {
	ep := s.open(t, Answer{Sealed: true, Reasoning: "Look first.", Text: "Reading.", Calls: []item.ToolCall{{Name: "read_file", Arguments: `{}`}}}, Answer{Text: "Done."})
	r, err := ask(t, ep.Model, request(hello))
	if err != nil || len(r.Items) != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	first, ok := r.Items[0].(item.Reasoning)
	if !ok || first.Text != "" || first.Opaque.API != s.API || !bytes.Contains([]byte(first.Opaque.JSON), []byte(":")) {
		t.Errorf("sealed reasoning: %+v", r.Items[0])
	}
	items := append([]item.Item{hello}, r.Items...)
	items = append(items, item.ToolResult{CallID: r.Calls()[0].CallID, Output: item.Output{Summary: "read"}})
	if r, err := ask(t, ep.Model, request(items...)); err != nil || r.Text() != "Done." {
		t.Errorf("%+v, %v", r, err)
	}
	body := ep.Requests()[len(ep.Requests())-1]
	at := 0
	for _, it := range r.Items[:2] {
		i := bytes.Index(body[at:], []byte(secretOf(it)))
		if i < 0 {
			t.Fatalf("%+v is not in its place of %s", it, body)
		}
		at += i
	}
}

// secretOf is the part of opaque data that no one else writes: its longest string.
func secretOf(it item.Item) string {
	longest := ""
	for part := range strings.SplitSeq(it.(item.Reasoning).Opaque.JSON, `"`) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// foreign leaves out reasoning of another wire and of another model, and sends its own.
func (s *suite) foreign(t *testing.T) {
	m := s.open(t).Model
	for _, opaque := range s.Opaque {
		theirs := opaque
		theirs.Model = "another"
		ours := opaque
		ours.Model = request().Setup.Model
		for name, tc := range map[string]struct {
			opaque item.Opaque
			sent   bool
		}{"another wire": {elsewhere, false}, "another model": {theirs, false}, "this model": {ours, true}, "an unknown model": {opaque, true}} {
			reasoning := item.Reasoning{Text: "hm", Opaque: tc.opaque}
			body, err := m.Body(request(hello, reasoning, item.AssistantMessage{Text: "Hi."}, item.UserMessage{Text: "and?"}))
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Contains(body, []byte(secretOf(reasoning))); got != tc.sent {
				t.Errorf("%s: sent %v, want %v: %s", name, got, tc.sent, body)
			}
		}
	}
}

// foreignCalls sends calls whose ids other wires gave. Each result finds its call.
func (s *suite) foreignCalls(t *testing.T) {
	ep := s.open(t, Answer{Text: "fine"})
	items := []item.Item{hello}
	ids := []string{"functions.shell:0", "functions.shell:1", "call_0123456789abcdef", "toolu_01", "a b|c", "9", "\u00e9\"", strings.Repeat("x", 200)}
	for _, id := range ids {
		items = append(items, item.ToolCall{CallID: id, Name: "shell", Arguments: "{}"})
	}
	for _, id := range ids {
		items = append(items, item.ToolResult{CallID: id, Output: item.Output{Summary: "ok"}})
	}
	if r, err := ask(t, ep.Model, request(items...)); err != nil || r.Text() != "fine" {
		t.Errorf("%+v, %v", r, err)
	}
}

// images sends the bytes of images with prompts, files and results, and words to a model
// that takes none.
func (s *suite) images(t *testing.T) {
	ep := s.open(t, Answer{Text: "seen"}, Answer{Text: "not seen"})
	image := func(digest string) *item.Images {
		return item.NewImages(item.Image{Digest: digest, MediaType: "image/png", Width: 2, Height: 1, Bytes: 9, Name: digest + ".png"})
	}
	r := request(
		item.UserMessage{Text: "look", Images: image("a")},
		item.SystemMessage{Origin: item.OriginFileRef, Text: "[Image: b.png]\n", Images: image("b")},
		item.ToolCall{CallID: "c1", Name: "read_file", Arguments: "{}"},
		item.ToolResult{CallID: "c1", Output: item.Output{Summary: "c.png", Images: image("c")}},
	)
	r.Images = pixels
	for i, want := range []string{"seen", "not seen"} {
		r.Setup.NoImages = i == 1
		if a, err := ask(t, ep.Model, r); err != nil || a.Text() != want {
			t.Fatalf("%q, %v", a.Text(), err)
		}
	}
	for _, digest := range []string{"a", "b", "c"} {
		data, _ := pixels(digest)
		encoded := []byte(base64.StdEncoding.EncodeToString(data))
		if !bytes.Contains(ep.Requests()[0], encoded) || bytes.Contains(ep.Requests()[1], encoded) {
			t.Errorf("image %s: %s", digest, ep.Requests())
		}
	}
	if !bytes.Contains(ep.Requests()[1], []byte("does not accept images")) {
		t.Errorf("no word about the images: %s", ep.Requests()[1])
	}
}
