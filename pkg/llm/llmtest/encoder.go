package llmtest

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// encoder checks that a model's own Encoder, if it has one, returns the bytes of
// Body, whatever happened to the conversation since its last body: it grew, results were
// pruned, a summary replaced its beginning, it was rewound, its setup changed, or a
// request failed to encode. No body changes after it was made.
func (s *suite) encoder(t *testing.T) {
	m := s.open(t).Model
	if _, ok := m.(llm.Incremental); !ok {
		t.Skip("the model encodes each request whole")
	}
	rapid.Check(t, func(t *rapid.T) {
		setup := drawSetup(t)
		all := s.drawConversation(t)
		r := llm.Request{Setup: setup, Images: pixels}
		add := func(n int) {
			for ; n > 0 && len(all) > 0; n-- {
				r.Items, all = append(r.Items, all[0]), all[1:]
			}
		}
		add(1)
		encode := llm.NewEncoder(m)
		earlier := []llm.Request{r}
		var bodies []madeBody
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			switch rapid.SampledFrom([]string{"grow", "grow", "grow", "prune", "compact", "rewind", "setup", "same"}).Draw(t, "change") {
			case "grow":
				add(rapid.IntRange(1, 6).Draw(t, "more"))
			case "prune":
				prune(&r, rapid.IntRange(0, len(r.Items)-1).Draw(t, "from"))
			case "compact":
				n := rapid.IntRange(1, len(r.Items)).Draw(t, "compacted")
				summary := item.SystemMessage{Origin: item.OriginCompaction, Text: rapid.String().Draw(t, "summary")}
				r.Items = append([]item.Item{summary}, r.Items[n:]...)
			case "rewind":
				r.Items = slices.Clip(rapid.SampledFrom(earlier).Draw(t, "to").Items)
			case "setup":
				r.Setup = drawSetup(t)
			}
			got, err := encode(r)
			if err != nil {
				t.Fatal(err)
			}
			want := mustBody(t, m, r.Setup, r.Items)
			if !bytes.Equal(bytes.Join(got, nil), want) {
				t.Fatalf("the body of the encoder is not that of the model:\n%s\n%s", got, want)
			}
			bodies = append(bodies, madeBody{got, want})
			unchanged(t, bodies)
			refuses(t, encode, r)
			earlier = append(earlier, r)
			if rapid.Bool().Draw(t, "forget") {
				encode = llm.NewEncoder(m)
			}
		}
	})
}

// madeBody is a body of an encoder and what it has to stay.
type madeBody struct {
	body llm.Body
	want []byte
}

// unchanged checks that no later request changed a body.
func unchanged(t *rapid.T, bodies []madeBody) {
	for i, b := range bodies {
		if !bytes.Equal(bytes.Join(b.body, nil), b.want) {
			t.Fatalf("a later request changed body %d", i)
		}
	}
}

// refuses checks that a request without a model has no body, and that an Encoder still
// works after such a request.
func refuses(t *rapid.T, encode llm.Encoder, r llm.Request) {
	r.Setup.Model = ""
	if _, err := encode(r); err == nil {
		t.Fatal("a request without a model has a body")
	}
}

// prune removes the content of the results from an item on.
func prune(r *llm.Request, from int) {
	items := append([]item.Item(nil), r.Items...)
	for i := from; i < len(items); i += 2 {
		if result, ok := items[i].(item.ToolResult); ok {
			result.Content, result.Images = "", nil
			items[i] = result
		} else {
			items[i] = item.WithImages(items[i])
		}
	}
	r.Items = items
}
