package pod_test

import (
	"strings"
	"testing"

	"podd/internal/report"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
)

// In 30 steps an endpoint that charges by the common prefix reads at least 90 % of what it
// could from its cache, over each API.
func TestCacheYield(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			replies := make([]scripted.Reply, 30)
			for i := range replies[:29] {
				replies[i] = scripted.Say(scripted.Reasoning("Next."), scripted.Call{Name: "read_file", Arguments: `{"path":"a.txt"}`})
			}
			replies[29] = scripted.Say(scripted.Text("done"))
			var client llm.Model
			h := newHouse(t, scripted.Answers(replies...), func(c *options) {
				if c.Limits.LoopTimes = -1; client != nil {
					c.Router = llm.One(client)
				}
			})
			own := connect(t, api, h.model.URL(), h.now)
			client = own
			defer own.Close()
			h.restart()
			h.write("a.txt", strings.Repeat("all work and no play\n", 100))
			if end := h.run("go"); end.Outcome != item.OutcomeFinished || end.Steps != 30 {
				t.Fatalf("end %+v", end)
			}
			stats, err := report.Count(t.Context(), h.host, "p")
			if err != nil || len(stats.Models) != 1 {
				t.Fatalf("%+v, %v", stats, err)
			}
			c := stats.Models[0].Cache
			if yield := float64(c.Read) / float64(c.Promised); yield < 0.9 || c.Promised < 50_000 || c.Idle+c.Setup+c.Prune+c.Other > 0 {
				t.Errorf("yield %.2f: %+v", yield, c)
			}
		})
	}
}
