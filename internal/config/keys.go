package config

import (
	"time"

	"podd/internal/endpoints"
	"podd/internal/guard/policy"
	"podd/internal/tools/builtin"
	"podd/pkg/fold"
	"podd/pkg/tool"
)

// The bounds of numbers are where a larger one is a slip of the hand, or exceeds what the
// rest of podd supports.
const (
	manyTimes = 1_000_000
	// repo_structure considers at most this many entries.
	manyEntries = 50_000
	// A submit is stored in one entry, with its text twice and its files once.
	maxOutput = 8 << 20
	maxSubmit = 4 << 20
	// More than any file of the store has.
	maxStore = 1 << 40
	// More than any machine has.
	maxMemory = 1 << 60
)

// Keys that code outside of the table names.
const (
	keyAPIKey      = "api_key"
	keyBase        = "base_instructions"
	keyRule        = "rule"
	keyInterceptor = "interceptor"
	keyHook        = "hook"
)

// settings are all keys, bound to the configuration, in the order in which they are
// shown.
func (l *loader) settings() []*setting {
	c, p := &l.Config, &l.Pods
	return append([]*setting{
		l.model("model", &p.Model).or("PODD_MODEL").
			hinting("the built-in one at api.openai.com, elsewhere the first that the endpoint lists"),
		text("endpoint", "the name of an endpoint", &c.Endpoint, isEndpointName),
		l.models("fallback_models", &p.Fallbacks).hinting("none"),
		choice("api", &c.API, endpoints.APIs()...).hinting("responses at api.openai.com, messages at api.anthropic.com, elsewhere chat").like(`"responses"`),
		address("base_url", &c.BaseURL).or("OPENAI_BASE_URL"),
		secret(keyAPIKey, &c.APIKey).or("OPENAI_API_KEY"),
		path("api_key_file", &c.APIKeyFile).hinting("the credential openai_api_key, where the service manager gives it"),
		answer("images", &p.Models.Images),
		prose("instructions", &p.Instructions),
		text(keyBase, `"builtin", "none" or the absolute path of a file`, &c.BaseInstructions, isBase),
		choice("ask", &c.Ask, policy.Never, policy.Risky, policy.Always),
		section("limits",
			number("max_steps", &p.Limits.MaxSteps, 1, manyTimes),
			number("max_tool_calls", &p.Limits.MaxToolCalls, 1, manyTimes),
			duration("max_turn_time", &p.Limits.MaxTime, time.Second),
			number("max_parallel_calls", &p.Limits.MaxParallel, 1, 256),
			number("max_tokens", &p.Limits.MaxTokens, 0, 1<<40).hinting("no limit"),
			decimal("max_cost", &p.Limits.MaxCost, 0, 1e6).hinting("no limit"),
			decimal("max_cost_per_day", &c.MaxCostPerDay, 0, 1e6).hinting("no limit"),
			number("loop_times", &p.Limits.LoopTimes, 0, fold.MaxLoopSteps/2),
			number("loop_steps", &p.Limits.LoopSteps, 0, fold.MaxLoopSteps/2),
			number("max_inbox", &p.MaxInbox, 1, manyTimes),
			number("max_submit_bytes", &p.MaxSubmitBytes, 1, maxSubmit)),
		section("tool_output", append(limitSettings(&c.ToolOutput.Default),
			number("max_request_result_bytes", &c.ToolOutput.MaxResultBytes, 1024, maxOutput),
			number("spool_bytes", &c.SpoolBytes, 1<<20, 1<<40),
			duration("spool_age", &c.SpoolAge, time.Minute),
			l.tools)...),
		section("summarize",
			l.summarizing,
			l.model("summarize.model", &p.Summarize.Model).hinting("the pod's"),
			names("tools", &p.Summarize.Tools).hinting("all whose strategy is \"summarize\""),
			number("max_input_bytes", &p.Summarize.MaxInputBytes, 1024, maxOutput),
			number("trigger_bytes", &p.Summarize.TriggerBytes, 1, maxOutput)),
		section("file_refs",
			number("max_bytes", &c.FileRefs.MaxBytes, 256, maxSubmit).hinting("tool_output.max_bytes"),
			number("dir_entries", &c.FileRefs.DirEntries, 1, manyTimes),
			choice("role", &p.FileRefRole, "user", "system")),
		section("prune",
			choice("mode", &p.Prune.Mode, fold.ModeEconomic, fold.ModeTurns, fold.ModeOff),
			number("protected_turns", &p.Prune.Turns.Protected, 1, manyTimes),
			number("min_savings", &p.Prune.Turns.MinSavings, 1, manyTimes),
			number("min_gain", &p.Prune.Economic.MinGain, 1, manyTimes)),
		section("compaction",
			decimal("trigger", &p.Compaction.Trigger, 0.05, 1),
			number("keep_tokens", &p.Compaction.KeepTokens, 1, manyTimes),
			l.model("compaction.model", &p.Compaction.Model).hinting("the pod's"),
			number("read_back_bytes", &p.Compaction.ReadBackBytes, 0, manyTimes)),
	}, l.upkeepSettings()...)
}

