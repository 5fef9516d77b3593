package llmtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// hostileItems sends what models, tools and files may contain. The endpoint refuses a
// malformed body.
func (s *suite) hostileItems(t *testing.T) {
	bad := "\xff\xfe invalid \x00 nul \x1b[2J \u2028 \" \\ </script> 😀"
	items := []item.Item{
		item.UserMessage{Text: bad},
		item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a\nb]\n" + bad},
		item.SystemMessage{Origin: item.OriginNote, Text: bad},
		item.Reasoning{Text: bad, Opaque: item.Opaque{API: s.API, JSON: "{broken"}},
		item.Reasoning{Opaque: item.Opaque{API: s.API, JSON: "null"}},
		item.AssistantMessage{Text: bad},
	}
	for i, args := range []string{"", "{", "null", `"text"`, "[1]", `{"a":1}{"b":2}`, bad, `{"ok":true}`} {
		items = append(items, item.ToolCall{CallID: fmt.Sprint("call_", i), Name: []string{"", bad, "shell", "a b"}[i%4], Arguments: args})
	}
	for i := range 8 {
		items = append(items, item.ToolResult{CallID: fmt.Sprint("call_", i), Output: item.Output{Summary: bad, Content: bad}})
	}
	ep := s.open(t, Answer{Text: "fine"})
	r, err := ask(t, ep.Model, request(items...))
	if err != nil || r.Text() != "fine" {
		t.Fatalf("%+v, %v", r, err)
	}
	if body := ep.Requests()[0]; !utf8.Valid(body) || !json.Valid(body) {
		t.Error("the body is not valid UTF-8 and JSON")
	}
}

// prefix checks the two rules for bodies. The same request gives the same bytes. A
// request that ends where a model answers is, up to the closing brackets, a prefix of
// each request that continues it: a prompt cache depends on that.
func (s *suite) prefix(t *testing.T) {
	m := s.open(t).Model
	rapid.Check(t, func(t *rapid.T) {
		setup := drawSetup(t)
		items := s.drawConversation(t)
		whole := mustBody(t, m, setup, items)
		if again := mustBody(t, m, setup, items); !bytes.Equal(whole, again) {
			t.Fatalf("two bodies for one request:\n%s\n%s", whole, again)
		}
		if !json.Valid(whole) || !utf8.Valid(whole) {
			t.Fatalf("the body is not valid UTF-8 and JSON: %q", whole)
		}
		s.pictures(t, setup, items, whole)
		for n := range items {
			if !answered(items[n]) || goesOn(items[n+1:]) {
				continue
			}
			part := mustBody(t, m, setup, items[:n+1])
			// What closes a body is a part of its own.
			parts, err := llm.NewEncoder(m)(llm.Request{Setup: setup, Items: items[:n+1], Images: pixels})
			if err != nil {
				t.Fatal(err)
			}
			open := bytes.TrimRight(parts[0], `"}]`)
			if !bytes.HasPrefix(whole, open) {
				t.Fatalf("the body of %d items is not the beginning of the body of %d:\n%s\n%s", n+1, len(items), part, whole)
			}
		}
	})
}

// pictures checks that a body has each image once.
func (s *suite) pictures(t *rapid.T, setup item.Setup, items []item.Item, body []byte) {
	want := 0
	for _, it := range items {
		if !setup.NoImages {
			want += len(item.ImagesOf(it))
		}
	}
	start := base64.StdEncoding.EncodeToString([]byte("pixels of"))
	if got := bytes.Count(body, []byte(start)); got != want {
		t.Fatalf("the body has %d images of %d: %s", got, want, body)
	}
}

// goesOn says whether a model is not asked before these items: results of the same step, or an
// image of the user's side, whose message may take another form with it.
func goesOn(items []item.Item) bool {
	for i, it := range items {
		if _, ok := it.(item.ToolResult); ok && i == 0 {
			return true
		}
		if !answered(it) {
			return false
		}
		if len(item.ImagesOf(it)) > 0 {
			return true
		}
	}
	return false
}

// pixels are the bytes of the images that drawImages draws.
func pixels(digest string) ([]byte, error) { return []byte("pixels of " + digest), nil }

