package encode

import (
	"encoding/json"
	"maps"
	"slices"
)

// Head is the members of a body that follow from options and configuration.
type Head struct {
	names  []string
	values [][]byte
}

// Text adds a string, unless it is empty.
func (h *Head) Text(name, value string) {
	if value != "" {
		h.Raw(name, String(nil, value))
	}
}

// Raw adds JSON, unless it is empty.
func (h *Head) Raw(name string, value []byte) {
	if len(value) > 0 {
		h.names, h.values = append(h.names, name), append(h.values, value)
	}
}

// Append appends the members to a body that has some, and then those of the
// configuration's JSON object that are not among them.
func (h *Head) Append(dst []byte, body string) []byte {
	member := func(name string, value []byte) {
		dst = append(String(append(dst, ','), name), ':')
		dst = append(dst, value...)
	}
	for i, name := range h.names {
		member(name, h.values[i])
	}
	if len(body) <= len("{}") {
		return dst
	}
	var added map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &added) != nil {
		return dst
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		if !slices.Contains(h.names, name) {
			member(name, added[name])
		}
	}
	return dst
}
