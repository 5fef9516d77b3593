package extern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// verdict is what a command decided.
type verdict struct {
	// word is one of its edge's verdicts.
	word   string
	reason string
	items  []item.Item
	text   string
	// arguments is the command's JSON.
	arguments string
	output    outputVerdict
}

// outputVerdict is an output; a nil field was not given.
type outputVerdict struct {
	summary, content *string
	isError          *bool
}

// The verdicts that change nothing; empty output is one of them.
const (
	wordContinue = "continue"
	wordFinish   = "finish"
)

// words are the verdicts of an edge, each with its field; a reason is optional, other fields
// are required.
func words(edge hook.EdgeName) []word {
	switch edge {
	case hook.EdgePromptSubmit:
		return []word{{wordContinue, ""}, {"continue_with", "items"}, {"rewrite", "text"}, {"cancel", "reason"}}
	case hook.EdgeBeforeRequest:
		return []word{{wordContinue, ""}, {"continue_with", "items"}, {"cancel", "reason"}, {"pause", "reason"}}
	case hook.EdgeBeforeTool:
		return []word{
			{wordContinue, ""}, {"rewrite", "arguments"}, {"deny", "reason"}, {"result", "output"}, {"ask", "reason"}, {"abort", "reason"},
		}
	case hook.EdgeAfterTool:
		return []word{{wordContinue, ""}, {"replace", "output"}, {"abort", "reason"}}
	case hook.EdgeTurnEnd:
		return []word{{wordFinish, ""}, {"continue_with", "items"}, {"pause", "reason"}}
	}
	return nil
}

type word struct{ verdict, field string }

// parseVerdict reads the verdict of an edge as strictly as a tool's arguments: one JSON
// object without fields that are unknown, repeated, or belong to another verdict. Only white
// space means that nothing changes.
func parseVerdict(edge hook.EdgeName, text string) (verdict, error) {
	if strings.TrimSpace(text) == "" {
		return verdict{word: words(edge)[0].verdict}, nil
	}
	if !utf8.ValidString(text) {
		return verdict{}, errors.New("it is not valid UTF-8")
	}
	fields, err := parseObject([]byte(text))
	if err != nil {
		return verdict{}, err
	}
	if err := checkVersion(fields); err != nil {
		return verdict{}, err
	}
	var said string
	if err := decodeField(fields, "verdict", &said); err != nil {
		return verdict{}, err
	}
	known := words(edge)
	i := slices.IndexFunc(known, func(w word) bool { return w.verdict == said })
	if i < 0 {
		return verdict{}, fmt.Errorf("unknown verdict %q at %s: use %s", clip(said), edge, list(known))
	}
	v := verdict{word: said}
	if err := v.decode(fields, known[i].field); err != nil {
		return verdict{}, err
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		return verdict{}, fmt.Errorf("the field %q does not belong to the verdict %q at %s", clip(field), said, edge)
	}
	return v, nil
}

// decode takes the field of a verdict.
func (v *verdict) decode(fields map[string]json.RawMessage, field string) error {
	switch field {
	case "reason":
		if fields[field] == nil {
			return nil
		}
		err := decodeField(fields, field, &v.reason)
		v.reason = reason(v.reason)
		return err
	case "text":
		return decodeField(fields, field, &v.text)
	case "arguments":
		v.arguments = string(fields[field])
		return decodeField(fields, field, new(map[string]any))
	case "items":
		return v.decodeItems(fields)
	case "output":
		return v.decodeOutput(fields)
	}
	return nil
}

// maxItems is how many items one verdict may add.
const maxItems = 16

func (v *verdict) decodeItems(fields map[string]json.RawMessage) error {
	var texts []string
	if err := decodeField(fields, "items", &texts); err != nil {
		return err
	}
	if len(texts) == 0 || len(texts) > maxItems {
		return fmt.Errorf("items has %d texts: it must have 1 to %d", len(texts), maxItems)
	}
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			return errors.New("items has an empty text")
		}
		v.items = append(v.items, message(text))
	}
	return nil
}

func (v *verdict) decodeOutput(fields map[string]json.RawMessage) error {
	raw := fields["output"]
	if raw == nil {
		return errors.New("the field \"output\" is missing")
	}
	delete(fields, "output")
	inner, err := parseObject(raw)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	for name, target := range map[string]any{"summary": &v.output.summary, "content": &v.output.content, "is_error": &v.output.isError} {
		if inner[name] == nil {
			continue
		}
		if err := decodeField(inner, name, target); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(inner)) {
		return fmt.Errorf("output: unknown field %q: use summary, content and is_error", clip(field))
	}
	if v.output.summary == nil && v.output.content == nil {
		return errors.New("output has neither summary nor content")
	}
	return nil
}

func checkVersion(fields map[string]json.RawMessage) error {
	if fields["version"] == nil {
		return nil
	}
	var version int
	if err := decodeField(fields, "version", &version); err != nil {
		return err
	}
	if version != Version {
		return fmt.Errorf("its version is %d, but this podd reads version %d", version, Version)
	}
	return nil
}

// decodeField decodes a required field, and removes it.
func decodeField(fields map[string]json.RawMessage, name string, target any) error {
	raw := fields[name]
	if raw == nil {
		return fmt.Errorf("the field %q is missing", name)
	}
	delete(fields, name)
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return fmt.Errorf("the field %q is null", name)
	}
	if err := json.Unmarshal(raw, target); err != nil {
		return fmt.Errorf("the field %q has the wrong type", name)
	}
	return nil
}

// parseObject splits one JSON object into its fields, and refuses repeated ones.
func parseObject(text []byte) (map[string]json.RawMessage, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("it is not one JSON value: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	fields := make(map[string]json.RawMessage)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := name.(string) // The input is valid JSON.
		if fields[key] != nil {
			return nil, fmt.Errorf("the field %q occurs twice", clip(key))
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		fields[key] = value
	}
	return fields, nil
}

func list(known []word) string {
	var quoted []string
	for _, w := range known {
		quoted = append(quoted, fmt.Sprintf("%q", w.verdict))
	}
	return strings.Join(quoted, ", ")
}

// clip bounds a command's text inside an error.
func clip(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
