package llmtest

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// testCompose holds that a Composer gives the bytes of Body, whatever became of the
// conversation since its last body: it grew, results were pruned, a summary took the
// place of its beginning, its setup changed, or a request failed to be made.
func testCompose(t *testing.T, open Open) {
	m := open(t).Model
	rapid.Check(t, func(t *rapid.T) {
		setup := drawSetup(t)
		all := drawConversation(t)
		r := llm.Request{Setup: setup}
		add := func(n int) {
			for ; n > 0 && len(all) > 0; n-- {
				r.Items, all = append(r.Items, all[0]), all[1:]
				r.Marks = append(r.Marks, llm.Mark(4*(100-len(all))))
			}
		}
		add(1)
		c := m.Composer()
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			switch rapid.SampledFrom([]string{"grow", "grow", "grow", "prune", "compact", "setup", "same"}).Draw(t, "change") {
			case "grow":
				add(rapid.IntRange(1, 6).Draw(t, "more"))
			case "prune":
				prune(&r, rapid.IntRange(0, len(r.Items)-1).Draw(t, "from"))
			case "compact":
				n := rapid.IntRange(1, len(r.Items)).Draw(t, "compacted")
				summary := item.SystemMessage{Origin: item.OriginCompaction, Text: "so far"}
				r.Items = append([]item.Item{summary}, r.Items[n:]...)
				r.Marks = append([]llm.Mark{r.Marks[n-1] | 3}, r.Marks[n:]...)
			case "setup":
				r.Setup = drawSetup(t)
			}
			got, err := c.Body(r)
			if err != nil {
				t.Fatal(err)
			}
			if want := mustBody(t, m, r.Setup, r.Items); !bytes.Equal(got, want) {
				t.Fatalf("the composed body is not the body:\n%s\n%s", got, want)
			}
			refuses(t, c, r)
			if rapid.Bool().Draw(t, "forget") {
				c = m.Composer()
			}
		}
	})
}

// refuses holds that a request without a model has no body, and that a Composer survives
// being asked for one.
func refuses(t *rapid.T, c llm.Composer, r llm.Request) {
	r.Setup.Model = ""
	if _, err := c.Body(r); err == nil {
		t.Fatal("a request without a model has a body")
	}
}

// prune takes the content of the results from an item on.
func prune(r *llm.Request, from int) {
	items, marks := append([]item.Item(nil), r.Items...), append([]llm.Mark(nil), r.Marks...)
	for i := from; i < len(items); i += 2 {
		if result, ok := items[i].(item.ToolResult); ok && result.Content != "" {
			result.Content = ""
			items[i], marks[i] = result, marks[i]|1
		}
	}
	r.Items, r.Marks = items, marks
}
