package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/internal/config"
	"podd/internal/ops/retention"
	"podd/internal/tools/builtin"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// full sets every key to something that is not its default.
const full = `
model = "local-model"
api = "chat"
base_url = "http://127.0.0.1:8080/v1/"
instructions = """
Be brief.
Be kind."""

[limits]
max_steps = 10
max_tool_calls = 20
max_turn_time = "30m"
max_parallel_calls = 2
loop_times = 3
loop_steps = 30
max_inbox = 5
max_submit_bytes = 65_536

[tool_output]
max_bytes = 8192
max_lines = 100
strategy = "tail"
max_request_result_bytes = 32768
spool_bytes = 5_000_000_000
spool_age = "36h"

[tool_output.tools.shell]
max_lines = 50
strategy = "head"

[tool_output.tools."odd.name"]
max_bytes = 1024

[tool_output.tools.search]
max_lines = 60
max_matches = 20
context = 0
max_line_bytes = 200

[tool_output.tools]
repo_structure = { depth = 2, max_entries = 30 }
list_dir.max_entries = 40
glob.max_entries = 50

[file_refs]
max_bytes = 4096
dir_entries = 10
role = "system"

[prune]
mode = "turns"
protected_turns = 5
min_savings = 1000
min_gain = 2000

[compaction]
trigger = 0.5
keep_tokens = 5000
model = "small-model"
read_back_bytes = 0

[prices."vendor/model-1.5"]
input = 2
cached_input = 0.25
cache_write = 2.5
output = 10.5
cache_ttl = "30m"

[prices.local]
input = 0.5
output = 0

[retention]
trash = "3d"
age = "720h"
bytes = 1_000_000

[snapshots]
every = "1h"
keep = 5
age = "48h"

[store]
max_bytes = 200_000_000
`

func TestDefaults(t *testing.T) {
	for name, path := range map[string]string{
		"no file":         "",
		"a missing file":  filepath.Join(t.TempDir(), "podd", "config.toml"),
		"an empty file":   write(t, ""),
		"comments":        write(t, "# nothing\n\n[limits]\n"),
		"byte order mark": write(t, "\xef\xbb\xbf# nothing\n"),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := config.Load(path, false, environment("PODD_MODEL=", "OPENAI_BASE_URL="))
			if err != nil {
				t.Fatal(err)
			}
			if c.Pods.Model.Model != "" || c.API != "" || c.BaseURL != "https://api.openai.com/v1" || c.APIKey != "" || c.Pods.Instructions != "" {
				t.Errorf("the endpoint is %q %q %q %q %q", c.Pods.Model.Model, c.API, c.BaseURL, string(c.APIKey), c.Pods.Instructions)
			}
			limits := worker.Limits{MaxSteps: 200, MaxToolCalls: 1000, MaxTime: 2 * time.Hour, MaxParallel: 8, LoopTimes: 5, LoopSteps: 10}
			if c.Pods.Limits != limits || c.Pods.MaxInbox != 100 || c.Pods.MaxSubmitBytes != 1<<20 {
				t.Errorf("limits %+v, %d, %d; want %+v", c.Pods.Limits, c.Pods.MaxInbox, c.Pods.MaxSubmitBytes, limits)
			}
			if want := (tool.Limit{MaxBytes: 16384, MaxLines: 500, Strategy: tool.StrategyHeadTail}); c.ToolOutput.Default != want {
				t.Errorf("tool output %+v, want %+v", c.ToolOutput.Default, want)
			}
			if len(c.ToolOutput.Tools) != 0 || c.ToolOutput.MaxResultBytes != 65536 {
				t.Errorf("tool output %+v", c.ToolOutput)
			}
			wantTools(t, c, builtin.Search{MaxMatches: 100, Context: 2, MaxLineBytes: 500}, builtin.Tree{Depth: 3, MaxEntries: 500}, 500, 500)
			if c.SpoolBytes != 1<<30 || c.SpoolAge != 168*time.Hour {
				t.Errorf("spool %d, %s", c.SpoolBytes, c.SpoolAge)
			}
			if want := (scopefs.RefLimits{MaxBytes: 16384, DirEntries: 100}); c.FileRefs != want || c.Pods.FileRefRole != "user" {
				t.Errorf("file references %+v as %s, want %+v", c.FileRefs, c.Pods.FileRefRole, want)
			}
			if c.Retention != (retention.Policy{Trash: 14 * 24 * time.Hour}) || c.Store.Bytes != 1<<40 {
				t.Errorf("retention %+v, store %d", c.Retention, c.Store.Bytes)
			}
			if want := (config.Snapshots{Every: 24 * time.Hour, Keep: 3, Age: 720 * time.Hour}); c.Snapshots != want {
				t.Errorf("snapshots %+v, want %+v", c.Snapshots, want)
			}
			if len(c.Pods.Models.Prices) != 0 {
				t.Errorf("prices %+v", c.Pods.Models.Prices)
			}
			if want := (worker.Compaction{Trigger: 0.85, KeepTokens: 20_000, ReadBackBytes: 20_000}); c.Pods.Compaction != want {
				t.Errorf("compaction %+v, want %+v", c.Pods.Compaction, want)
			}
		})
	}
}

