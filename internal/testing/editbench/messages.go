package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is a tool call of any agent with its result.
type event struct {
	id, name string
	args     map[string]any
	result   string
	failed   bool
}

// events finds tool calls in JSON: the messages of the APIs of Anthropic and OpenAI,
// sessions of Codex, Claude Code, pi and VS Code, and the calls that OpenHands and
// SWE-agent write as text.
type events struct {
	list    []event
	results map[string]event
	seen    map[string]bool
	// open is the call in the last message. The next message is its result.
	open string
}

// readMessages reads one document, or one document per line.
func readMessages(data []byte) ([]call, error) {
	var calls []call
	d := json.NewDecoder(bytes.NewReader(data))
	r := &events{results: make(map[string]event), seen: make(map[string]bool)}
	for {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		// An array of trajectories: one after another, each with its own files.
		if list, ok := v.([]any); ok {
			for _, each := range list {
				one := &events{results: make(map[string]event), seen: make(map[string]bool)}
				one.visit(each)
				calls = append(calls, one.calls()...)
			}
			continue
		}
		r.visit(v)
	}
	return append(calls, r.calls()...), nil
}

func (r *events) visit(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			r.visit(e)
		}
	case map[string]any:
		r.object(v)
		// The steps of SWE-agent repeat its history.
		if steps, ok := v["trajectory"].([]any); ok {
			r.visit(steps)
			return
		}
		if results, ok := v["toolCallResults"].(map[string]any); ok {
			for id, result := range results {
				r.results[id] = event{result: text(result)}
			}
			delete(v, "toolCallResults")
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			r.visit(v[key])
		}
	}
}

// object handles a call or a result.
func (r *events) object(v map[string]any) {
	switch {
	case has(v, "name", "input"), has(v, "name", "arguments"):
		r.call(first(v, "id", "call_id"), str(v, "name"), firstOf(v, "input", "arguments"))
	case has(v, "function", "id"):
		if f, ok := v["function"].(map[string]any); ok {
			r.call(str(v, "id"), str(f, "name"), f["arguments"])
		}
	case first(v, "tool_use_id", "toolCallId", "tool_call_id") != "":
		failed, _ := firstOf(v, "is_error", "isError").(bool)
		r.results[first(v, "tool_use_id", "toolCallId", "tool_call_id")] = event{result: text(v["content"]), failed: failed}
	case has(v, "call_id", "output"):
		r.results[str(v, "call_id")] = event{result: text(v["output"])}
	case has(v, "action", "observation"):
		if name, args, ok := shellCall(str(v, "action")); ok {
			r.written(name, args)
			r.results[r.open] = event{result: str(v, "observation")}
			r.open = ""
		}
	case has(v, "role", "content"):
		r.message(str(v, "role"), text(v["content"]))
	}
}

func (r *events) call(id, name string, args any) {
	if s, ok := args.(string); ok {
		var parsed map[string]any
		if json.Unmarshal([]byte(s), &parsed) == nil {
			args = parsed
		} else {
			args = map[string]any{"input": s}
		}
	}
	a, ok := args.(map[string]any)
	if !ok || id == "" || r.seen[id] {
		return
	}
	r.seen[id] = true
	r.list = append(r.list, event{id: id, name: name, args: a})
}

var (
	writtenCall = regexp.MustCompile(`(?s)<function=(\w+)>\s*(.*?)</function>`)
	writtenArg  = regexp.MustCompile(`(?s)<parameter=(\w+)>(.*?)</parameter>`)
)

// message handles a call written as text. The next message is its result.
func (r *events) message(role, content string) {
	if role != "assistant" {
		if r.open != "" {
			r.results[r.open] = event{result: content}
			r.open = ""
		}
		return
	}
	m := writtenCall.FindStringSubmatch(content)
	if m == nil {
		return
	}
	args := make(map[string]any)
	for _, a := range writtenArg.FindAllStringSubmatch(m[2], -1) {
		args[a[1]] = strings.TrimSuffix(strings.TrimPrefix(a[2], "\n"), "\n")
	}
	r.written(m[1], args)
}

func (r *events) written(name string, args map[string]any) {
	r.open = fmt.Sprint("text ", len(r.list))
	r.call(r.open, name, args)
}

// shellCall reads a command line of SWE-agent's editor.
func shellCall(action string) (name string, args map[string]any, ok bool) {
	words := shellWords(action)
	if len(words) < 3 || words[0] != "str_replace_editor" {
		return "", nil, false
	}
	args = map[string]any{"command": words[1], "path": words[2]}
	for i := 3; i+1 < len(words); i += 2 {
		args[strings.TrimPrefix(words[i], "--")] = words[i+1]
	}
	return words[0], args, true
}

// shellWords splits a command line as a shell does, but without expansions.
func shellWords(line string) []string {
	var words []string
	var b strings.Builder
	in, word := byte(0), false
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; {
		case in == 0 && (ch == ' ' || ch == '\n' || ch == '\t'):
			if word {
				words = append(words, b.String())
				b.Reset()
			}
			word = false
		case in == 0 && (ch == '\'' || ch == '"'):
			in, word = ch, true
		case ch == in:
			in = 0
		case ch == '\\' && in != '\'' && i+1 < len(line) && (in == 0 || strings.IndexByte("\"\\$`\n", line[i+1]) >= 0):
			i++
			b.WriteByte(line[i])
		default:
			b.WriteByte(ch)
			word = true
		}
	}
	if word {
		words = append(words, b.String())
	}
	return words
}

// text is the text of a result, in any of its forms.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, text(e))
		}
		return strings.Join(parts, "\n")
	case map[string]any:
		return text(firstOf(v, "text", "content", "value", "output"))
	}
	return ""
}

func has(v map[string]any, keys ...string) bool {
	for _, key := range keys {
		if _, ok := v[key]; !ok {
			return false
		}
	}
	return true
}

func firstOf(v map[string]any, keys ...string) any {
	for _, key := range keys {
		if x, ok := v[key]; ok {
			return x
		}
	}
	return nil
}

func str(v map[string]any, key string) string { s, _ := v[key].(string); return s }

func first(v map[string]any, keys ...string) string { s, _ := firstOf(v, keys...).(string); return s }