// drawImages draws no image, mostly.
func drawImages(t *rapid.T) *item.Images {
	var images []item.Image
	for range max(0, rapid.IntRange(-4, 2).Draw(t, "images")) {
		images = append(images, drawImage(t))
	}
	return item.NewImages(images...)
}

func drawImage(t *rapid.T) item.Image {
	digest := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "digest")
	return item.Image{Digest: digest, MediaType: "image/png", Width: 2, Height: 1, Bytes: 9, Name: digest + ".png"}
}

// fileItem is a message of an origin; of a file it may be an image.
func fileItem(t *rapid.T, origin, text string) item.Item {
	m := item.SystemMessage{Origin: origin, Text: text}
	if origin == item.OriginFileRef && rapid.IntRange(0, 3).Draw(t, "is an image") == 0 {
		m.Images = item.NewImages(drawImage(t))
	}
	return m
}

// answered says whether a model may be called after an item.
func answered(it item.Item) bool {
	switch it.(type) {
	case item.AssistantMessage, item.Reasoning, item.ToolCall:
		return false
	}
	return true
}

func mustBody(t *rapid.T, m llm.Model, setup item.Setup, items []item.Item) []byte {
	body, err := m.Body(llm.Request{Setup: setup, Items: items, Images: pixels})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func drawSetup(t *rapid.T) item.Setup {
	s := item.Setup{
		Model:               rapid.SampledFrom([]string{"gpt-6.1-sol", "gpt-4.1", "devstral", "llama"}).Draw(t, "model"),
		Base:                rapid.String().Draw(t, "base"),
		Environment:         rapid.String().Draw(t, "environment"),
		Instructions:        rapid.String().Draw(t, "instructions"),
		ProjectInstructions: rapid.String().Draw(t, "project"),
		FileRefRole:         rapid.SampledFrom([]string{"", "system"}).Draw(t, "role"),
		NoImages:            rapid.IntRange(0, 3).Draw(t, "no images") == 0,
		AnswerLimit:         rapid.SampledFrom([]int64{0, 8000}).Draw(t, "limit"),
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "tools") {
		s.Tools = append(s.Tools, item.ToolSpec{Name: fmt.Sprint("tool_", i), Description: rapid.String().Draw(t, "description"), Schema: `{"type":"object"}`})
	}
	return s
}

// drawConversation draws turns: the user's side, then steps of the model, each call
// with its result.
func (s *suite) drawConversation(t *rapid.T) []item.Item {
	var items []item.Item
	text := func(what string) string { return rapid.String().Draw(t, what) }
	calls := 0
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		items = append(items, item.UserMessage{Text: text("user"), Images: drawImages(t)})
		for range rapid.IntRange(0, 2).Draw(t, "files") {
			origin := rapid.SampledFrom([]string{item.OriginFileRef, item.OriginNote, item.OriginInterceptor}).Draw(t, "origin")
			items = append(items, fileItem(t, origin, "[File: a.go]\n"+text("file")))
		}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			items = append(items, s.drawReasoning(t)...)
			if rapid.Bool().Draw(t, "speaks") {
				items = append(items, item.AssistantMessage{Text: text("says")})
			}
			n := rapid.IntRange(0, 3).Draw(t, "calls")
			for i := range n {
				items = append(items, item.ToolCall{CallID: fmt.Sprint("c", calls+i), Name: "tool_0", Arguments: text("arguments")})
			}
			for i := range n {
				items = append(items, item.ToolResult{CallID: fmt.Sprint("c", calls+i), Output: item.Output{Summary: text("summary"), Content: text("content"), Images: drawImages(t)}})
			}
			calls += n
			if n == 0 {
				break
			}
		}
	}
	return items
}

func (s *suite) drawReasoning(t *rapid.T) []item.Item {
	var items []item.Item
	for range rapid.IntRange(0, 2).Draw(t, "reasonings") {
		own := rapid.SampledFrom(s.Opaque).Draw(t, "opaque")
		items = append(items, item.Reasoning{Text: "hm", Opaque: rapid.SampledFrom([]item.Opaque{{}, own, elsewhere}).Draw(t, "whose")})
	}
	return items
}