func TestEveryKey(t *testing.T) {
	c := load(t, full)
	if c.Pods.Model.Model != "local-model" || c.API != "chat" || c.BaseURL != "http://127.0.0.1:8080/v1" || c.Pods.Instructions != "Be brief.\nBe kind." {
		t.Errorf("the endpoint is %q %q %q %q", c.Pods.Model.Model, c.API, c.BaseURL, c.Pods.Instructions)
	}
	limits := worker.Limits{MaxSteps: 10, MaxToolCalls: 20, MaxTime: 30 * time.Minute, MaxParallel: 2, LoopTimes: 3, LoopSteps: 30}
	if c.Pods.Limits != limits || c.Pods.MaxInbox != 5 || c.Pods.MaxSubmitBytes != 65536 {
		t.Errorf("limits %+v, %d, %d; want %+v", c.Pods.Limits, c.Pods.MaxInbox, c.Pods.MaxSubmitBytes, limits)
	}
	output := tool.LimitsConfig{
		Default: tool.Limit{MaxBytes: 8192, MaxLines: 100, Strategy: tool.StrategyTail},
		Tools: map[string]tool.Limit{
			"shell":    {MaxLines: 50, Strategy: tool.StrategyHead},
			"odd.name": {MaxBytes: 1024},
			"search":   {MaxLines: 60},
		},
		MaxResultBytes: 32768,
	}
	if !reflect.DeepEqual(c.ToolOutput, output) {
		t.Errorf("tool output %+v, want %+v", c.ToolOutput, output)
	}
	// A context of 0 lines stays 0; it is not the default.
	wantTools(t, c, builtin.Search{MaxMatches: 20, Context: -1, MaxLineBytes: 200}, builtin.Tree{Depth: 2, MaxEntries: 30}, 40, 50)
	if c.SpoolBytes != 5_000_000_000 || c.SpoolAge != 36*time.Hour {
		t.Errorf("spool %d, %s", c.SpoolBytes, c.SpoolAge)
	}
	if want := (scopefs.RefLimits{MaxBytes: 4096, DirEntries: 10}); c.FileRefs != want || c.Pods.FileRefRole != "system" {
		t.Errorf("file references %+v as %s, want %+v", c.FileRefs, c.Pods.FileRefRole, want)
	}
	prune := fold.Config{Mode: fold.ModeTurns, Turns: fold.TurnsConfig{Protected: 5, MinSavings: 1000}, Economic: fold.EconomicConfig{MinGain: 2000}}
	if c.Pods.Prune != prune {
		t.Errorf("prune %+v, want %+v", c.Pods.Prune, prune)
	}
	if want := (retention.Policy{Age: 720 * time.Hour, Bytes: 1_000_000, Trash: 3 * 24 * time.Hour}); c.Retention != want {
		t.Errorf("retention %+v, want %+v", c.Retention, want)
	}
	if want := (config.Snapshots{Every: time.Hour, Keep: 5, Age: 48 * time.Hour}); c.Snapshots != want {
		t.Errorf("snapshots %+v, want %+v", c.Snapshots, want)
	}
	if c.Store.Bytes != 200_000_000 {
		t.Errorf("store %d", c.Store.Bytes)
	}
	if want := (worker.Compaction{Trigger: 0.5, KeepTokens: 5000, Model: item.ModelRef{Model: "small-model"}, ReadBackBytes: 0}); c.Pods.Compaction != want {
		t.Errorf("compaction %+v, want %+v", c.Pods.Compaction, want)
	}
	prices := []fold.ModelPrice{
		{
			Model: "local", Price: fold.Price{Cached: 1, Write: 1, TTL: 10 * time.Minute},
			Money: fold.Money{Input: 0.5, CachedInput: 0.5, CacheWrite: 0.5, TTL: 10 * time.Minute},
		},
		{
			Model: "vendor/model-1.5", Price: fold.Price{Cached: 0.125, Write: 1.25, TTL: 30 * time.Minute},
			Money: fold.Money{Input: 2, CachedInput: 0.25, CacheWrite: 2.5, Output: 10.5, TTL: 30 * time.Minute},
		},
	}
	if !slices.Equal(c.Pods.Models.Prices, prices) {
		t.Errorf("prices %+v, want %+v", c.Pods.Models.Prices, prices)
	}
	if _, err := tool.NewLimits(c.ToolOutput); err != nil {
		t.Errorf("pkg/tool refuses the limits: %v", err)
	}
}

