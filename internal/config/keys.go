package config

import (
	"slices"
	"strings"
	"time"

	"podd/internal/guard/policy"
	"podd/pkg/tool"
)

// The bounds of numbers are where a larger one is a slip of the hand, or where the
// rest of podd ends.
const (
	manyTimes = 1_000_000
	// repo_structure holds no more entries than this to choose from.
	manyEntries = 50_000
	// A submit is stored with its text twice and its files once, in one entry.
	maxOutput = 8 << 20
	maxSubmit = 4 << 20
	// More than a file of the store ever has.
	maxStore = 1 << 40
	// More than a machine has.
	maxMemory = 1 << 60
)

// settings are what this version can be told, tools' own keys aside, bound to c, in
// the order in which they are shown.
func settings(c *Config) []setting {
	l, o, r := &c.Limits, &c.ToolOutput, &c.FileRefs
	all := []setting{
		name("model", &c.Model).or("PODD_MODEL").
			hinting("the built-in one at api.openai.com, elsewhere the first that the endpoint lists"),
		names("fallback_models", &c.FallbackModels).hinting("none"),
		choice("api", &c.API, "responses", "chat").hinting("responses at api.openai.com, elsewhere chat"),
		address("base_url", &c.BaseURL).or("OPENAI_BASE_URL"),
		secret("api_key", &c.APIKey).or("OPENAI_API_KEY"),
		file("api_key_file", &c.APIKeyFile).hinting("the credential openai_api_key, where the service manager gives it"),
		prose("instructions", &c.Instructions),
		choice("ask", &c.Ask, policy.Never, policy.Risky, policy.Always),
		number("limits.max_steps", &l.MaxSteps, 1, manyTimes),
		number("limits.max_tool_calls", &l.MaxToolCalls, 1, manyTimes),
		duration("limits.max_turn_time", &l.MaxTurnTime, time.Second),
		number("limits.max_parallel_calls", &l.MaxParallelCalls, 1, 256),
		number("limits.max_tokens", &l.MaxTokens, 0, 1<<40).hinting("no limit"),
		decimal("limits.max_cost", &l.MaxCost, 0, 1e6).hinting("no limit"),
		number("limits.max_inbox", &l.MaxInbox, 1, manyTimes),
		number("limits.max_submit_bytes", &l.MaxSubmitBytes, 1, maxSubmit),
	}
	all = append(all, limitSettings("tool_output", &o.Default)...)
	all = append(all,
		number("tool_output.max_request_result_bytes", &o.MaxResultBytes, 1024, maxOutput),
		number("tool_output.spool_bytes", &c.Spool.MaxBytes, 1<<20, 1<<40),
		duration("tool_output.spool_age", &c.Spool.MaxAge, time.Minute),
		number("tool_output.tools.search.max_matches", &c.Tools.Search.MaxMatches, 1, manyTimes),
		number("tool_output.tools.search.context", &c.Tools.Search.Context, 0, 1000),
		number("tool_output.tools.search.max_line_bytes", &c.Tools.Search.MaxLineBytes, 40, 1<<20),
		number("tool_output.tools.repo_structure.depth", &c.Tools.RepoStructure.Depth, 1, 200),
		number("tool_output.tools.repo_structure.max_entries", &c.Tools.RepoStructure.MaxEntries, 1, manyEntries),
		number("tool_output.tools.list_dir.max_entries", &c.Tools.ListDir.MaxEntries, 1, manyEntries),
		number("tool_output.tools.glob.max_entries", &c.Tools.Glob.MaxEntries, 1, manyEntries),
		flag("summarize.enabled", &c.Summarize.Enabled),
		name("summarize.model", &c.Summarize.Model).hinting("the pod's"),
		names("summarize.tools", &c.Summarize.Tools).hinting("all whose strategy is \"summarize\""),
		number("summarize.max_input_bytes", &c.Summarize.MaxInputBytes, 1024, maxOutput),
		number("summarize.trigger_bytes", &c.Summarize.TriggerBytes, 1, maxOutput),
		number("file_refs.max_bytes", &r.MaxBytes, 256, maxSubmit).hinting("tool_output.max_bytes"),
		number("file_refs.dir_entries", &r.DirEntries, 1, manyTimes),
		choice("file_refs.role", &r.Role, "user", "system"),
		choice("prune.mode", &c.Prune.Mode, "economic", "turns", "off"),
		number("prune.protected_turns", &c.Prune.ProtectedTurns, 1, manyTimes),
		number("prune.min_savings", &c.Prune.MinSavings, 1, manyTimes),
		number("prune.min_gain", &c.Prune.MinGain, 1, manyTimes),
		decimal("compaction.trigger", &c.Compaction.Trigger, 0.05, 1),
		number("compaction.keep_tokens", &c.Compaction.KeepTokens, 1, manyTimes),
		name("compaction.model", &c.Compaction.Model).hinting("the pod's"),
		number("compaction.read_back_bytes", &c.Compaction.ReadBackBytes, 0, manyTimes),
	)
	return append(all, upkeepSettings(c)...)
}

