package subpods

import (
	"errors"
	"testing"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/tooltest"
)

func spawnTool(t *testing.T) tool.Tool {
	t.Helper()
	dir := t.TempDir()
	files, err := scopefs.Open(scopefs.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	return Tools(func() *Wing { return new(Wing) })(item.Pod{ID: "p1", Spec: item.PodSpec{Dir: dir, SubPods: 2}}, 0, files)([]string{"read_file"}, nil)[0]
}

func TestConform(t *testing.T) {
	tooltest.Conform(t, spawnTool(t),
		`{"task":"count the files"}`,
		`{"task":"count","name":"Counter","tools":["read_file"],"dir":"sub","read":["a"],"write":["b"],"max_steps":3,"max_tokens":1000,"max_cost":0.5,"max_seconds":60,"background":true}`)
}

func TestArgumentsRefused(t *testing.T) {
	for _, arguments := range []string{`{}`, `{"task":" \n"}`, `{"task":"x","max_steps":-1}`, `{"task":"x","max_cost":-0.1}`, `{"task":"x","max_seconds":"10"}`} {
		if canonical, err := spawnTool(t).Check(arguments); err == nil {
			t.Errorf("Check(%s) = %s", arguments, canonical)
		}
	}
}

// A call outside of a turn has no Meter: it is refused before anything is created.
func TestWithoutATurn(t *testing.T) {
	tl := spawnTool(t)
	arguments, err := tl.Check(`{"task":"count the files"}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tl.Run(t.Context(), &tool.Invocation{Arguments: arguments}); !errors.Is(err, errNoTurn) {
		t.Errorf("Run: %v", err)
	}
	if _, _, err := tl.Recover(t.Context(), &tool.Invocation{Arguments: arguments}); !errors.Is(err, errNoTurn) {
		t.Errorf("Recover: %v", err)
	}
}

// A sub-pod's name fits, and shows whose it is.
func TestChildName(t *testing.T) {
	long := "p12345678901234567890123456789012345678901234567890123456789012"
	for _, c := range []struct{ parent, label, sum, want string }{
		{"main", "", "abc123", "main-abc123"},
		{"main", "tests", "abc123", "main-tests-abc123"},
		{long, "tests", "abc123", long[:maxName-13] + "-tests-abc123"},
	} {
		if got := childName(c.parent, c.label, c.sum); got != c.want || len(got) > maxName {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
