package subpods

import (
	"fmt"
	"strings"
	"testing"

	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/scopefs"
)

// The description names agents, within bounds. Without any there is no argument for them; what finds the outcome of calls knows it.
func TestAgentsAreListed(t *testing.T) {
	dir := t.TempDir()
	files, err := scopefs.Open(scopefs.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	made := func(files *scopefs.FS, agents ...skills.Agent) item.ToolSpec {
		return Tools(func() *Wing { return new(Wing) })(item.Pod{ID: "p1", Spec: item.PodSpec{Dir: dir, SubPods: 2}}, 0, files)([]string{"read_file"}, agents)[0].Spec()
	}
	if s := made(files); strings.Contains(s.Schema, `"agent"`) || strings.Contains(s.Description, "Agents:") {
		t.Errorf("without agents: %+v", s)
	}
	if s := made(nil); !strings.Contains(s.Schema, `"agent"`) {
		t.Errorf("to find outcomes: %+v", s)
	}
	many := make([]skills.Agent, 50)
	for i := range many {
		many[i] = skills.Agent{Name: "critic", Description: strings.Repeat("é", 1000)}
	}
	s := made(files, many...)
	if !strings.Contains(s.Schema, `"agent"`) || !strings.Contains(s.Schema, `"task"`) || !strings.Contains(s.Description, "\nAgents:\n- critic: éé") ||
		!strings.Contains(s.Description, " more are not listed]") || len(s.Description) > maxListed+1000 {
		t.Errorf("with many: %d bytes, %+v", len(s.Description), s)
	}
}

// An agent has those of the tools that it may have, never those that it may not, and rules for its commands.
func TestAgentsTools(t *testing.T) {
	has := []string{"read_file", "shell", "job", "glob", "mcp__db__query", "edit_file", "apply_patch", "spawn_pod"}
	for _, c := range []struct {
		tools, denied []string
		want          string
	}{
		{nil, nil, "[] [] "},
		{[]string{"Read", "Bash"}, nil, "[read_file shell] [] "},
		{[]string{"Read", "Bash(git log:*)", "Bash(git diff)", "job", "WebSearch", "mcp__db"}, nil,
			"[read_file shell mcp__db__query] [only git log *; only git diff; ] \n\n[You do not have these tools: job, WebSearch]"},
		{[]string{"Read(src/**)", "Glob"}, nil, "[glob] [] \n\n[You do not have these tools: read_file]"},
		{nil, []string{"Edit", "Bash(rm:*)", "Read(x)"}, "[shell glob mcp__db__query spawn_pod] [deny rm *; ] "},
		{[]string{"Edit"}, []string{"Edit"}, "not run: you have no tool that the agent a may use: leave agent out"},
		{[]string{}, nil, "not run: you have no tool that the agent a may use: leave agent out"},
		{[]string{"Bash($(x))"}, nil, "not run: podd has no rule for the tools of the agent a: rule 1: the command \"$(x)\" has $"},
	} {
		var spec item.PodSpec
		lacks, err := equip(&spec, skills.Agent{Name: "a", Tools: c.tools, Denied: c.denied}, has)
		rules := ""
		for _, r := range spec.Rules {
			rules += r.Decision + " " + r.Command + "; "
		}
		got := fmt.Sprintf("%v [%s] %s", spec.Tools, rules, lacks)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) || err == nil && got != c.want {
			t.Errorf("%q without %q: %q, want %q", c.tools, c.denied, got, c.want)
		}
	}
	narrow := item.PodSpec{Rules: []item.Rule{{Tool: "shell", Command: "ls", Decision: "only"}}}
	if _, err := equip(&narrow, skills.Agent{Name: "a", Tools: []string{"Bash(rm *)"}}, has); err == nil || len(narrow.Rules) != 1 {
		t.Errorf("a pod that may run some commands alone gives others: %v, %+v", err, narrow.Rules)
	}
}

// The models of agents are those of an endpoint's list, by name or by a word of it: the first, which vendors list first.
func TestAgentsModels(t *testing.T) {
	offers := []llm.Offer{{Model: "claude-opus-4-8"}, {Model: "claude-haiku-4-5"}, {Model: "claude-3-haiku"}, {Model: "opus"}}
	for name, want := range map[string]string{"opus": "opus", "haiku": "claude-haiku-4-5", "claude-3-haiku": "claude-3-haiku", "sonnet": "", "claude-haiku": ""} {
		if got := listedModel(offers, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
