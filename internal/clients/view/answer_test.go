package view_test

import (
	"testing"

	"podd/internal/clients/view"
)

func TestParseAnswer(t *testing.T) {
	tests := []struct {
		text                string
		ok, approve, always bool
		reason              string
	}{
		{"y\n", true, true, false, ""},
		{" YES \r\n", true, true, false, ""},
		{"a", true, true, true, ""},
		{"always\n", true, true, true, ""},
		{"n", true, false, false, ""},
		{"n  it is late\n", true, false, false, "it is late"},
		{"No, thanks", false, false, false, ""},
		{"y but", false, true, false, ""},
		{"", false, false, false, ""},
		{"\n", false, false, false, ""},
		{"yep", false, false, false, ""},
		{"1", true, true, false, ""},
		{"2", true, true, true, ""},
		{"3 not now", true, false, false, "not now"},
		{"4", false, false, false, ""},
		{"approve", false, false, false, ""},
	}
	for _, tt := range tests {
		got, ok := view.ParseAnswer(tt.text)
		if ok != tt.ok || ok && (got.Approve != tt.approve || got.Always != tt.always || got.Reason != tt.reason) {
			t.Errorf("%q is %+v, %v", tt.text, got, ok)
		}
	}
}
