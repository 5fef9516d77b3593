package triggers

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The bounds of what a webhook selects of a body.
const (
	maxSelect     = 20
	maxSelectPath = 200
)

// step is a part of a path: the member of an object, or the element of a list.
type step struct {
	key   string
	index int
	list  bool
}

// parsePath reads a path as jq writes it, such as .commits[0].message.
func parsePath(path string) (steps []step, err error) {
	wrong := invalid("%q selects nothing: write a path such as .pull_request.title or .commits[0].message", path)
	rest := path
	if !strings.HasPrefix(path, ".") || len(path) < 2 || len(path) > maxSelectPath {
		return nil, wrong
	}
	for rest != "" {
		if inner, ok := strings.CutPrefix(rest, "["); ok && len(steps) > 0 {
			number, after, closed := strings.Cut(inner, "]")
			n, err := strconv.ParseUint(number, 10, 31)
			if err != nil || !closed {
				return nil, wrong
			}
			steps, rest = append(steps, step{index: int(n), list: true}), after //nolint:gosec // It has 31 bits.
			continue
		}
		after, ok := strings.CutPrefix(rest, ".")
		end := strings.IndexAny(after, ".[")
		if end < 0 {
			end = len(after)
		}
		if !ok || end == 0 || strings.ContainsAny(after[:end], " ]|,\"'*") {
			return nil, wrong
		}
		steps, rest = append(steps, step{key: after[:end]}), after[end:]
	}
	return steps, nil
}

// pick is what paths select of a JSON text, a line each; text is as it is, and what is not there is null.
func pick(body string, paths []string) (string, error) {
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var whole any
	if err := d.Decode(&whole); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, path := range paths {
		steps, err := parsePath(path)
		if err != nil {
			return "", err
		}
		at := whole
		for _, s := range steps {
			at = s.of(at)
		}
		text, ok := at.(string)
		if !ok {
			shown, err := json.Marshal(at)
			if err != nil {
				return "", err
			}
			text = string(shown)
		}
		fmt.Fprintf(&b, "%s: %s\n", path, text)
	}
	return b.String(), nil
}

// of is what a step leads to; nil if there is nothing.
func (s step) of(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if !s.list {
			return v[s.key]
		}
	case []any:
		if s.list && s.index < len(v) {
			return v[s.index]
		}
	}
	return nil
}