// wantTools checks the bounds of the built-in tools.
func wantTools(t *testing.T, c config.Config, search builtin.Search, tree builtin.Tree, listDir, glob int) {
	t.Helper()
	if c.Search != search || c.Tree != tree || c.ListDir.MaxEntries != listDir || c.Glob.MaxEntries != glob {
		t.Errorf("tools %+v, %+v, %+v, %+v", c.Search, c.Tree, c.ListDir, c.Glob)
	}
}

func TestOtherNotationsSetTheSame(t *testing.T) {
	want := load(t, "[tool_output.tools.shell]\nmax_lines = 50\n").ToolOutput
	for _, text := range []string{
		"tool_output.tools.shell.max_lines = 50",
		"[tool_output]\ntools.shell.max_lines = 50",
		"[tool_output.tools]\nshell = { max_lines = 50 }",
		"tool_output = { tools = { shell = { max_lines = 0x32 } } }",
	} {
		if got := load(t, text).ToolOutput; !reflect.DeepEqual(got, want) {
			t.Errorf("%q gives %+v, want %+v", text, got, want)
		}
	}
}

func TestPrecedence(t *testing.T) {
	text := "model = \"from-file\"\nbase_url = \"http://file/v1\"\n"
	c := load(t, text, "PODD_MODEL=from-env", "OPENAI_BASE_URL=http://env/v1/", "OPENAI_API_KEY= sk-123\n")
	if c.Pods.Model.Model != "from-env" || c.BaseURL != "http://env/v1" || string(c.APIKey) != "sk-123" {
		t.Errorf("with the environment: %q %q %q", c.Pods.Model.Model, c.BaseURL, string(c.APIKey))
	}
	c = load(t, text)
	if c.Pods.Model.Model != "from-file" || c.BaseURL != "http://file/v1" || c.APIKey != "" {
		t.Errorf("without: %q %q %q", c.Pods.Model.Model, c.BaseURL, string(c.APIKey))
	}
}

// No times, or no steps, switch the guard off.
func TestLoopGuardOff(t *testing.T) {
	for _, text := range []string{"limits.loop_times = 0", "limits.loop_steps = 0"} {
		if got := load(t, text).Pods.Limits.LoopTimes; got >= 0 {
			t.Errorf("%s gives %d", text, got)
		}
	}
}

func TestFileRefsAreCutWhereReadsAre(t *testing.T) {
	if got := load(t, "tool_output.max_bytes = 2048").FileRefs.MaxBytes; got != 2048 {
		t.Errorf("got %d, want 2048", got)
	}
	if got := load(t, "tool_output.max_bytes = 2048\nfile_refs.max_bytes = 512").FileRefs.MaxBytes; got != 512 {
		t.Errorf("got %d, want 512", got)
	}
	if got := load(t, "tool_output.max_bytes = 8388608").FileRefs.MaxBytes; got != 4<<20 {
		t.Errorf("got %d, want the most that a reference may have", got)
	}
}

