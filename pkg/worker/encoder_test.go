package worker

import (
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/llm"
)

func TestCommonPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := make([]byte, rapid.IntRange(0, 200_000).Draw(t, "a"))
		b := make([]byte, rapid.IntRange(0, 200_000).Draw(t, "b"))
		want := min(len(a), len(b))
		if at := rapid.IntRange(0, 200_000).Draw(t, "differs"); at < len(a) {
			if a[at] = 1; at < want {
				want = at
			}
		}
		if got := commonPrefix(parts(t, a), parts(t, b)); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

// parts cuts a body somewhere.
func parts(t *rapid.T, whole []byte) llm.Body {
	at := rapid.IntRange(0, len(whole)).Draw(t, "cut")
	return llm.Body{whole[:at], whole[at:]}
}

// plain is a third-party model: it encodes each request whole, and == cannot compare it.
type plain struct {
	llm.Model
	name []string
}

func (p plain) Body(r llm.Request) ([]byte, error) {
	return []byte(p.name[0] + r.Items[0].(item.UserMessage).Text), nil
}

// A model needs no encoder of its own, and a change of the model uses the new one's
// encoder.
func TestEncoderOfAPlainModel(t *testing.T) {
	var e Encoder
	r := llm.Request{Items: []item.Item{item.UserMessage{Text: "hi"}}}
	for _, name := range []string{"a", "a", "b"} {
		got, err := e.body(plain{name: []string{name}}, r)
		if err != nil || len(got) != 1 || string(got[0]) != name+"hi" {
			t.Errorf("%s gives %q, %v", name, got, err)
		}
	}
}
