package config

import (
	"reflect"
	"slices"
	"strings"
)

// Changed are the keys with different values in two configurations, each once, in the
// order in which they are shown. A list of tables, such as rule, is one key.
func Changed(a, b Config) []string {
	before, after := valuesByKey(a), valuesByKey(b)
	var keys []string
	for _, v := range append(b.Values(), a.Values()...) {
		key, _, _ := strings.Cut(v.Key, "[")
		if !slices.Contains(keys, key) && (before[v.Key] != after[v.Key] || changedUnseen(key, a, b)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// changedUnseen compares what values do not show: the API key, the environment of
// commands, and what MCP servers are sent.
func changedUnseen(key string, a, b Config) bool {
	switch key {
	case "api_key":
		return a.APIKey != b.APIKey
	case listInterceptor:
		return !slices.EqualFunc(a.Interceptors, b.Interceptors, sameExtension)
	case listHook:
		return !slices.EqualFunc(a.Hooks, b.Hooks, sameExtension)
	}
	return strings.HasPrefix(key, "mcp.servers.") && !slices.EqualFunc(hiddenOf(key, a), hiddenOf(key, b), reflect.DeepEqual)
}

// hiddenOf are the values of MCP servers under a key that shows none, or not the whole.
func hiddenOf(key string, c Config) []any {
	var all []any
	for _, s := range c.MCP {
		rest, _ := strings.CutPrefix(key, mcpTable(s.Name)+".")
		switch {
		case rest == "env":
			all = append(all, s.Env)
		case rest == "env_files":
			all = append(all, s.EnvFiles)
		case rest == "url":
			all = append(all, s.URL)
		case strings.HasPrefix(rest, "headers."):
			all = append(all, s.Headers)
		}
	}
	return all
}

// sameExtension compares two wherever they stand in the file.
func sameExtension(a, b Extension) bool {
	a.Origin, b.Origin = "", ""
	return reflect.DeepEqual(a, b)
}

// valuesByKey has no entry for a key that is not shown.
func valuesByKey(c Config) map[string]string {
	values := make(map[string]string)
	for _, v := range c.values {
		values[v.Key] = v.Value
	}
	return values
}
