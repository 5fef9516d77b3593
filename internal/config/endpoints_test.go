package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/internal/config"
	"podd/pkg/item"
)

// loadWith loads a file with variables.
func loadWith(t *testing.T, text string, variables map[string]string) (config.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(path, true, func(name string) string { return variables[name] })
}

func fileWithKey(t *testing.T, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("key-of-the-file\n"), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEndpoints(t *testing.T) {
	file := fileWithKey(t, 0o600)
	c, err := loadWith(t, `
model = "work/big"
endpoint = "router"
fallback_models = ["openai/gpt-5", "default/gpt-5.1", "small"]
[summarize]
model = "work/"
[compaction]
model = "work/vendor/small"
[endpoints.work]
base_url = "https://work.example/openai/v1/?api-version=2024-secret"
key_file = "`+file+`"
key_header = "api-key"
headers = { X-Team = "blue ${TEAM}" }
body = { b = [1, 2.5, true], a = { z = "<x>", y = 1 } }
first_byte = "1m"
proxy = "http://me:proxy-word@proxy:3128"
max_parallel = 2
quirks = { cache_marks = true, needs_reasoning = false }
[endpoints.router]
base_url = "https://openrouter.ai/api/v1"
key_env = "ROUTER_KEY"
[endpoints.vault]
base_url = "http://vault/v1"
key_command = ["pass", "show", "work"]
`, map[string]string{"ROUTER_KEY": " key-of-the-router ", "TEAM": "whale-team", "OPENAI_API_KEY": "key-of-openai"})
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, ref := range append(c.Pods.Fallbacks, c.Pods.Model, c.Pods.Summarize.Model, c.Pods.Compaction.Model) {
		refs = append(refs, fmt.Sprintf("%s|%s", ref.Endpoint, ref.Model))
	}
	if got := strings.Join(refs, " "); got != "|openai/gpt-5 default|gpt-5.1 |small work|big work| work|vendor/small" {
		t.Errorf("the models are %s", got)
	}
	all := c.AllEndpoints()
	if len(all) != 4 || c.Endpoint != "router" {
		t.Fatalf("endpoints %+v of %s", all, c.Endpoint)
	}
	own, router, vault, work := all[0], all[1], all[2], all[3]
	if own.Name != item.DefaultEndpoint || own.Key.Value != "key-of-openai" || own.Key.Setting != "OPENAI_API_KEY" {
		t.Errorf("default: %+v", own)
	}
	if router.Key.Value != "key-of-the-router" || router.Key.Setting != "ROUTER_KEY (endpoints.router.key_env)" {
		t.Errorf("router: %+v", router)
	}
	if len(vault.Key.Command) != 3 || vault.Key.Setting != "endpoints.vault.key_command" {
		t.Errorf("vault: %+v", vault)
	}
	if work.BaseURL != "https://work.example/openai/v1?api-version=2024-secret" || work.Address() != "https://work.example/openai/v1" ||
		work.Key.Value != "key-of-the-file" || work.Headers["X-Team"] != "blue whale-team" ||
		work.Body != `{"a":{"y":1,"z":"<x>"},"b":[1,2.5,true]}` || work.MaxParallel != 2 ||
		!slices.Equal(work.Quirks.Names, []string{"cache_marks", "needs_reasoning"}) || !work.Quirks.CacheMarks {
		t.Errorf("work: %+v", work)
	}
	// What podd config shows has no secret, and says where each value is from.
	shown := ""
	for _, v := range c.Values() {
		shown += v.Key + " = " + v.Value + " from " + v.Origin + "\n"
	}
	for _, secret := range []string{"key-of", "2024-secret", "blue", "whale", "proxy-word"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%s shows:\n%s", secret, shown)
		}
	}
	for _, want := range []string{
		"endpoints.work.key = set from " + file, "endpoints.router.key = set from ROUTER_KEY", "endpoints.work.headers = { X-Team = \"...\" }",
		"endpoints.work.quirks.cache_marks = true from", "endpoints.work.quirks.needs_reasoning = false from",
		`endpoints.work.base_url = "https://work.example/openai/v1?..."`, `endpoints.work.body = { a = { y = 1, z = "<x>" }, b = [1, 2.5, true] }`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in:\n%s", want, shown)
		}
	}
}

