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

// values are those of the keys of a table.
func (d *decoder) values(path string, keys []key) (values []effective) {
	for _, k := range keys {
		at := join(path, k.name)
		if k.name == "*" {
			at = path
		}
		switch kind := k.kind(); {
		case kind == isTable:
			values = append(values, d.values(at, k.keys())...)
		case kind != isValue && k.name == keyRule:
			for _, e := range k.elements(at) {
				values = append(values, d.inOne(e))
			}
		case kind != isValue:
			for _, e := range k.elements(at) {
				values = append(values, d.values(e.path, e.keys)...)
			}
		case d.origins[at] != "" || !k.quiet:
			values = append(values, d.value(at, k))
		}
	}
	return values
}

// inOne is a table as one value.
func (d *decoder) inOne(e element) effective {
	var parts []string
	for _, k := range e.keys {
		if d.origins[join(e.path, k.name)] != "" {
			parts = append(parts, k.name+" = "+k.shown())
		}
	}
	shown := braces(parts)
	return effective{Value{Key: e.path, Value: shown, Origin: d.where(e.path)}, &shown}
}

func (d *decoder) value(path string, k key) effective {
	v, whole := Value{Key: path, Value: k.shown(), Origin: d.origins[path]}, k.whole()
	if v.Origin == "" {
		v.Origin = "default"
		if on := k.tag.Get("default"); on != "" {
			v.Origin += ": " + on
		}
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
