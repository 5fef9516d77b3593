package exchange

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"podd/pkg/llm"
)

// IsJSON says whether data is JSON. gjson is the faster one, but it recurses: a
// long message of brackets alone would overflow the stack, so those go to
// encoding/json, which limits the depth.
func IsJSON(data []byte) bool {
	const long = 64 << 10
	if len(data) <= long {
		return gjson.ValidBytes(data)
	}
	return json.Valid(data)
}

// First is the first of these members that exists and is not null.
func First(v gjson.Result, paths ...string) gjson.Result {
	for _, path := range paths {
		if m := v.Get(path); m.Exists() && m.Type != gjson.Null {
			return m
		}
	}
	return gjson.Result{}
}

// Count is a number of tokens; never negative.
func Count(v gjson.Result) int64 { return max(0, v.Int()) }

// Clean makes an endpoint's text valid UTF-8.
func Clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// AppendDelta appends text of a block, or nothing for none.
func AppendDelta(dst []llm.Event, block int, text string) []llm.Event {
	if text == "" {
		return dst
	}
	return append(dst, llm.BlockDelta{Block: block, Text: text})
}
