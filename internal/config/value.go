package config

import (
	"maps"
	"slices"
	"strings"

	"podd/internal/extend/mcp"
)

// Value is one effective value and where it comes from.
type Value struct {
	// Key is the key with its tables, such as "limits.max_steps".
	Key string
	// Value is in TOML's notation, without secrets; for the API key it only says whether it
	// is set.
	Value string
	// Origin is FILE:LINE, the name of an environment variable, or "default", possibly
	// followed by what the default depends on.
	Origin string
}

// effective is a value including what it does not show.
type effective struct {
	Value
	// whole is the value with its secrets. A pointer keeps them out of what %v prints.
	whole *string
}

// Values are all effective values, in the order of the keys in the reference.
func (c Config) Values() []Value {
	values := make([]Value, len(c.values))
	for i, v := range c.values {
		values[i] = v.Value
	}
	return values
}

// valuesOf are the values of settings in a table.
func valuesOf(path string, keys []*setting) (values []effective) {
	for _, s := range keys {
		at := join(path, s.key)
		switch {
		case s.list:
			for _, t := range s.tables {
				values = append(values, listed(t)...)
			}
		case s.begin != nil:
			for _, t := range s.tables {
				values = append(values, valuesOf(t.path, t.keys)...)
			}
		case s.keys != nil:
			values = append(values, valuesOf(at, s.keys)...)
		case s.origin != "" || !s.quiet:
			values = append(values, s.value(at))
		}
	}
	return values
}

// listed are the values of a table of a list. A rule is one value.
func listed(t *table) []effective {
	if !strings.HasPrefix(t.path, keyRule+"[") {
		return valuesOf(t.path, t.keys)
	}
	var parts []string
	for _, s := range t.keys {
		if s.origin != "" {
			parts = append(parts, s.key+" = "+s.show())
		}
	}
	shown := braces(parts)
	return []effective{{Value{Key: t.path, Value: shown, Origin: t.origin}, &shown}}
}

func (s *setting) value(path string) effective {
	v := Value{Key: path, Value: s.show(), Origin: s.origin}
	whole := v.Value
	if s.whole != nil {
		whole = s.whole()
	}
	switch {
	case v.Origin == "" && s.hint != "":
		v.Origin = "default: " + s.hint
	case v.Origin == "":
		v.Origin = "default"
	}
	return effective{v, &whole}
}

// KeepKey makes the API key that of another configuration.
func (c *Config) KeepKey(other Config) {
	c.APIKey, c.keyFile = other.APIKey, other.keyFile
	isKey := func(v effective) bool { return v.Key == keyAPIKey }
	c.values = slices.Clone(c.values)
	c.values[slices.IndexFunc(c.values, isKey)] = other.values[slices.IndexFunc(other.values, isKey)]
}

// Changed are the keys with different values in two configurations, each once, in the
// order in which they are shown. A list of tables, such as rule, is one key.
func Changed(a, b Config) []string {
	before, after := wholeByKey(a), wholeByKey(b)
	var keys []string
	for _, v := range slices.Concat(b.values, a.values) {
		key, _, _ := strings.Cut(v.Key, "[")
		old, was := before[v.Key]
		now, is := after[v.Key]
		if (was != is || old != now) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// wholeByKey has no entry for a key that is not shown.
func wholeByKey(c Config) map[string]string {
	values := make(map[string]string)
	for _, v := range c.values {
		values[v.Key] = *v.whole
	}
	return values
}

// CheckTools is an error when the configuration sets limits for an unknown tool that
// cannot be one of an MCP server either.
func (c Config) CheckTools(known []string) error {
	check := func(name, key string) error {
		if slices.Contains(known, name) || strings.HasPrefix(name, mcp.Prefix) {
			return nil
		}
		i := slices.IndexFunc(c.values, func(v effective) bool { return v.Key == key || strings.HasPrefix(v.Key, key+".") })
		return bad("%s: there is no tool %s: the tools are %s", c.values[i].Origin, name, strings.Join(known, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(c.ToolOutput.Tools)) {
		if err := check(name, join("tool_output.tools", name)); err != nil {
			return err
		}
	}
	for _, name := range c.Pods.Summarize.Tools {
		if err := check(name, "summarize.tools"); err != nil {
			return err
		}
	}
	return nil
}
