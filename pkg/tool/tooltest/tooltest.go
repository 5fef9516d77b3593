// Package tooltest is the suite that every tool.Tool must pass, and the way in which
// tests call a tool: like the worker, through Check and Run.
package tooltest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// Conform checks t against the contract of tool.Tool. examples are valid arguments, at
// least one; they are checked, never run.
func Conform(t *testing.T, tl tool.Tool, examples ...string) {
	t.Helper()
	if len(examples) == 0 {
		t.Fatal("tooltest.Conform needs an example of valid arguments")
	}
	t.Run("spec", func(t *testing.T) { conformSpec(t, tl) })
	for _, example := range examples {
		t.Run("canonical", func(t *testing.T) { conformCanonical(t, tl, example) })
		t.Run("strict", func(t *testing.T) { conformStrict(t, tl, example) })
	}
	t.Run("malformed", func(t *testing.T) { conformMalformed(t, tl) })
}

func conformSpec(t *testing.T, tl tool.Tool) {
	spec := tl.Spec()
	if spec != tl.Spec() {
		t.Error("two calls of Spec differ: a request would change under the provider's cache")
	}
	if _, err := tool.NewRegistry(tl); err != nil {
		t.Error(err)
	}
	var schema struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(spec.Schema), &schema); err != nil || schema.Type != "object" {
		t.Errorf("the schema is not that of an object: %s", spec.Schema)
	}
}

// conformCanonical: Check is a function of its input, its result is its own canonical
// form, and concurrent calls do not affect each other.
func conformCanonical(t *testing.T, tl tool.Tool, example string) {
	canonical, err := tl.Check(example)
	if err != nil {
		t.Fatalf("Check(%s): %v", example, err)
	}
	if !json.Valid([]byte(canonical)) {
		t.Fatalf("Check(%s) = %q, which is no JSON", example, canonical)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if again, err := tl.Check(canonical); err != nil || again != canonical {
				t.Errorf("Check(%s) = %s, %v; want it unchanged", canonical, again, err)
			}
		})
	}
	wg.Wait()
}

// conformStrict: only the example's own fields pass.
func conformStrict(t *testing.T, tl tool.Tool, example string) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(example), &fields); err != nil {
		t.Fatalf("the example %s is no object: %v", example, err)
	}
	body := strings.TrimSuffix(strings.TrimSpace(example), "}")
	refused := []string{example + " {}", "[" + example + "]"}
	for name, value := range fields {
		refused = append(refused, body+`,"`+name+`":`+string(value)+"}")
		if upper := strings.ToUpper(name); upper != name {
			refused = append(refused, body+`,"`+upper+`":`+string(value)+"}")
		}
	}
	comma := ","
	if len(fields) == 0 {
		comma = ""
	}
	refused = append(refused, body+comma+`"no_such_field":1}`)
	for _, arguments := range refused {
		if canonical, err := tl.Check(arguments); err == nil {
			t.Errorf("Check(%s) passed as %s", arguments, canonical)
		}
	}
}

func conformMalformed(t *testing.T, tl tool.Tool) {
	for _, arguments := range []string{
		"{", "}", "[]", "null", "1", `"{}"`, "{\"a\xff\":1}", `{"a":}`, "{} x",
		strings.Repeat("[", 100_000), `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}",
	} {
		if canonical, err := tl.Check(arguments); err == nil {
			t.Errorf("Check(%.40s) passed as %s", arguments, canonical)
		} else if message := err.Error(); len(message) > 1_000 || !utf8.ValidString(message) {
			t.Errorf("Check(%.40s): a message of %d bytes: %.200q", arguments, len(message), message)
		}
	}
}

// Call checks and runs arguments, and checks the output against the rules of tool.Output.
func Call(ctx context.Context, t *testing.T, tl tool.Tool, arguments string) tool.Output {
	t.Helper()
	return Invoke(ctx, t, tl, tool.Invocation{Arguments: arguments})
}

// Invoke is Call for a call of a turn.
func Invoke(ctx context.Context, t *testing.T, tl tool.Tool, call tool.Invocation) tool.Output {
	t.Helper()
	canonical, err := tl.Check(call.Arguments)
	if err != nil {
		t.Fatalf("%s: Check(%s): %v", tl.Spec().Name, call.Arguments, err)
	}
	call.Arguments = canonical
	out, err := tl.Run(ctx, &call)
	if err != nil {
		t.Fatalf("%s: Run(%s): %v", tl.Spec().Name, canonical, err)
	}
	CheckOutput(t, out)
	return out
}

// CheckOutput reports how an output breaks the rules: the summary exists, is bounded and
// clean, the content is UTF-8, the counts of a cut add up.
func CheckOutput(t *testing.T, out tool.Output) {
	t.Helper()
	if out.Summary == "" || len(out.Summary) > item.MaxSummaryBytes || !utf8.ValidString(out.Summary) {
		t.Errorf("a summary must have 1 to %d bytes of UTF-8; this has %d: %q", item.MaxSummaryBytes, len(out.Summary), out.Summary)
	}
	if strings.ContainsFunc(out.Summary, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		t.Errorf("the summary has control characters: %q", out.Summary)
	}
	if !utf8.ValidString(out.Content) {
		t.Errorf("the content is not UTF-8: %.100q", out.Content)
	}
	if c := out.Cut; c != nil && (c.KeptBytes > c.TotalBytes || c.KeptLines > c.TotalLines || c.KeptBytes > int64(len(out.Content))) {
		t.Errorf("the counts of the cut do not add up: %+v with %d bytes of content", *c, len(out.Content))
	}
}
