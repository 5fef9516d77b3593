package config

import (
	"maps"
	"slices"
	"strings"

	"podd/pkg/tool"
)

// Summarize says which tool outputs a model summarises when they are over their
// limit: those whose strategy is "summarize".
type Summarize struct {
	Enabled bool
	// Model writes the summaries; empty means the pod's own.
	Model string
	// Tools are the only ones whose outputs are summarised; empty means all with the
	// strategy.
	Tools []string
	// MaxInputBytes is the most of an output that the model is given, TriggerBytes the
	// size above which it is asked. Both are above 0.
	MaxInputBytes, TriggerBytes int
}

// checkSummarize refuses what would do nothing: the strategy where nobody writes
// summaries, a tool that has none to write, and a table that no tool follows.
// "enabled = false" in words is a switch: then the strategy is head_tail.
func (l *loader) checkSummarize() error {
	s := &l.config.Summarize
	strategies := l.summarizing()
	for _, key := range strategies {
		if name, ok := l.toolWith(key); ok && tool.Pages(name) {
			return bad("%s: %s must not be \"summarize\": %s fits its answer to its limit by itself", l.origins[key], key, name)
		}
		if _, said := l.origins["summarize.enabled"]; !said {
			return bad("%s: %s is \"summarize\", and nobody writes summaries: set enabled = true in [summarize], which asks a model", l.origins[key], key)
		}
	}
	if !s.Enabled {
		return nil
	}
	if len(strategies) == 0 {
		return bad("%s: summarize.enabled is true, and no tool's strategy is \"summarize\": set strategy in [tool_output] or in [tool_output.tools.NAME]", l.origins["summarize.enabled"])
	}
	for _, name := range s.Tools {
		if l.strategyOf(name) != tool.StrategySummarize {
			return bad("%s: summarize.tools has %s, whose strategy is not \"summarize\": set %s.strategy", l.origins["summarize.tools"], quote(name), toolTable(name))
		}
	}
	return nil
}

// summarizing are the keys whose value is "summarize".
func (l *loader) summarizing() []string {
	var keys []string
	if l.config.ToolOutput.Default.Strategy == tool.StrategySummarize {
		keys = append(keys, "tool_output.strategy")
	}
	for _, name := range slices.Sorted(maps.Keys(l.tools)) {
		if l.tools[name].Strategy == tool.StrategySummarize {
			keys = append(keys, toolTable(name)+".strategy")
		}
	}
	return keys
}

// toolWith is the tool that a key of its own table belongs to.
func (l *loader) toolWith(key string) (name string, ok bool) {
	for name := range l.tools {
		if strings.HasPrefix(key, toolTable(name)+".") {
			return name, true
		}
	}
	return "", false
}

// strategyOf is what a tool's output is cut by, in the end.
func (l *loader) strategyOf(name string) tool.Strategy {
	c := tool.LimitsConfig{Default: l.config.ToolOutput.Default}
	if own := l.tools[name]; own != nil {
		c.Tools = map[string]tool.Limit{name: *own}
	}
	limits, err := tool.NewLimits(c)
	if err != nil {
		return ""
	}
	return limits.For(name).Strategy
}
