package config

import (
	"maps"
	"slices"
	"strings"
)

// Value is one effective value and where it comes from.
type Value struct {
	// Key is the key with its tables, such as "limits.max_steps".
	Key string
	// Value is in TOML's notation; of the API key only whether it is set.
	Value string
	// Origin is FILE:LINE, the name of an environment variable, or "default",
	// which may be followed by what the default hangs on.
	Origin string
}

// Values are all effective values, in a fixed order: the keys of every
// configuration, then those of single tools as far as they are set.
func (c Config) Values() []Value { return slices.Clone(c.values) }

// CheckTools is an error when the configuration sets limits for a tool that is
// none of the known ones, nor may be one of an MCP server.
func (c Config) CheckTools(known []string) error {
	for _, name := range slices.Sorted(maps.Keys(c.ToolOutput.Tools)) {
		if slices.Contains(known, name) || strings.HasPrefix(name, MCPPrefix) {
			continue
		}
		for _, v := range c.values {
			if strings.HasPrefix(v.Key, toolTable(name)+".") {
				return bad("%s: there is no tool %s: the tools are %s", v.Origin, name, strings.Join(known, ", "))
			}
		}
	}
	for _, name := range c.Summarize.Tools {
		if slices.Contains(known, name) || strings.HasPrefix(name, MCPPrefix) {
			continue
		}
		for _, v := range c.values {
			if v.Key == "summarize.tools" {
				return bad("%s: there is no tool %s: the tools are %s", v.Origin, name, strings.Join(known, ", "))
			}
		}
	}
	return nil
}
