package openai

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
)

// maxToolName is the length of a tool name that every endpoint takes.
const maxToolName = 64

// sentArguments is what goes back as a call's arguments: as the model wrote them
// when they are a JSON object, else {}.
func sentArguments(s string) string {
	t := strings.TrimLeft(s, " \t\r\n")
	if !strings.HasPrefix(t, "{") || !json.Valid([]byte(s)) {
		return "{}"
	}
	return s
}

// sentName is a call's tool name as endpoints accept it: a model may have written
// anything.
func sentName(s string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), maxToolName)]
}

// opaqueMembers gives the members of an opaque object that belongs to api and model,
// without its braces; "" when there are none or when it is no JSON object.
func opaqueMembers(o item.Opaque, api, model string) string {
	if o.API != api || isForeign(o, model) || !isObject(o.JSON) {
		return ""
	}
	return strings.TrimSpace(o.JSON[1 : len(o.JSON)-1])
}

// isForeign says whether something is for another model than this.
func isForeign(o item.Opaque, model string) bool { return o.Model != "" && o.Model != model }

// isObject says whether s is one JSON object with nothing around it.
func isObject(s string) bool {
	return len(s) >= 2 && s[0] == '{' && s[len(s)-1] == '}' && json.Valid([]byte(s))
}

// isJSON says whether data is JSON. gjson is the faster one, but it recurses: a
// long message of brackets alone would overflow the stack, so those go to
// encoding/json, which limits the depth.
func isJSON(data []byte) bool {
	const long = 64 << 10
	if len(data) <= long {
		return gjson.ValidBytes(data)
	}
	return json.Valid(data)
}
