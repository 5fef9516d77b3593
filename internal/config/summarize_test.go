package config_test

import (
	"reflect"
	"testing"

	"podd/internal/config"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

func TestSummarize(t *testing.T) {
	want := worker.Summarize{MaxInputBytes: 50_000, TriggerBytes: 20_000}
	if got := load(t, "").Pods.Summarize; !reflect.DeepEqual(got, want) {
		t.Errorf("by default %+v, want %+v", got, want)
	}
	c := load(t, `
[tool_output]
strategy = "summarize"
[summarize]
enabled = true
model = "cheap"
tools = ["shell", "search"]
max_input_bytes = 9000
trigger_bytes = 8000
`)
	want = worker.Summarize{Enabled: true, Model: item.ModelRef{Model: "cheap"}, Tools: []string{"shell", "search"}, MaxInputBytes: 9000, TriggerBytes: 8000}
	if !reflect.DeepEqual(c.Pods.Summarize, want) || c.ToolOutput.Default.Strategy != tool.StrategySummarize {
		t.Errorf("%+v, strategy %q; want %+v", c.Pods.Summarize, c.ToolOutput.Default.Strategy, want)
	}
	shown := map[string]string{}
	for _, v := range c.Values() {
		shown[v.Key] = v.Value
	}
	if shown["summarize.enabled"] != "true" || shown["summarize.tools"] != `["shell", "search"]` {
		t.Errorf("shown %q", shown)
	}
	// "enabled = false" is a switch that keeps the other keys.
	c = load(t, "summarize.enabled = false\n[tool_output.tools.shell]\nstrategy = 'summarize'\n")
	if c.Pods.Summarize.Enabled || c.ToolOutput.Tools["shell"].Strategy != tool.StrategySummarize {
		t.Errorf("switched off: %+v", c.Pods.Summarize)
	}
	if _, err := tool.NewLimits(c.ToolOutput); err != nil {
		t.Error(err)
	}
}

// A setting without effect is refused, with its line.
func TestSummarizeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"tool_output.strategy = 'summarize'":                                                            `:1: tool_output.strategy is "summarize", but summaries are off: set enabled = true in [summarize]`,
		"\n[tool_output.tools.\"a.b\"]\nstrategy = 'summarize'":                                         `:3: tool_output.tools."a.b".strategy is "summarize", but summaries are off`,
		"summarize.enabled = true":                                                                      `:1: summarize.enabled is true, and no tool's strategy is "summarize"`,
		"summarize.enabled = true\n[tool_output.tools.read_file]\nstrategy = 'summarize'":               `:3: tool_output.tools.read_file.strategy must not be "summarize": read_file fits`,
		"[summarize]\nenabled = true\ntools = ['read_file']\n[tool_output]\nstrategy = 'summarize'":     `:3: summarize.tools has "read_file", whose strategy is not "summarize"`,
		"[summarize]\nenabled = true\ntools = ['x']\n[tool_output.tools.shell]\nstrategy = 'summarize'": `:3: summarize.tools has "x", whose strategy is not "summarize": set tool_output.tools.x.strategy`,
		"summarize.enabled = 'yes'":                                                                     `:1: summarize.enabled must be true or false; it is "yes"`,
		"summarize.tools = 'shell'":                                                                     `:1: summarize.tools must be a list of names without white space, such as ["a", "b"]; it is "shell"`,
		"summarize.tools = ['a b']":                                                                     "must be a list of names",
		"summarize.tools = ['']":                                                                        "must be a list of names",
		"summarize.tools = [1]":                                                                         "must be a list of names",
		"summarize.max_input_bytes = 10":                                                                "from 1024 to 8388608",
		"summarize.trigger_bytes = 0":                                                                   "from 1 to",
		"summarize.model = 'a b'":                                                                       "a name without white space",
		"[summarize]\nenable = true":                                                                    ":2: unknown key summarize.enable; did you mean enabled?",
		"[[summarize]]\nenabled = true":                                                                 ":1: summarize must be a table",
	} {
		path := write(t, text)
		_, err := config.Load(path, true, environment())
		wantError(t, err, path, want)
	}
}

// An unknown tool writes nothing to summarise.
func TestSummarizeUnknownTool(t *testing.T) {
	c := load(t, "[tool_output]\nstrategy = 'summarize'\n[summarize]\nenabled = true\ntools = ['shell', 'shel']\n")
	wantError(t, c.CheckTools([]string{"search", "shell"}), ":5: there is no tool shel: the tools are search, shell")
	if err := c.CheckTools([]string{"shel", "shell"}); err != nil {
		t.Error(err)
	}
}
