package config

import (
	"time"

	"podd/internal/extend/extern"
	"podd/internal/extend/mcp"
	"podd/internal/guard/keys"
	"podd/internal/guard/policy"
	"podd/internal/guard/sandbox"
	"podd/internal/ops/retention"
	"podd/internal/shell"
	"podd/internal/tools/builtin"
	"podd/internal/workspace/briefing"
	"podd/pkg/catalog"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// file is config.toml: a struct is a table, a map tables by name, a slice a list of tables.
// The order of the fields is that in which keys are shown. The tags of a field:
//
//   - toml: the key, and what applies to it: required refuses a table without the key, quiet
//     shows it only where it is set, hidden keeps it out of files. The key "*" is for names
//     that the other fields do not have.
//   - oneof, range, least, is: the values that it may have: these words, numbers from one to
//     another, a shortest time, a format by its name.
//   - env: the variable that overrides the file.
//   - default: what the default depends on.
type file struct {
	Model            string         `toml:"model" is:"name" env:"PODD_MODEL" default:"the built-in one at api.openai.com, elsewhere the first that the endpoint lists"`
	Endpoint         string         `toml:"endpoint" is:"endpoint"`
	FallbackModels   []string       `toml:"fallback_models" is:"names" default:"none"`
	API              string         `toml:"api" oneof:"responses chat messages" default:"responses at api.openai.com, messages at api.anthropic.com, elsewhere chat"`
	BaseURL          string         `toml:"base_url" is:"address" env:"OPENAI_BASE_URL"`
	APIKey           Secret         `toml:"api_key,hidden" is:"key" env:"OPENAI_API_KEY"`
	APIKeyFile       string         `toml:"api_key_file" is:"path" default:"the credential openai_api_key, where the service manager gives it"`
	Images           catalog.Answer `toml:"images"`
	Instructions     string         `toml:"instructions"`
	BaseInstructions string         `toml:"base_instructions" is:"instructions"`
	Ask              string         `toml:"ask" oneof:"never risky always"`
	Resume           string         `toml:"resume" is:"resume"`
	Questions        struct {
		Expire time.Duration `toml:"expire" least:"0s" default:"never"`
	} `toml:"questions"`
	Limits struct {
		MaxSteps         int           `toml:"max_steps" range:"1 1000000"`
		MaxToolCalls     int           `toml:"max_tool_calls" range:"1 1000000"`
		MaxTurnTime      time.Duration `toml:"max_turn_time" least:"1s"`
		MaxParallelCalls int           `toml:"max_parallel_calls" range:"1 256"`
		MaxTokens        int64         `toml:"max_tokens" range:"0 1099511627776" default:"no limit"`
		MaxCost          float64       `toml:"max_cost" range:"0 1000000" default:"no limit"`
		MaxCostPerDay    float64       `toml:"max_cost_per_day" range:"0 1000000" default:"no limit"`
		LoopTimes        int           `toml:"loop_times" range:"0 50"`
		LoopSteps        int           `toml:"loop_steps" range:"0 50"`
		MaxInbox         int           `toml:"max_inbox" range:"1 1000000"`
		MaxSubmitBytes   int           `toml:"max_submit_bytes" range:"1 4194304"`
	} `toml:"limits"`
	ToolOutput struct {
		limitKeys
		MaxRequestResultBytes int           `toml:"max_request_result_bytes" range:"1024 8388608"`
		SpoolBytes            int64         `toml:"spool_bytes" range:"1048576 1099511627776"`
		SpoolAge              time.Duration `toml:"spool_age" least:"1m"`
		Tools                 toolTables    `toml:"tools"`
	} `toml:"tool_output"`
	Summarize struct {
		Enabled       bool     `toml:"enabled"`
		Model         string   `toml:"model" is:"name" default:"the pod's"`
		Tools         []string `toml:"tools" is:"names" default:"all whose strategy is \"summarize\""`
		MaxInputBytes int      `toml:"max_input_bytes" range:"1024 8388608"`
		TriggerBytes  int      `toml:"trigger_bytes" range:"1 8388608"`
	} `toml:"summarize"`
	FileRefs struct {
		MaxBytes   int    `toml:"max_bytes" range:"256 4194304" default:"tool_output.max_bytes"`
		DirEntries int    `toml:"dir_entries" range:"1 1000000"`
		Role       string `toml:"role" oneof:"user system"`
	} `toml:"file_refs"`
	Prune struct {
		Mode           fold.Mode `toml:"mode" oneof:"economic turns off"`
		ProtectedTurns int       `toml:"protected_turns" range:"1 1000000"`
		MinSavings     int       `toml:"min_savings" range:"1 1000000"`
		MinGain        int       `toml:"min_gain" range:"1 1000000"`
	} `toml:"prune"`
	Compaction struct {
		Trigger       float64 `toml:"trigger" range:"0.05 1"`
		KeepTokens    int     `toml:"keep_tokens" range:"1 1000000"`
		Model         string  `toml:"model" is:"name" default:"the pod's"`
		ReadBackBytes int     `toml:"read_back_bytes" range:"0 1000000"`
	} `toml:"compaction"`
	Sandbox struct {
		sandbox.Config
		Env []string `toml:"env" is:"variables"`
	} `toml:"sandbox"`
	Jobs      shell.JobsConfig `toml:"jobs"`
	Retention retention.Policy `toml:"retention"`
	Snapshots Snapshots        `toml:"snapshots"`
	Store     StoreConfig      `toml:"store"`
	Node      NodeConfig       `toml:"node"`
	Triggers  TriggersConfig   `toml:"triggers"`
	Hooks     struct {
		Claude []string `toml:"claude" is:"hook files"`
	} `toml:"hooks"`
	Endpoints   map[string]*endpointTable `toml:"endpoints"`
	Options     optionKeys                `toml:"options,quiet"`
	Models      map[string]*modelTable    `toml:"models"`
	Prices      map[string]*priceTable    `toml:"prices"`
	Rule        []*ruleTable              `toml:"rule"`
	Interceptor []*interceptorTable       `toml:"interceptor"`
	Hook        []*hookTable              `toml:"hook"`
	Reconcile   []*reconcileTable         `toml:"reconcile"`
	MCP         struct {
		Servers map[string]*serverTable `toml:"servers"`
	} `toml:"mcp"`
}

// limitKeys are those of [tool_output], and of a tool's own table below it.
type limitKeys struct {
	MaxBytes int           `toml:"max_bytes" range:"256 8388608"`
	MaxLines int           `toml:"max_lines" range:"2 1000000"`
	Strategy tool.Strategy `toml:"strategy" oneof:"head_tail head tail summarize"`
}

func (l limitKeys) limit() tool.Limit {
	return tool.Limit{MaxBytes: l.MaxBytes, MaxLines: l.MaxLines, Strategy: l.Strategy}
}

// toolTables are the tables of tools. Some have more keys, which are shown in any case.
type toolTables struct {
	Search struct {
		limitKeys `toml:",quiet"`
		builtin.Search
	} `toml:"search"`
	RepoStructure struct {
		limitKeys `toml:",quiet"`
		builtin.Tree
	} `toml:"repo_structure"`
	ListDir listingTable          `toml:"list_dir"`
	Glob    listingTable          `toml:"glob"`
	Others  map[string]*limitKeys `toml:"*,quiet"`
}

type listingTable struct {
	limitKeys `toml:",quiet"`
	builtin.Listing
}

// optionKeys are those of [options], of an endpoint and of a model.
type optionKeys struct {
	Effort      string `toml:"effort" is:"effort" default:"the model's"`
	Verbosity   string `toml:"verbosity" oneof:"low medium high" default:"the model's"`
	Temperature string `toml:"temperature" is:"temperature" default:"the model's"`
	MaxOutput   int64  `toml:"max_output" range:"0 1073741824" default:"the model's"`
	ServiceTier string `toml:"service_tier" is:"tier" default:"the model's"`
	CacheTTL    string `toml:"cache_ttl" oneof:"5m 1h" default:"the model's"`
}

// endpointTable is [endpoints.NAME].
type endpointTable struct {
	table
	BaseURL     string            `toml:"base_url,required" is:"address"`
	API         string            `toml:"api" oneof:"responses chat messages" default:"responses at api.openai.com, messages at api.anthropic.com, elsewhere chat"`
	KeyEnv      string            `toml:"key_env" is:"variable" default:"none"`
	KeyFile     string            `toml:"key_file" is:"path" default:"none"`
	KeyCommand  []string          `toml:"key_command" is:"key command" default:"none"`
	KeyTTL      time.Duration     `toml:"key_ttl" least:"1s"`
	Key         Secret            `toml:"key,hidden,quiet" is:"key"`
	KeyHeader   string            `toml:"key_header" oneof:"bearer x-api-key api-key" default:"x-api-key for messages, else bearer"`
	Headers     map[string]string `toml:"headers" is:"headers"`
	Body        map[string]any    `toml:"body" is:"members"`
	FirstByte   time.Duration     `toml:"first_byte" least:"1s" default:"10m"`
	Idle        time.Duration     `toml:"idle" least:"1s" default:"5m"`
	Proxy       string            `toml:"proxy" is:"proxy" default:"HTTPS_PROXY, HTTP_PROXY and NO_PROXY"`
	MaxParallel int               `toml:"max_parallel" range:"0 10000" default:"no limit"`
	optionKeys  `toml:",quiet"`
	Quirks      quirkTable `toml:"quirks,quiet"`
}

func (e *endpointTable) begin() { e.KeyTTL = keys.DefaultTTL }

// quirkTable is [endpoints.NAME.quirks]: the keys of quirks.toml, except api, which is a key
// of the endpoint.
type quirkTable struct {
	AnswersTools         bool   `toml:"answers_tools" default:"by host and model"`
	CacheBreakpoint      bool   `toml:"cache_breakpoint" default:"by host and model"`
	CacheKey             bool   `toml:"cache_key" default:"by host and model"`
	CacheMarks           bool   `toml:"cache_marks" default:"by host and model"`
	MaxTokens            int64  `toml:"max_tokens" range:"0 1073741824" default:"by host and model"`
	NeedsReasoning       bool   `toml:"needs_reasoning" default:"by host and model"`
	NoEncryptedReasoning bool   `toml:"no_encrypted_reasoning" default:"by host and model"`
	NoStreamOptions      bool   `toml:"no_stream_options" default:"by host and model"`
	NoTemperature        bool   `toml:"no_temperature" default:"by host and model"`
	OldMaxTokens         bool   `toml:"old_max_tokens" default:"by host and model"`
	ShortCallIDs         bool   `toml:"short_call_ids" default:"by host and model"`
	Thinking             string `toml:"thinking" oneof:"adaptive budget none" default:"by host and model"`
	Unsigned             string `toml:"unsigned" is:"unsigned" default:"by host and model"`
}

// modelTable is [models."NAME"].
type modelTable struct {
	table
	optionKeys `toml:",quiet"`
	Window     int            `toml:"window,quiet" range:"0 1073741824" default:"what the endpoint or the catalogue says"`
	Images     catalog.Answer `toml:"images,quiet" default:"what the endpoint or the catalogue says"`
	Efforts    []string       `toml:"efforts,quiet" is:"efforts" default:"what the endpoint or the catalogue says"`
}

// priceTable is [prices.MODEL], in USD for a million tokens.
type priceTable struct {
	table
	Input       float64       `toml:"input,required" range:"0.000001 1000000"`
	CachedInput float64       `toml:"cached_input" range:"0 1000000" default:"input"`
	CacheWrite  float64       `toml:"cache_write" range:"0.000001 1000000" default:"input"`
	Output      float64       `toml:"output,required" range:"0 1000000"`
	CacheTTL    time.Duration `toml:"cache_ttl" least:"1s"`
}

func (p *priceTable) begin() { p.CacheTTL = fold.DefaultPrice().TTL }

// ruleTable is [[rule]].
type ruleTable struct {
	table
	Tool     string        `toml:"tool" is:"name"`
	Path     string        `toml:"path"`
	Command  string        `toml:"command"`
	Host     string        `toml:"host"`
	Access   []item.Access `toml:"access" is:"accesses"`
	Decision string        `toml:"decision,required" oneof:"allow ask deny"`
}

// interceptorTable is [[interceptor]].
type interceptorTable struct {
	table
	extensionKeys
	OnFailure extern.OnFailure `toml:"on_failure" oneof:"allow deny" default:"\"deny\" for before_tool, else \"allow\""`
	History   extern.History   `toml:"history" oneof:"none turn all"`
	variableKeys
}

func (e *interceptorTable) begin() {
	e.Timeout, e.History = extern.DefaultInterceptorTimeout, extern.HistoryNone
}

// hookTable is [[hook]].
type hookTable struct {
	table
	extensionKeys
	variableKeys
}

func (h *hookTable) begin() { h.Timeout = extern.DefaultHookTimeout }

// reconcileTable is [[reconcile]].
type reconcileTable struct {
	table
	Tool    string        `toml:"tool,required" is:"name"`
	Command []string      `toml:"command,required" is:"command"`
	Timeout time.Duration `toml:"timeout" least:"100ms"`
	variableKeys
}

func (r *reconcileTable) begin() { r.Timeout = extern.DefaultReconcileTimeout }

type extensionKeys struct {
	Name    string        `toml:"name,required" is:"name"`
	On      []string      `toml:"on,required" is:"names"`
	Command []string      `toml:"command,required" is:"command"`
	Timeout time.Duration `toml:"timeout" least:"100ms"`
}

type variableKeys struct {
	Env []string `toml:"env" is:"variables"`
}

// serverTable is [mcp.servers.NAME].
type serverTable struct {
	table
	mcp.Server
}

func (s *serverTable) begin() { s.Server = mcp.NewServer(s.name, s.origin) }

// defaults are the values of the keys that a file does not set.
func defaults() *file {
	f := &file{Endpoint: item.DefaultEndpoint, BaseURL: defaultBaseURL, BaseInstructions: briefing.Builtin, Ask: policy.Risky, Resume: resumeAlways}
	l := &f.Limits
	l.MaxSteps, l.MaxToolCalls, l.MaxTurnTime, l.MaxParallelCalls = 200, 1000, 2*time.Hour, 8
	l.LoopTimes, l.LoopSteps, l.MaxInbox, l.MaxSubmitBytes = 5, 10, 100, 1<<20
	o := &f.ToolOutput
	o.limitKeys = limitKeys{MaxBytes: 16 << 10, MaxLines: 500, Strategy: tool.StrategyHeadTail}
	o.MaxRequestResultBytes, o.SpoolBytes, o.SpoolAge = tool.DefaultMaxResultBytes, spool.DefaultMaxBytes, spool.DefaultMaxAge
	t := &o.Tools
	t.Search.Search, t.RepoStructure.Tree = builtin.Search{MaxMatches: 100, Context: 2, MaxLineBytes: 500}, builtin.Tree{Depth: 3, MaxEntries: 500}
	t.ListDir.MaxEntries, t.Glob.MaxEntries = 500, 500
	f.Summarize.MaxInputBytes, f.Summarize.TriggerBytes = 50_000, 20_000
	f.FileRefs.DirEntries, f.FileRefs.Role = 100, "user"
	f.Prune.Mode, f.Prune.ProtectedTurns, f.Prune.MinSavings, f.Prune.MinGain = fold.ModeEconomic, 3, 4096, 6000
	f.Compaction.Trigger, f.Compaction.KeepTokens, f.Compaction.ReadBackBytes = 0.85, 20_000, 20_000
	f.Sandbox.Mode = "auto"
	f.Jobs = shell.JobsConfig{Max: shell.DefaultMaxJobs, MaxTime: shell.DefaultMaxJobTime}
	f.Retention.Trash = 14 * 24 * time.Hour
	f.Snapshots = Snapshots{Every: 24 * time.Hour, Keep: 3, Age: 30 * 24 * time.Hour}
	f.Store = StoreConfig{Connections: 8, Bytes: 1 << 40}
	return f
}
