package config_test

import (
	"slices"
	"strings"
	"testing"

	"podd/internal/config"
)

func TestChanged(t *testing.T) {
	const before = `
model = "m"
base_url = "http://127.0.0.1:1/v1"
[limits]
max_steps = 3
[tool_output.tools.shell]
max_lines = 7
[prices.m]
input = 1.0
output = 2.0
[[rule]]
tool = "shell"
decision = "ask"
[[hook]]
name = "h"
on = ["alert"]
command = ["true"]
env = ["A=1"]
`
	for name, tt := range map[string]struct {
		after, key string
		want       []string
	}{
		"nothing":                     {before, "k1", nil},
		"moved lines":                 {"\n# more\n" + before, "k1", nil},
		"the key":                     {before, "k2", []string{"api_key"}},
		"a value":                     {replace(t, before, `"m"`+"\nbase", `"n"`+"\nbase"), "k1", []string{"model"}},
		"back to default":             {replace(t, before, "max_steps = 3", ""), "k1", []string{"limits.max_steps"}},
		"a tool's limit":              {replace(t, before, "max_lines = 7", ""), "k1", []string{"tool_output.tools.shell.max_lines"}},
		"a price":                     {replace(t, before, "1.0", "1.5"), "k1", []string{"prices.m.input", "prices.m.cached_input", "prices.m.cache_write"}},
		"a rule":                      {replace(t, before, `"ask"`, `"deny"`), "k1", []string{"rule"}},
		"one rule more":               {before + "[[rule]]\ntool = \"todo\"\ndecision = \"deny\"\n", "k1", []string{"rule"}},
		"no hook any more":            {before[:strings.Index(before, "[[hook]]")], "k1", []string{"hook"}},
		"what is not shown of a hook": {replace(t, before, "A=1", "A=2"), "k1", []string{"hook"}},
		"a hook's command":            {replace(t, before, `"true"`, `"false"`), "k1", []string{"hook"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := config.Changed(load(t, before, "OPENAI_API_KEY=k1"), load(t, tt.after, "OPENAI_API_KEY="+tt.key))
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("changed are %q, want %q", got, tt.want)
			}
		})
	}
}

// replace is text with one part replaced; the part must exist.
func replace(t *testing.T, text, old, by string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is %d times in the text", old, strings.Count(text, old))
	}
	return strings.Replace(text, old, by, 1)
}