// The error for each wrong line gives its number, its key and what to do.
func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"unknown key":                  {"model = 'm'\nmodell = 'n'", []string{":2: unknown key modell; did you mean model?"}},
		"unknown table":                {"\n[limit]\nmax_steps = 1", []string{":2: unknown key limit; did you mean limits?"}},
		"unknown list of tables":       {"[[limit]]\nmax_steps = 1", []string{":1: unknown key limit; did you mean limits?"}},
		"unknown key in a table":       {"[limits]\nmax_steps = 1\nmax_step = 2", []string{":3: unknown key limits.max_step; did you mean max_steps?"}},
		"unknown key of a tool":        {"[tool_output.tools.shell]\nmax_byte = 1", []string{":2: unknown key tool_output.tools.shell.max_byte; did you mean max_bytes?"}},
		"a key of another tool":        {"[tool_output.tools.list_dir]\ndepth = 1", []string{":2: unknown key tool_output.tools.list_dir.depth: [tool_output.tools.list_dir] has max_bytes, max_lines, strategy, max_entries"}},
		"negative context":             {"tool_output.tools.search.context = -1", []string{"from 0 to 1000"}},
		"unknown key below a key":      {"model.x = 1", []string{":1: model must be a name without white space; it is a table"}},
		"key among the tools":          {"[tool_output]\ntools.max_bytes = 300", []string{":2: tool_output.tools.max_bytes must be a table", "it is 300"}},
		"unknown inline":               {"limits = { max_steps = 1, oops = 2 }", []string{":1: unknown key limits.oops: [limits] has max_steps, "}},
		"control characters":           {"\"a\\u001b[31m\" = 1", []string{`:1: unknown key "a\u001b[31m": podd knows model, endpoint, fallback_models, api, base_url, api_key_file, images, instructions, base_instructions, ask, resume, [questions], [limits], `, "[prices.NAME], [[rule]], "}},
		"key in the file":              {"api_key = 'sk-secret'", []string{":1: unknown key api_key: the API key comes from", "OPENAI_API_KEY"}},
		"number for a string":          {"model = 5", []string{":1: model must be a name without white space; it is 5"}},
		"white space in a name":        {"model = 'a b'", []string{":1: model must be", `it is "a b"`}},
		"table for a string":           {"[model]", []string{":1: model must be a name without white space; it is a table"}},
		"list for a string":            {"instructions = ['a']", []string{":1: instructions must be a string; it is a list"}},
		"string for a number":          {"[limits]\nmax_steps = '5'", []string{":2: limits.max_steps must be a whole number from 1 to 1000000; it is \"5\""}},
		"float for a number":           {"limits.max_steps = 5.5", []string{"whole number", "it is 5.5"}},
		"date for a number":            {"limits.max_steps = 2026-01-01", []string{"whole number", "it is a date or time"}},
		"zero":                         {"limits.max_inbox = 0", []string{":1: limits.max_inbox must be a whole number from 1", "it is 0"}},
		"negative":                     {"limits.max_tool_calls = -1", []string{"limits.max_tool_calls", "it is -1"}},
		"too many":                     {"limits.max_parallel_calls = 1000", []string{"from 1 to 256"}},
		"a loop of one call":           {"limits.loop_times = 1", []string{":1: limits.loop_times is 1 and limits.loop_steps is 10: ", "set loop_times from 2 to 10, or to 0"}},
		"a loop out of reach":          {"[limits]\nloop_steps = 4", []string{":2: limits.loop_times is 5 and limits.loop_steps is 4: ", "from 2 to 4"}},
		"steps below zero":             {"limits.loop_steps = -1", []string{":1: limits.loop_steps must be a whole number from 0 to 50"}},
		"too large a submit":           {"limits.max_submit_bytes = 4194305", []string{"from 1 to 4194304"}},
		"too small an output":          {"tool_output.max_bytes = 10", []string{"from 256"}},
		"too small a result":           {"tool_output.max_request_result_bytes = 1023", []string{"from 1024 to 8388608"}},
		"too small a spool":            {"tool_output.spool_bytes = 1048575", []string{"from 1048576 to 1099511627776"}},
		"too short an age":             {"tool_output.spool_age = '1s'", []string{"at least 1m0s"}},
		"too few lines":                {"tool_output.tools.x.max_lines = 1", []string{"tool_output.tools.x.max_lines must be", "from 2"}},
		"number for a duration":        {"limits.max_turn_time = 60", []string{"limits.max_turn_time must be a duration of at least 1s, such as \"2h\"", "it is 60"}},
		"no duration":                  {"limits.max_turn_time = 'soon'", []string{"a duration", `it is "soon"`}},
		"too short a duration":         {"limits.max_turn_time = '10ms'", []string{"at least 1s"}},
		"unknown API":                  {"api = 'grpc'", []string{`:1: api must be "responses", "chat" or "messages"; it is "grpc"`}},
		"unknown strategy":             {"tool_output.strategy = 'middle'", []string{`must be "head_tail", "head", "tail" or "summarize"; it is "middle"`}},
		"trigger in percent":           {"compaction.trigger = 85", []string{"compaction.trigger must be a number from 0.05 to 1; it is 85"}},
		"no trigger":                   {"compaction.trigger = 0", []string{"a number from 0.05"}},
		"trigger that is no number":    {"compaction.trigger = nan", []string{"a number from 0.05"}},
		"trigger in quotes":            {"compaction.trigger = '0.5'", []string{"a number from 0.05", `it is "0.5"`}},
		"price without input":          {"model = 'm'\n[prices.m]\noutput = 1", []string{":2: [prices.m] has no input: set it to a number from 0.000001 to 1000000"}},
		"price without output":         {"[prices.m]\ninput = 1", []string{":1: [prices.m] has no output"}},
		"price of no model":            {"[prices.'']\ninput = 1\noutput = 1", []string{`:1: [prices.""] names no model`}},
		"price of nothing":             {"prices.m = { input = 0, output = 1 }", []string{"prices.m.input must be a number from 0.000001 to 1000000; it is 0"}},
		"negative price":               {"prices.m = { input = 1, output = -1.5 }", []string{"prices.m.output must be a number from 0 to 1000000; it is -1.5"}},
		"infinite price":               {"prices.m.input = inf", []string{"prices.m.input must be a number"}},
		"cache that costs":             {"[prices.m]\ninput = 1\ncached_input = 2\noutput = 1", []string{":1: [prices.m] has cached input at 2 that costs more than writing it to the cache, 1"}},
		"no lifetime of a cache":       {"prices.m.cache_ttl = '0s'", []string{"prices.m.cache_ttl must be a duration of at least 1s"}},
		"unknown price":                {"[prices.m]\nimput = 1", []string{":2: unknown key prices.m.imput; did you mean input?"}},
		"price without a table":        {"[prices]\ninput = 1", []string{":2: prices.input must be a table"}},
		"model with a bare dot":        {"[prices.gpt-5.1]\ninput = 1", []string{":1: unknown key prices.gpt-5.1: [prices.gpt-5] has input, ", `a name with a dot is written in quotes, as in [prices."gpt-5.1"]`}},
		"unknown role":                 {"file_refs.role = 'root'", []string{`"user" or "system"`}},
		"URL without a scheme":         {"base_url = 'localhost:8080/v1'", []string{":1: base_url must be an absolute http or https URL"}},
		"URL of a file":                {"base_url = 'file:///v1'", []string{"base_url must be"}},
		"URL without a host":           {"base_url = 'http://:80/v1'", []string{"base_url must be"}},
		"URL with a fragment":          {"base_url = 'http://h/v1#x'", []string{"base_url must be", "fragment"}},
		"key of another table":         {"max_steps = 5", []string{":1: unknown key max_steps; did you mean limits.max_steps?"}},
		"swapped letters":              {"limits.max_setps = 1", []string{":1: unknown key limits.max_setps; did you mean max_steps?"}},
		"like no key":                  {"[snapshots]\nwhenever = 1", []string{":2: unknown key snapshots.whenever: [snapshots] has every, keep, age"}},
		"value for a table":            {"limits = 5", []string{":1: limits must be a table, with [limits] on a line of its own; it is 5"}},
		"list of tables":               {"[[limits]]\nmax_steps = 1", []string{":1: limits must be a table", "it is a list"}},
		"long value":                   {"api = '" + strings.Repeat("é", 100) + "'", []string{`it is "` + strings.Repeat("é", 60) + `"...`}},
		"twice":                        {"model = 'a'\nmodel = 'b'", []string{":2: this is not TOML: key model is already defined"}},
		"table twice":                  {"[limits]\n[limits]", []string{":2: this is not TOML"}},
		"no value":                     {"model = 'a'\napi =\n", []string{":2: this is not TOML: "}},
		"no TOML at all":               {"{\"model\": 1}", []string{":1: this is not TOML: "}},
		"webhooks for others":          {"[triggers]\nlisten = \"0.0.0.0:1\"", []string{":2: triggers.listen is reachable by other machines: use 127.0.0.1, or set triggers.tls"}},
		"webhooks at a name":           {"[triggers]\nlisten = \"localhost:1\"", []string{":2: triggers.listen is reachable by other machines"}},
		"webhooks at no port":          {"[triggers]\nlisten = \"127.0.0.1\"", []string{":2: triggers.listen must be HOST:PORT of this machine"}},
		"webhooks at a wrong port":     {"[triggers]\nlisten = \"127.0.0.1:70000\"", []string{":2: triggers.listen must be HOST:PORT of this machine"}},
		"webhooks with one file":       {"[triggers]\ntls = [\"/a\"]", []string{":2: triggers.tls must be the absolute paths of certificate and key"}},
		"a node at no address":         {"[node]\nlisten = \"0.0.0.0:1\"", []string{":2: node.listen must be HOST:PORT where the other nodes reach this one"}},
		"a node with two files":        {"[node]\ntls = [\"/a\", \"/b\"]", []string{":2: node.tls must be the absolute paths of certificate, key and authority"}},
		"a node without a database":    {"[node]\nlisten = \"a:1\"", []string{":2: node.listen needs a database that the nodes share: set store.url"}},
		"a node without a name":        {"[store]\nurl = \"postgres:///p\"\n[node]\nlisten = \"a:1\"", []string{":4: node.listen needs a name for this node: set node.name"}},
		"a relative shared directory":  {"[node]\nshared = [\"a\"]", []string{":2: node.shared must be a list of absolute paths"}},
		"a node without a certificate": {"[store]\nurl = \"postgres:///p\"\n[node]\nname = \"a\"\nlisten = \"a:1\"", []string{":5: node.listen needs a certificate for this node: set node.tls"}},
		"a store that is too small":    {"[store]\nmax_bytes = 1000", []string{":2: store.max_bytes must be a whole number from 67108864 to "}},
		"not UTF-8":                    {"model = '\xff'", []string{":1: this is not TOML: "}},
		"the first of two is named":    {"oops = 1\n[limits]\nmax_steps = 0", []string{":1: unknown key oops"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := write(t, tt.text)
			_, err := config.Load(path, true, environment())
			wantError(t, err, append(tt.want, path)...)
		})
	}
}

