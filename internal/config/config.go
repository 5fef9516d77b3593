package config

import (
	"fmt"
	"strings"
	"time"

	"podd/internal/extend/extern"
	"podd/internal/extend/mcp"
	"podd/internal/guard/policy"
	"podd/internal/ops/keeper"
	"podd/internal/ops/retention"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/tool/spool"
	"podd/pkg/worker"
)

// Config is the effective configuration, in the types of the packages that follow it.
// Load makes it; no field needs a further check or default, except where its comment
// says so.
type Config struct {
	// Pods are what pods are given. Model, Interceptors and Hooks are not set: the daemon
	// makes them of what follows.
	Pods pod.Settings
	// These are for workspaces.
	FileRefs      scopefs.RefLimits
	Search        builtin.Search
	Tree          builtin.Tree
	ListDir, Glob builtin.Listing
	Ask           string
	Rules         []item.Rule
	// API is "responses" or "chat"; empty means that the endpoint decides.
	API string
	// BaseURL is the endpoint with its version, without a slash at the end.
	BaseURL string
	// APIKey is the endpoint's key; empty means that none is sent.
	APIKey Secret
	// APIKeyFile holds the key where the environment does not; may be empty.
	APIKeyFile string
	// ToolOutput bounds what tools put into the conversation. tool.NewLimits accepts it.
	// A zero field in Tools follows the tool's own default.
	ToolOutput tool.LimitsConfig
	// SpoolBytes and SpoolAge bound the full texts that are kept of what was cut.
	SpoolBytes int64
	SpoolAge   time.Duration
	Sandbox    builtin.SandboxConfig
	// ShellEnv adds to the environment of commands: NAME=value, or NAME to pass on podd's.
	ShellEnv  []string
	Retention retention.Policy
	Snapshots keeper.Schedule
	// StoreBytes is how large the file of the database may grow.
	StoreBytes int64
	// Interceptors and Hooks are commands, in the order of the file. What their events
	// are is for internal/extend/extern to check.
	Interceptors, Hooks []Extension
	// MCP are the MCP servers of all pods, in the order of their names.
	MCP []mcp.Server

	values []effective
}

// Extension is an [[interceptor]] or a [[hook]]: a command that runs for events.
type Extension struct {
	extern.Command
	// OnFailure is for an interceptor; empty means that it depends on the event.
	OnFailure extern.OnFailure
	// Origin is FILE:LINE of the table's header.
	Origin string
}

// defaultBaseURL is OpenAI itself.
const defaultBaseURL = "https://api.openai.com/v1"

func defaults() Config {
	const outputBytes = 16 << 10
	return Config{
		Pods: pod.Settings{
			Limits:         worker.Limits{MaxSteps: 200, MaxToolCalls: 1000, MaxTime: 2 * time.Hour, MaxParallel: 8},
			MaxInbox:       100,
			MaxSubmitBytes: 1 << 20,
			Prune: fold.Config{
				Mode: fold.ModeEconomic, Turns: fold.TurnsConfig{Protected: 3, MinSavings: 4096}, Economic: fold.EconomicConfig{MinGain: 6000},
			},
			Summarize:   worker.Summarize{MaxInputBytes: 50_000, TriggerBytes: 20_000},
			Compaction:  worker.Compaction{Trigger: 0.85, KeepTokens: 20_000, ReadBackBytes: 20_000},
			FileRefRole: "user",
		},
		FileRefs: scopefs.RefLimits{DirEntries: 100},
		Search:   builtin.Search{MaxMatches: 100, Context: 2, MaxLineBytes: 500},
		Tree:     builtin.Tree{Depth: 3, MaxEntries: 500},
		ListDir:  builtin.Listing{MaxEntries: 500},
		Glob:     builtin.Listing{MaxEntries: 500},
		Ask:      policy.Risky,
		BaseURL:  defaultBaseURL,
		ToolOutput: tool.LimitsConfig{
			Default:        tool.Limit{MaxBytes: outputBytes, MaxLines: 500, Strategy: tool.StrategyHeadTail},
			Tools:          map[string]tool.Limit{},
			MaxResultBytes: tool.DefaultMaxResultBytes,
		},
		SpoolBytes: spool.DefaultMaxBytes, SpoolAge: spool.DefaultMaxAge,
		Sandbox:    builtin.SandboxConfig{Mode: "auto"},
		Snapshots:  keeper.Schedule{Every: 24 * time.Hour, Keep: 3, Age: 30 * 24 * time.Hour},
		StoreBytes: maxStore,
	}
}

// SecretFiles are the files that hold secrets for MCP servers.
func (c Config) SecretFiles() []string {
	var files []string
	for _, s := range c.MCP {
		if s.TokenFile != "" {
			files = append(files, s.TokenFile)
		}
		for _, entry := range s.EnvFiles {
			_, path, _ := strings.Cut(entry, "=")
			files = append(files, path)
		}
	}
	return files
}

// Secret is text that prints as "set" or "not set"; string(s) is the text.
type Secret string

// String says whether there is a secret.
func (s Secret) String() string {
	if s == "" {
		return "not set"
	}
	return "set"
}

// Format prints String under every verb, %#v and %x among them.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(s.String()))
}

// MarshalText is String, for loggers and encoders.
func (s Secret) MarshalText() ([]byte, error) {
	return []byte(s.String()), nil
}