// upkeepSettings are the keys of the sandbox of commands, of what podd keeps, and of
// tables that may occur any number of times.
func (l *loader) upkeepSettings() []*setting {
	c := &l.Config
	return []*setting{
		section("sandbox",
			choice("mode", &c.Sandbox.Mode, "auto", "bwrap", "landlock", "off"),
			flag("required", &c.Sandbox.Required),
			flag("network", &c.Sandbox.Network),
			directories("read", &c.Sandbox.Read).hinting("all but what is hidden"),
			directories("write", &c.Sandbox.Write).hinting("the pod's alone"),
			variables("env", &c.ShellEnv),
			number("max_memory_bytes", &c.Sandbox.MaxMemory, 0, maxMemory).hinting("half of the machine's memory")),
		section("jobs",
			number("max", &c.Jobs.Max, 1, builtin.MaxAllJobs),
			duration("max_time", &c.Jobs.MaxTime, time.Second)),
		section("retention",
			duration("age", &c.Retention.Age, 0).hinting("for ever"),
			number("bytes", &c.Retention.Bytes, 0, 1<<40).hinting("no limit"),
			duration("trash", &c.Retention.Trash, 0).hinting("none")),
		section("snapshots",
			duration("every", &c.Snapshots.Every, time.Minute),
			number("keep", &c.Snapshots.Keep, 0, 1000),
			duration("age", &c.Snapshots.Age, time.Minute)),
		section("store",
			database("url", &c.Store.URL).hinting("podd.db in the state directory"),
			number("connections", &c.Store.Connections, 2, 1000),
			number("max_bytes", &c.Store.Bytes, 64<<20, maxStore)),
		section("node",
			nodeName("name", &c.Store.Node.Name).like(`"n1"`),
			nodeAddress("listen", &c.Store.Node.Listen).hinting("this podd has the database alone"),
			certificates("tls", &c.Store.Node.TLS).like(`["/etc/podd/n1.crt", "/etc/podd/n1.key", "/etc/podd/ca.crt"]`),
			directories("shared", &c.Store.Node.Shared).like(`["/mnt/team"]`)),
		named(keyEndpoints, "openrouter work", l.endpoint),
		section("options", optionSettings(&c.Options)...),
		named("models", "gpt-5.1", l.modelTable),
		named("prices", "gpt-5.1", l.price),
		list(keyRule, "1 2", l.rule),
		list(keyInterceptor, "1", l.interceptor),
		list(keyHook, "1", l.hook),
		section("mcp", named("servers", "files web", l.server)),
	}
}

// limitSettings are the keys of [tool_output], and of a tool's own table below it.
func limitSettings(l *tool.Limit) []*setting {
	return []*setting{
		number("max_bytes", &l.MaxBytes, 256, maxOutput),
		number("max_lines", &l.MaxLines, 2, manyTimes),
		choice("strategy", &l.Strategy, tool.StrategyHeadTail, tool.StrategyHead, tool.StrategyTail, tool.StrategySummarize),
	}
}