func TestRefusesEnvironment(t *testing.T) {
	for pair, want := range map[string]string{
		"PODD_MODEL=a b":                       "PODD_MODEL must be a name without white space",
		"OPENAI_BASE_URL=example.com":          "OPENAI_BASE_URL must be an absolute http or https URL",
		"OPENAI_BASE_URL=http://u:secret@h/v1": "OPENAI_BASE_URL must be an absolute http or https URL without user",
		"OPENAI_BASE_URL=http://h/v1#secret":   "fragment",
		"OPENAI_API_KEY=secret\nsecond":        "OPENAI_API_KEY must be a key of printable ASCII characters on one line",
	} {
		_, err := config.Load("", false, environment(pair))
		wantError(t, err, want)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q shows the secret", err)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing"): "there is no configuration file at " + dir + "/missing: check --config and PODD_CONFIG",
		dir:                           "is a directory: name the file in it",
		filepath.Join(large, "below"): "cannot be read (not a directory)",
		large:                         "more than 1048576 bytes",
	} {
		_, err := config.Load(path, true, environment())
		wantError(t, err, path, want)
	}
}

func TestForbiddenFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read every file")
	}
	path := write(t, "")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(path, false, environment())
	wantError(t, err, path, "cannot be read (permission denied)", "owner and mode")
}
