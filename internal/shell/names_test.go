package shell_test

import (
	"slices"
	"testing"

	"podd/internal/tools/builtin"
)

// A spooled output can be searched as the marker of a cut says.
func TestSearchInAnOutputThatWasCut(t *testing.T) {
	b := newBench(t, nil)
	cut := b.call("shell", object("command", "seq 1 100000")).Cut
	out := b.call("search", object("pattern", "^50000$", "path", cut.SpoolPath))
	if want := cut.SpoolPath + "\n49999-49998\n50000-49999\n50001:50000\n50002-50001\n50003-50002\n"; out.Content != want {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
	out = b.call("read_file", object("path", cut.SpoolPath, "start_line", 50001, "end_line", 50001))
	if out.Content != "50001\t50000\n" {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
}

// The tools are sent with every request.
func TestToolsAreSmallToSend(t *testing.T) {
	b := newBench(t, nil)
	size := 0
	for _, spec := range b.tools.Specs() {
		text := encode(map[string]any{"type": "function", "name": spec.Name, "description": spec.Description}) + `,"parameters":` + spec.Schema
		t.Logf("%4d %s", len(text), text)
		size += len(text)
	}
	if size > 6000 {
		t.Errorf("the tools take %d bytes, of 6000", size)
	}
}

// A configuration is checked against Names before there is a pod.
func TestNamesAreThoseOfTheTools(t *testing.T) {
	var names []string
	for _, spec := range newBench(t, nil).tools.Specs() {
		names = append(names, spec.Name)
	}
	if !slices.Equal(names, builtin.Names()) {
		t.Errorf("New makes %q, Names says %q", names, builtin.Names())
	}
}
