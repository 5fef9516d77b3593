package config

import (
	"fmt"
	"strings"
	"time"

	"podd/internal/endpoints"
	"podd/internal/extend/extern"
	"podd/internal/extend/mcp"
	"podd/internal/guard/policy"
	"podd/internal/ops/retention"
	"podd/internal/tools/builtin"
	"podd/internal/workspace/briefing"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
	"podd/pkg/worker"
)

// Config is the effective configuration, in the types of the packages that use it. Load
// makes it. No field needs a further check or default, unless its comment says so.
type Config struct {
	// Pods are the settings of pods. Load does not set Model, Interceptors and Hooks: the
	// daemon makes them from the fields below.
	Pods pod.Settings
	Workspaces
	// Endpoint is the endpoint of models that name none.
	Endpoint string
	// Endpoints are those of [endpoints.NAME].
	Endpoints []endpoints.Endpoint
	// Options are those of all models, ModelOptions those of single ones.
	Options      item.Options
	ModelOptions []ModelOptions
	// API is that of the default endpoint; empty means that its host decides.
	API string
	// BaseURL is the default endpoint with its version, without a trailing slash.
	BaseURL string
	// APIKey is the endpoint's key; empty means that podd sends none.
	APIKey Secret
	// APIKeyFile has the key when the environment does not; may be empty.
	APIKeyFile string
	// MaxCostPerDay bounds what all pods together spend on a day, in USD; 0 means no limit.
	MaxCostPerDay float64
	// ToolOutput bounds what tools add to the conversation. tool.NewLimits accepts it. A
	// zero field in Tools means the tool's own default.
	ToolOutput tool.LimitsConfig
	Spool
	Sandbox builtin.SandboxConfig
	Jobs    builtin.JobsConfig
	// ShellEnv adds to the environment of commands: NAME=value, or NAME to pass on podd's.
	ShellEnv  []string
	Retention retention.Policy
	Snapshots Snapshots
	Store     StoreConfig
	// Interceptors and Hooks are commands, in the order of the file. internal/extend/extern
	// checks their events.
	Interceptors, Hooks []Extension
	// MCP are the MCP servers of all pods, in the order of their names.
	MCP []mcp.Server

	// keyFile is the file that APIKey is from; empty for another place.
	keyFile string
	values  []effective
}

// Spool bounds the full texts of cut outputs.
type Spool struct {
	SpoolBytes int64
	SpoolAge   time.Duration
}

// Snapshots says when to copy the file of the store, how many copies to keep, and how long.
type Snapshots struct {
	Every time.Duration
	Keep  int
	Age   time.Duration
}

// StoreConfig says where the store is.
type StoreConfig struct {
	// URL is the connection string of a PostgreSQL database, without a password; empty for
	// the file in the state directory.
	URL string
	// Connections bounds the connections to that database, Bytes the file, in bytes.
	Connections int
	Bytes       int64
	// Node is this podd among those of the database.
	Node NodeConfig
}

// NodeConfig makes podd one of several that share a database.
type NodeConfig struct {
	// Shared are directories that other nodes have at the same paths.
	Shared []string
	// Name is unique among them.
	Name string
	// Listen is where the others reach this one, HOST:PORT; empty for a podd that has the
	// database alone.
	Listen string
	// TLS are the files of its certificate, its key, and the authority that signed all.
	TLS []string
}

// Workspaces is the part that workspaces are given.
type Workspaces struct {
	FileRefs      scopefs.RefLimits
	Search        builtin.Search
	Tree          builtin.Tree
	ListDir, Glob builtin.Listing
	Ask           string
	Rules         []item.Rule
	// BaseInstructions is a setting that briefing.Base accepts.
	BaseInstructions string
}

// Extension is an [[interceptor]] or a [[hook]]: a command that runs for events.
type Extension struct {
	extern.Command
	// OnFailure applies to an interceptor; empty means that it depends on the event.
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
			Limits:         worker.Limits{MaxSteps: 200, MaxToolCalls: 1000, MaxTime: 2 * time.Hour, MaxParallel: 8, LoopTimes: 5, LoopSteps: 10},
			MaxInbox:       100,
			MaxSubmitBytes: 1 << 20,
			Prune: fold.Config{
				Mode: fold.ModeEconomic, Turns: fold.TurnsConfig{Protected: 3, MinSavings: 4096}, Economic: fold.EconomicConfig{MinGain: 6000},
			},
			Summarize:   worker.Summarize{MaxInputBytes: 50_000, TriggerBytes: 20_000},
			Compaction:  worker.Compaction{Trigger: 0.85, KeepTokens: 20_000, ReadBackBytes: 20_000},
			FileRefRole: "user",
		},
		Workspaces: Workspaces{
			FileRefs:         scopefs.RefLimits{DirEntries: 100},
			Search:           builtin.Search{MaxMatches: 100, Context: 2, MaxLineBytes: 500},
			Tree:             builtin.Tree{Depth: 3, MaxEntries: 500},
			ListDir:          builtin.Listing{MaxEntries: 500},
			Glob:             builtin.Listing{MaxEntries: 500},
			Ask:              policy.Risky,
			BaseInstructions: briefing.Builtin,
		},
		Endpoint: item.DefaultEndpoint, BaseURL: defaultBaseURL,
		ToolOutput: tool.LimitsConfig{
			Default:        tool.Limit{MaxBytes: outputBytes, MaxLines: 500, Strategy: tool.StrategyHeadTail},
			Tools:          map[string]tool.Limit{},
			MaxResultBytes: tool.DefaultMaxResultBytes,
		},
		Spool:     Spool{SpoolBytes: spool.DefaultMaxBytes, SpoolAge: spool.DefaultMaxAge},
		Sandbox:   builtin.SandboxConfig{Mode: "auto"},
		Jobs:      builtin.JobsConfig{Max: builtin.DefaultMaxJobs, MaxTime: builtin.DefaultMaxJobTime},
		Retention: retention.Policy{Trash: 14 * 24 * time.Hour},
		Snapshots: Snapshots{Every: 24 * time.Hour, Keep: 3, Age: 30 * 24 * time.Hour},
		Store:     StoreConfig{Bytes: maxStore, Connections: 8},
	}
}

// KeyFiles are the files with keys of endpoints.
func (c Config) KeyFiles() (files []string) {
	if c.APIKeyFile != "" {
		files = append(files, c.APIKeyFile)
	}
	for _, e := range c.Endpoints {
		if e.Key.File != "" {
			files = append(files, e.Key.File)
		}
	}
	return files
}

// SecretFiles are the files with secrets for MCP servers.
func (c Config) SecretFiles() []string {
	var files []string
	for _, s := range c.MCP {
		for _, path := range []string{s.TokenFile, s.ClientSecretFile} {
			if path != "" {
				files = append(files, path)
			}
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