func TestEndpointRefusals(t *testing.T) {
	file, open := fileWithKey(t, 0o600), fileWithKey(t, 0o644)
	const base = "[endpoints.work]\nbase_url = 'http://h/v1'\n"
	for name, c := range map[string]struct{ text, want string }{
		"no address":           {"[endpoints.work]\n", ":1: [endpoints.work] has no base_url: set it to"},
		"mistyped key":         {base + "key_fil = '/k'", ":3: unknown key endpoints.work.key_fil; did you mean key_file?"},
		"a key in the file":    {base + "api_key = 'sk-1'", ":3: unknown key endpoints.work.api_key: a key has no place in the file: set key_env, key_file or key_command"},
		"another name for it":  {base + "key = 'sk-1'", ":3: unknown key endpoints.work.key: a key has no place"},
		"relative file":        {base + "key_file = 'key'", ":3: endpoints.work.key_file must be an absolute path; it is \"key\""},
		"missing file":         {base + "key_file = '/no/such/key'", ":3: endpoints.work.key_file: cannot read the key file /no/such/key"},
		"file for all":         {base + "key_file = '" + open + "'", ":3: endpoints.work.key_file: the key file " + open + " is open to other users"},
		"two keys":             {base + "key_env = 'A'\nkey_file = '" + file + "'", ":4: [endpoints.work] has both key_env and key_file: keep one"},
		"a line for a shell":   {base + "key_command = 'pass show x'", ":3: endpoints.work.key_command must be a list of a program and its arguments"},
		"unknown API":          {base + "api = 'grpc'", `:3: endpoints.work.api must be "responses"`},
		"unknown header":       {base + "key_header = 'cookie'", `:3: endpoints.work.key_header must be "bearer", "x-api-key" or "api-key"`},
		"a key in a header":    {base + "headers = { Authorization = 'Bearer sk-1' }", ":3: endpoints.work.headers has a key in the file"},
		"no name of a header":  {base + "headers = { 'X Team' = 'a' }", `endpoints.work.headers has "X Team", which cannot be`},
		"unset variable":       {base + "headers = { X-Team = '${TEAM}' }", ":3: endpoints.work.headers.X-Team: the variable TEAM is not set"},
		"podd's own member":    {base + "body = { stream = false }", ":3: endpoints.work.body cannot set stream, which podd sets itself"},
		"a date in the body":   {base + "body = { d = 2020-01-01 }", ":3: endpoints.work.body must be a table that JSON can express"},
		"proxy without a host": {base + "proxy = 'proxy:3128'", ":3: endpoints.work.proxy must be"},
		"no time":              {base + "idle = '1ms'", ":3: endpoints.work.idle must be a duration of at least 1s"},
		"a bad name":           {"[endpoints.Work]\nbase_url = 'http://h/v1'", ":1: [endpoints.Work] has a name that models cannot have"},
		"the default":          {"[endpoints.default]\nbase_url = 'http://h/v1'", ":1: [endpoints.default] is the endpoint of the top-level keys"},
		"unknown endpoint":     {"endpoint = 'wark'\n" + base, `:1: there is no endpoint "wark": the endpoints are default, work`},
		"a model of none":      {"model = 'wark/m'\n" + base, `:1: model: the model "wark/m" names no endpoint: the endpoints are default, work`},
		"a fallback of none":   {"fallback_models = ['a', 'b/c']", `:1: fallback_models: the model "b/c" names no endpoint`},
		"a summary of none":    {"[compaction]\nmodel = 'b/c'", `:2: compaction.model: the model "b/c" names no endpoint`},
		"mistyped quirk":       {base + "[endpoints.work.quirks]\ncache_mark = true", ":4: unknown key endpoints.work.quirks.cache_mark; did you mean cache_marks?"},
		"unknown quirk":        {base + "[endpoints.work.quirks]\nspeed = true", ":4: unknown key endpoints.work.quirks.speed: [endpoints.work.quirks] has answers_tools, cache_breakpoint,"},
		"no flag":              {base + "[endpoints.work.quirks]\ncache_key = 1", ":4: endpoints.work.quirks.cache_key must be true or false; it is 1"},
		"no members":           {base + "[endpoints.work.quirks]\nunsigned = 'a: 1'", ":4: endpoints.work.quirks.unsigned must be members of a JSON object"},
		"another thinking":     {base + "[endpoints.work.quirks]\nthinking = 'deep'", `:4: endpoints.work.quirks.thinking must be "adaptive", "budget" or "none"`},
		"a day of caching":     {base + "cache_ttl = '24h'", `:3: endpoints.work.cache_ttl must be "5m" or "1h"`},
		"no table":             {"[endpoints]\nwork = 1", ":2: endpoints.work must be a table"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadWith(t, c.text, nil)
			if item.KindOf(err) != item.KindInvalid || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sk-1") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// At another host than OpenAI's the names of models have vendors.
func TestVendorsAreNoEndpoints(t *testing.T) {
	c, err := loadWith(t, "model = 'openai/gpt-5'\nbase_url = 'https://openrouter.ai/api/v1'", nil)
	if err != nil || c.Pods.Model != (item.ModelRef{Model: "openai/gpt-5"}) {
		t.Errorf("%+v, %v", c.Pods.Model, err)
	}
}
