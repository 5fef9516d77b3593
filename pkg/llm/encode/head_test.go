package encode_test

import (
	"testing"

	"podd/pkg/llm/encode"
)

// Options precede what the configuration adds, and replace it.
func TestHead(t *testing.T) {
	for body, want := range map[string]string{
		"":                         `{"model":"m","effort":"high","limit":5`,
		"{}":                       `{"model":"m","effort":"high","limit":5`,
		`{"b":1,"c":{"d":[true]}}`: `{"model":"m","effort":"high","limit":5,"b":1,"c":{"d":[true]}`,
		`{"b":1,"limit":9}`:        `{"model":"m","effort":"high","limit":5,"b":1`,
	} {
		h := new(encode.Head)
		h.Text("effort", "high")
		h.Text("verbosity", "")
		h.Raw("limit", []byte("5"))
		h.Raw("none", nil)
		if got := string(h.Append([]byte(`{"model":"m"`), body)); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
