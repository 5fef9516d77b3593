package pages_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The recording of the terminal view is an asciicast of version 2, and shows what the pages
// say of it. `make cast` records it.
func TestCast(t *testing.T) {
	text, err := os.ReadFile("../../../docs/attach.cast")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	var head struct {
		Version, Width, Height int
		Title                  string
	}
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil || head.Version != 2 || head.Width != 90 || head.Height != 26 || head.Title == "" {
		t.Errorf("the head is %s, %v", lines[0], err)
	}
	var shown strings.Builder
	last := 0.0
	for _, line := range lines[1:] {
		var event []any
		if err := json.Unmarshal([]byte(line), &event); err != nil || len(event) != 3 || event[1] != "o" {
			t.Fatalf("no event: %.80s, %v", line, err)
		}
		at, ok := event[0].(float64)
		if !ok || at < last || at > 120 {
			t.Fatalf("the time %v follows %v", event[0], last)
		}
		last = at
		output, ok := event[2].(string)
		if !ok {
			t.Fatalf("no output: %.80s", line)
		}
		shown.WriteString(output)
	}
	for _, what := range []string{"greeter · idle", "@greet_test.go", "Tab take it", "1 place replaced", "Hello, Ada!", "$ tail -n 3 greet.go", "turn 2 finished", "/status"} {
		if !strings.Contains(shown.String(), what) {
			t.Errorf("it does not show %q", what)
		}
	}
}
