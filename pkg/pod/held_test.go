package pod_test

import (
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/tool"
)

// limited gives the pods limits of tool output.
func limited(t *testing.T, l tool.LimitsConfig) func(*options) {
	limits, err := tool.NewLimits(l)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *options) { c.ToolOutput = limits }
}

// A result that was stored under larger limits is sent within those that count now: cut in
// the middle of the conversation, over a restart too, with one alert that says so. What was
// sent is what the log says; with the old limits it is sent whole again.
func TestRequestsAreHeldToLimits(t *testing.T) {
	h := newHouse(t, inOrder(scripted.Say(shell("seq 2000; echo")), scripted.Say(scripted.Text("ran"))), limited(t, tool.LimitsConfig{Default: tool.Limit{MaxLines: 5000}}),
		func(c *options) { c.Prune.Mode = "off" })
	h.run("go")
	h.run("more")
	whole := h.context()
	if !strings.Contains(whole, `\n1000\n`) || len(h.warned()) > 0 {
		t.Fatalf("warned %q, the request is %s", h.warned(), whole)
	}
	small := limited(t, tool.LimitsConfig{Default: tool.Limit{MaxBytes: 2000}})
	h.reload(small)
	preview := h.context()
	h.run("and more")
	h.run("and on")
	sent := h.body(len(h.model.Requests()))
	for _, body := range []string{preview, sent} {
		if strings.Contains(body, `\n1000\n`) || !strings.Contains(body, "[cut: ") || len(whole)-len(body) < 5000 {
			t.Errorf("the request has %d bytes, the whole one %d: %s", len(body), len(whole), body)
		}
	}
	want := "1 earlier result is over the current limits of tool output and sent cut: shell; requests lose "
	if got := h.warned(); len(got) != 1 || !strings.HasPrefix(got[0], want) || !strings.HasSuffix(got[0], " bytes, the log keeps them") {
		t.Errorf("warned %q, want %q once", got, want)
	}
	if r := results(h.log()); len(r) != 1 || r[0].Cut != nil || !strings.Contains(r[0].Content, "\n1000\n") {
		t.Errorf("the log has %+v", r)
	}
	c, err := h.host.Context(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Parts {
		if r, ok := p.Item.(item.ToolResult); ok && (r.Cut == nil || r.Cut.KeptBytes > 2000) {
			t.Errorf("the result is shown as cut: %+v", r.Cut)
		}
	}
	before := h.config
	h.config = func(c *options) { before(c); small(c) }
	h.restart()
	if got := h.context(); !strings.HasPrefix(got, strings.TrimRight(sent, "]}")) {
		t.Errorf("after a restart the request is %s", got)
	}
	h.config = before
	h.restart()
	if got := h.context(); !strings.HasPrefix(got, strings.TrimRight(whole, "]}")) || len(h.warned()) != 1 {
		t.Errorf("with the old limits the request is %s, warned %q", got, h.warned())
	}
}
