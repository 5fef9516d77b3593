package attach

import (
	"reflect"
	"strings"
	"testing"
)

func decodeAll(parts ...string) (keys []key) {
	var d decoder
	for _, p := range parts {
		keys = append(keys, d.decode([]byte(p))...)
	}
	return keys
}

func TestKeys(t *testing.T) {
	for name, tt := range map[string]struct {
		sent []string
		want []key
	}{
		"text":                  {[]string{"aé"}, []key{{keyText, "a"}, {keyText, "é"}}},
		"a cut character":       {[]string{"\xc3", "\xa9"}, []key{{keyText, "é"}}},
		"control keys":          {[]string{"\x03\x04\r\n\t\x7f"}, []key{{kind: keyInterrupt}, {kind: keyEndOfInput}, {kind: keyEnter}, {kind: keyNewline}, {kind: keyTab}, {kind: keyBackspace}}},
		"arrows":                {[]string{"\x1b[A\x1bOB\x1b[1;5C"}, []key{{kind: keyUp}, {kind: keyDown}, {kind: keyWordRight}}},
		"shift-tab":             {[]string{"\x1b[Z\t"}, []key{{kind: keyPlan}, {kind: keyTab}}},
		"page keys":             {[]string{"\x1b[5~\x1b[6~"}, []key{{kind: keyPageUp}, {kind: keyPageDown}}},
		"escape":                {[]string{"\x1b"}, []key{{kind: keyEscape}}},
		"alt-enter":             {[]string{"\x1b\r"}, []key{{kind: keyNewline}}},
		"unknown":               {[]string{"\x1b[99;99R\x1b[?1;2c"}, []key{{}, {}}},
		"a paste":               {[]string{"\x1b[200~one\r\ntwo\rthree\x1b[A\x1b[201~x"}, []key{{keyPaste, "one\ntwo\nthree\x1b[A"}, {keyText, "x"}}},
		"a paste in pieces":     {[]string{"a\x1b[20", "0~one\x1b[2", "01~", "\r"}, []key{{keyText, "a"}, {keyPaste, "one"}, {kind: keyEnter}}},
		"an enter in a paste":   {[]string{"\x1b[200~rm -rf x\r\x1b[201~"}, []key{{keyPaste, "rm -rf x\n"}}},
		"a paste that is empty": {[]string{"\x1b[200~\x1b[201~"}, []key{{keyPaste, ""}}},
	} {
		if got := decodeAll(tt.sent...); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// Whatever a terminal sends, no part of a paste is a key, and all text arrives.
func FuzzDecoder(f *testing.F) {
	f.Add("a\x1b[200~x\r\x1b[201~b", 3)
	f.Add("\x1b[20\x1b\x1b[1;5C\xff", 1)
	f.Fuzz(func(t *testing.T, sent string, piece int) {
		var d decoder
		piece = max(piece, 1)
		for rest := sent; rest != ""; {
			n := min(piece, len(rest))
			for _, k := range d.decode([]byte(rest[:n])) {
				if k.kind == keyText && k.text == "" || k.kind != keyText && k.kind != keyPaste && k.text != "" {
					t.Errorf("%q gives %+v", sent, k)
				}
			}
			rest = rest[n:]
		}
		if len(d.rest) > len(sent) || len(d.paste) > len(sent) {
			t.Errorf("%q leaves more than it is", sent)
		}
	})
}

func TestLongPasteIsBounded(t *testing.T) {
	var d decoder
	d.decode([]byte(pasteBegin))
	for range 18 {
		d.decode([]byte(strings.Repeat("x", 1<<20)))
	}
	if got := d.decode([]byte(pasteEnd)); len(got) != 1 || len(got[0].text) != mostPaste {
		t.Errorf("%d keys", len(got))
	}
}
