package subpods

import (
	"strings"
	"testing"

	"podd/internal/workspace/skills"
	"podd/pkg/item"
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
