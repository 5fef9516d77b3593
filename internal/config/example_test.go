package config_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"podd/internal/config"
)

// uncommented is the sample with all its keys in effect.
func uncommented() string {
	return regexp.MustCompile(`(?m)^#([a-z\[])`).ReplaceAllString(config.Example, "$1")
}

func TestTheSampleLoads(t *testing.T) {
	if changed := config.Changed(load(t, config.Example), load(t, "")); len(changed) > 0 {
		t.Errorf("as it is printed, the sample sets %q", changed)
	}
	c := load(t, uncommented())
	if err := c.CheckTools([]string{"search", "repo_structure", "list_dir", "glob", "shell"}); err != nil {
		t.Error(err)
	}
	for _, v := range c.Values() {
		if strings.HasPrefix(v.Origin, "default") && v.Key != "api_key" && !strings.HasPrefix(v.Key, "mcp.servers.") && !strings.HasPrefix(v.Key, "endpoints.") {
			t.Errorf("the sample does not set %s", v.Key)
		}
	}
	// The three servers together have all keys.
	if s := c.MCP; len(s) != 3 || s[0].Cwd == "" || len(s[0].Args)*len(s[0].Env)*len(s[0].EnvFiles) == 0 || s[1].PrivateKeyFile == "" || s[2].TokenFile == "" || len(s[2].Headers) == 0 {
		t.Errorf("the servers of the sample: %+v", s)
	}
	if e := c.Endpoints; len(e) != 2 || !strings.Contains(e[0].Key.Setting, "key_env") || e[0].Body == "" || len(e[1].Key.Command) != 3 || e[1].Proxy != "none" {
		t.Errorf("the endpoints of the sample: %+v", e)
	}
}

// The sample has the keys of the reference, and the reference those of the sample.
func TestTheSampleHasTheKeysOfTheReference(t *testing.T) {
	table, comment := "", ""
	keys := map[string]bool{}
	names := strings.NewReplacer(`."gpt-5.1"`, "", "servers.files", "servers", "servers.web", "servers", "servers.nightly", "servers", "endpoints.openrouter", "endpoints", "endpoints.work", "endpoints")
	for line := range strings.Lines(uncommented()) {
		line = strings.TrimSpace(line)
		key, _, isKey := strings.Cut(line, " = ")
		switch {
		case strings.HasPrefix(line, "#"):
			comment = line
			continue
		case strings.HasPrefix(line, "["):
			table = names.Replace(strings.Trim(line, "[]")) + "."
		case isKey:
			keys[table+key] = true
			if comment == "" {
				t.Errorf("nothing is said about %s%s", table, key)
			}
		}
		comment = ""
	}
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	said := config.Reference(string(page))
	for key := range maps.Keys(said) {
		if !keys[key] {
			t.Errorf("the reference has %s, which the sample does not have", key)
		}
	}
	if len(said) < 80 {
		t.Errorf("the reference has %d keys and tables: %q", len(said), slices.Sorted(maps.Keys(said)))
	}
	if !strings.Contains(config.Example, "\n[limits]\n\n# model requests, 1 to 1,000,000\n#max_steps = 200\n") {
		t.Errorf("the sample:\n%s", config.Example)
	}
}
