package config_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"podd/internal/config"
)

func TestValuesHaveAFixedOrder(t *testing.T) {
	want := []string{
		"model", "endpoint", "fallback_models", "api", "base_url", "api_key", "api_key_file", "images", "instructions", "base_instructions", "ask", "resume", "questions.expire",
		"limits.max_steps", "limits.max_tool_calls", "limits.max_turn_time",
		"limits.max_parallel_calls", "limits.max_tokens", "limits.max_cost", "limits.max_cost_per_day", "limits.loop_times", "limits.loop_steps", "limits.max_inbox", "limits.max_submit_bytes",
		"tool_output.max_bytes", "tool_output.max_lines", "tool_output.strategy",
		"tool_output.max_request_result_bytes", "tool_output.spool_bytes", "tool_output.spool_age",
		"tool_output.tools.search.max_matches", "tool_output.tools.search.context", "tool_output.tools.search.max_line_bytes",
		"tool_output.tools.repo_structure.depth", "tool_output.tools.repo_structure.max_entries",
		"tool_output.tools.list_dir.max_entries", "tool_output.tools.glob.max_entries",
		"summarize.enabled", "summarize.model", "summarize.tools", "summarize.max_input_bytes", "summarize.trigger_bytes",
		"file_refs.max_bytes", "file_refs.dir_entries", "file_refs.role",
		"prune.mode", "prune.protected_turns", "prune.min_savings", "prune.min_gain",
		"compaction.trigger", "compaction.keep_tokens", "compaction.model", "compaction.read_back_bytes",
		"sandbox.mode", "sandbox.required", "sandbox.network", "sandbox.read", "sandbox.write", "sandbox.max_memory_bytes", "sandbox.env",
		"jobs.max", "jobs.max_time",
		"retention.age", "retention.bytes", "retention.trash", "snapshots.every", "snapshots.keep", "snapshots.age", "store.url", "store.connections", "store.max_bytes", "node.name", "node.listen", "node.tls", "node.shared",
		"triggers.listen", "triggers.tls", "triggers.proxy", "hooks.claude",
	}
	keys := func(c config.Config) (keys []string) {
		for _, v := range c.Values() {
			keys = append(keys, v.Key)
		}
		return keys
	}
	if got := keys(load(t, "")); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	at := slices.Index(want, "tool_output.tools.search.max_matches")
	want = slices.Insert(want, at, "tool_output.tools.search.max_lines")
	at = slices.Index(want, "summarize.enabled")
	want = slices.Insert(want, at, `tool_output.tools."odd.name".max_bytes`, "tool_output.tools.shell.max_lines", "tool_output.tools.shell.strategy")
	want = append(want, "prices.local.input", "prices.local.cached_input", "prices.local.cache_write", "prices.local.output", "prices.local.cache_ttl",
		`prices."vendor/model-1.5".input`, `prices."vendor/model-1.5".cached_input`, `prices."vendor/model-1.5".cache_write`,
		`prices."vendor/model-1.5".output`, `prices."vendor/model-1.5".cache_ttl`)
	if got := keys(load(t, full)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOrigins(t *testing.T) {
	path := write(t, full)
	c, err := config.Load(path, true, environment("PODD_MODEL=m", "OPENAI_API_KEY=sk-123"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []config.Value{
		{Key: "model", Value: `"m"`, Origin: "PODD_MODEL"},
		{Key: "api", Value: `"chat"`, Origin: path + ":3"},
		{Key: "base_url", Value: `"http://127.0.0.1:8080/v1"`, Origin: path + ":4"},
		{Key: "api_key", Value: "set", Origin: "OPENAI_API_KEY"},
		{Key: "instructions", Value: `"Be brief.\nBe kind."`, Origin: path + ":5"},
		{Key: "limits.max_turn_time", Value: `"30m0s"`, Origin: path + ":12"},
		{Key: "limits.max_submit_bytes", Value: "65536", Origin: path + ":17"},
		{Key: "tool_output.tools.shell.strategy", Value: `"head"`, Origin: path + ":29"},
		{Key: "prices.local.input", Value: "0.5", Origin: path + ":70"},
		{Key: "prices.local.cached_input", Value: "0.5", Origin: "default: input"},
		{Key: "prices.local.cache_ttl", Value: `"10m0s"`, Origin: "default"},
	} {
		if got := value(t, c, want.Key); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}

	c = load(t, "")
	for _, want := range []config.Value{
		{Key: "model", Value: `""`, Origin: "default: the built-in one at api.openai.com, elsewhere the first that the endpoint lists"},
		{Key: "api", Value: `""`, Origin: "default: responses at api.openai.com, messages at api.anthropic.com, elsewhere chat"},
		{Key: "base_url", Value: `"https://api.openai.com/v1"`, Origin: "default"},
		{Key: "api_key", Value: "not set", Origin: "default"},
		{Key: "limits.max_steps", Value: "200", Origin: "default"},
		{Key: "file_refs.max_bytes", Value: "16384", Origin: "default: tool_output.max_bytes"},
	} {
		if got := value(t, c, want.Key); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// document writes values as the file that sets them.
func document(values []config.Value) string {
	var b strings.Builder
	for _, v := range values {
		if v.Key != "api_key" && (v.Key != "api" || v.Value != `""`) {
			fmt.Fprintf(&b, "%s = %s\n", v.Key, v.Value)
		}
	}
	return b.String()
}

// Values in TOML's notation, written into a file, give the same values.
func sameAgain(t *testing.T, c config.Config) {
	t.Helper()
	again, err := config.Load(write(t, document(c.Values())), true, environment())
	if err != nil {
		t.Fatal(err)
	}
	got, want := again.Values(), c.Values()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i].Key != want[i].Key || got[i].Value != want[i].Value {
			t.Errorf("got %s = %s, want %s = %s", got[i].Key, got[i].Value, want[i].Key, want[i].Value)
		}
	}
}

func TestValuesAreTOML(t *testing.T) {
	sameAgain(t, load(t, ""))
	sameAgain(t, load(t, full))
	c := load(t, `instructions = "tab\t quote\" back\\slash bell\u0007 escape\u001b bidi\u202e \U000e0001 é"`)
	if got := value(t, c, "instructions").Value; strings.ContainsAny(got, "\t\a\x1b\u202e\U000e0001") {
		t.Errorf("%q has control characters", got)
	}
	sameAgain(t, c)
}

func TestValuesCannotBeChanged(t *testing.T) {
	c := load(t, "")
	c.Values()[0].Key = "changed"
	if got := c.Values()[0].Key; got != "model" {
		t.Errorf("the caller changed the key to %q", got)
	}
}

func TestTheKeyIsNeverShown(t *testing.T) {
	c := load(t, "", "OPENAI_API_KEY=sk-123")
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("shown", "key", c.APIKey, "config", c)
	slog.New(slog.NewTextHandler(&log, nil)).Info("shown", "key", c.APIKey, "config", c)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb, c.APIKey)
		fmt.Fprintf(&log, verb, c)
	}
	fmt.Fprint(&log, c.Values())
	for _, secret := range []string{"sk-123", fmt.Sprintf("%x", "sk-123")} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the key is shown: %s", log.String())
		}
	}
	if !strings.Contains(log.String(), `"key":"set"`) {
		t.Errorf("the log does not say that there is a key: %s", log.String())
	}
}