// upkeepSettings are the keys of what commands run in and of what podd keeps.
func upkeepSettings(c *Config) []setting {
	return []setting{
		choice("sandbox.mode", &c.Sandbox.Mode, "auto", "bwrap", "landlock", "off"),
		flag("sandbox.required", &c.Sandbox.Required),
		flag("sandbox.network", &c.Sandbox.Network),
		directories("sandbox.read", &c.Sandbox.Read).hinting("all but what is hidden"),
		directories("sandbox.write", &c.Sandbox.Write).hinting("the pod's alone"),
		variables("sandbox.env", &c.Sandbox.Env),
		number("sandbox.max_memory_bytes", &c.Sandbox.MaxMemory, 0, maxMemory).hinting("half of the machine's memory"),
		duration("retention.age", &c.Retention.Age, 0).hinting("for ever"),
		number("retention.bytes", &c.Retention.Bytes, 0, 1<<40).hinting("no limit"),
		duration("snapshots.every", &c.Snapshots.Every, time.Minute),
		number("snapshots.keep", &c.Snapshots.Keep, 0, 1000),
		duration("snapshots.age", &c.Snapshots.Age, time.Minute),
		number("store.max_bytes", &c.Store.MaxBytes, 64<<20, maxStore),
	}
}

// limitSettings are the keys of [tool_output], and of a tool's own table below it.
func limitSettings(table string, l *tool.Limit) []setting {
	return []setting{
		number(table+".max_bytes", &l.MaxBytes, 256, maxOutput),
		number(table+".max_lines", &l.MaxLines, 2, manyTimes),
		choice(table+".strategy", &l.Strategy, tool.StrategyHeadTail, tool.StrategyHead, tool.StrategyTail, tool.StrategySummarize),
	}
}

// tables are the tables that this version knows; "*" stands for any name.
func tables() []string {
	return []string{"limits", "tool_output", "tool_output.tools", "tool_output.tools.*", "summarize", "file_refs", "prune", "compaction", "prices", "prices.*",
		"mcp", "mcp.servers", "mcp.servers.*", "mcp.servers.*.headers",
		"retention", "sandbox", "snapshots", "store"}
}

func isTable(key []string) bool {
	return slices.ContainsFunc(tables(), func(pattern string) bool {
		return len(key) == strings.Count(pattern, ".")+1 && matches(pattern, key)
	})
}

// matches says whether a key is the pattern's or below it.
func matches(pattern string, key []string) bool {
	parts := strings.Split(pattern, ".")
	if len(key) < len(parts) {
		return false
	}
	for i, part := range parts {
		if part != "*" && part != key[i] {
			return false
		}
	}
	return true
}

// toolOf is the NAME of a key in [tool_output.tools.NAME].
func toolOf(key []string) (string, bool) {
	if len(key) == 4 && key[0] == "tool_output" && key[1] == "tools" {
		return key[2], true
	}
	return "", false
}

// toolTable is the table of a tool's own limits.
func toolTable(name string) string {
	return keyText([]string{"tool_output", "tools", name})
}