func TestCheckTools(t *testing.T) {
	path := write(t, full)
	c, err := config.Load(path, true, environment())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckTools([]string{"shell", "odd.name", "search"}); err != nil {
		t.Error(err)
	}
	wantError(t, c.CheckTools([]string{"shell", "search"}),
		path+":32: ", `there is no tool odd.name: the tools are shell, search`)
	if err := load(t, "").CheckTools(nil); err != nil {
		t.Error(err)
	}
}

// For any file, Load returns one sentence, or values that load again.
func FuzzLoad(f *testing.F) {
	f.Add(full)
	f.Add("")
	f.Add("a.b.c = [{d = 1}]\n[[x.y]]\nz = 1\n[x.y.w]\n")
	f.Add("limits = { max_steps = 3, }\n'' = 1\n\"\\u0000\" = nan")
	f.Add("[tool_output.tools.\"\"]\nmax_lines = 5\n")
	f.Add("instructions = '''\n\x7f\u2028'''")
	f.Add("[prices.'a.b/c']\ninput = 1e-3\noutput = -0.0\ncached_input = -0")
	f.Add("model = 1979-05-27T07:32:00Z # c\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Load(write(t, text), true, environment())
		if err != nil {
			wantError(t, err)
			return
		}
		sameAgain(t, c)
	})
}
