package config

import (
	"fmt"
	"time"

	"podd/internal/guard/policy"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// Config is the effective configuration. Load makes it; no field needs a further
// check or default, except where its comment says so.
type Config struct {
	Endpoint
	// Instructions are for pods that have none of their own; may be empty.
	Instructions string
	// Ask is when calls ask a person, for pods that say nothing else.
	Ask string
	// Rules decide on calls of all pods, in the order of the file. Each is right by
	// itself (policy.New takes it) and has FILE:LINE as its Source.
	Rules  []item.Rule
	Limits Limits
	// ToolOutput bounds what tools put into the conversation. It is for
	// tool.NewLimits, which accepts every loaded one. The fields of Default and
	// MaxResultBytes are set; a zero field in Tools follows the tool's own default.
	ToolOutput tool.LimitsConfig
	// Tools bounds what single tools find.
	Tools      Tools
	Spool      Spool
	Prune      Prune
	Compaction Compaction
	FileRefs   FileRefs
	Summarize  Summarize
	Sandbox    Sandbox
	Retention  Retention
	Snapshots  Snapshots
	Store      Store
	// Prices are by the model's name, or what it begins with.
	Prices map[string]Price
	// Interceptors and Hooks are commands, in the order of the file. What their events
	// are is for internal/extend/extern to check.
	Interceptors, Hooks []Extension
	// MCP are the MCP servers of all pods, in the order of their names.
	MCP []MCPServer

	values []Value
}

// Endpoint is where models are asked, and which.
type Endpoint struct {
	// Model is the model to ask for; empty means the endpoint's default.
	Model string
	// FallbackModels are asked, in this order, when the model can't be asked for long.
	FallbackModels []string
	// API is "responses" or "chat"; empty means that the endpoint decides.
	API string
	// BaseURL is the endpoint with its version, without a slash at the end.
	BaseURL string
	// APIKey is the endpoint's key; empty means that none is sent.
	APIKey Secret
	// APIKeyFile holds the key where the environment does not; may be empty.
	APIKeyFile string
}

// Limits bounds turns and inboxes. All but MaxTokens and MaxCost are above 0.
type Limits struct {
	// MaxSteps and MaxToolCalls bound one turn.
	MaxSteps     int
	MaxToolCalls int
	MaxTurnTime  time.Duration
	// MaxParallelCalls is how many tools of one pod run at once.
	MaxParallelCalls int
	// MaxTokens (in and out) and MaxCost (USD) bound one turn; 0 is no limit.
	MaxTokens int64
	MaxCost   float64
	// MaxInbox is how many submits may wait for one pod.
	MaxInbox int
	// MaxSubmitBytes is the largest submit, all segments together.
	MaxSubmitBytes int
}

// Tools bounds what single built-in tools find, before the limits of their output.
type Tools struct {
	Search        Search
	RepoStructure RepoStructure
	ListDir       Listing
	Glob          Listing
}

// Search bounds the search tool. Context may be 0, the others are above.
type Search struct {
	MaxMatches int
	// Context is the lines shown on either side of a match.
	Context int
	// MaxLineBytes is the most that is shown of a line.
	MaxLineBytes int
}

// RepoStructure bounds the tree that repo_structure shows. All are above 0.
type RepoStructure struct {
	// Depth is for calls that name none.
	Depth      int
	MaxEntries int
}

// Listing bounds the entries that a tool shows; above 0.
type Listing struct {
	MaxEntries int
}

// Spool bounds the full texts that are kept of what was cut. All are above 0.
type Spool struct {
	// MaxBytes is what the texts of all pods together may have.
	MaxBytes int64
	// MaxAge is how long a text is kept.
	MaxAge time.Duration
}

// Retention says when old entries are removed from logs.
type Retention struct {
	// Age is how long an entry is kept; 0 means for ever.
	Age time.Duration
	// Bytes is what the log of one pod may have before its oldest entries go; 0 means
	// no limit.
	Bytes int64
}

// Snapshots says when podd copies its database by itself, and what it keeps.
type Snapshots struct {
	// Every is the time from one copy to the next; above 0.
	Every time.Duration
	// Keep is how many copies are kept; 0 means that none is made on schedule.
	Keep int
	// Age is how long a copy is kept; the newest stays in any case.
	Age time.Duration
}

// Store bounds the database.
type Store struct {
	// MaxBytes is how large its file may grow; above 0.
	MaxBytes int64
}

// Prune says when tool results leave the context. All numbers are above 0.
type Prune struct {
	// Mode is "economic", "turns" or "off".
	Mode string
	// ProtectedTurns and MinSavings, in tokens, are for mode "turns".
	ProtectedTurns, MinSavings int
	// MinGain is for mode "economic", in tokens of uncached input.
	MinGain int
}

// Compaction says when a summary takes the place of older items.
type Compaction struct {
	// Trigger is the share of the model's window from which on it happens by itself,
	// above 0 and at most 1.
	Trigger float64
	// KeepTokens is how much of the newest items stays as it is; above 0.
	KeepTokens int
	// Model writes the summary; empty means the pod's own.
	Model string
	// ReadBackBytes bounds what podd adds to the summary, in bytes; 0 adds nothing.
	ReadBackBytes int
}

// Price is what a model costs, in USD for a million tokens. CachedInput is at most
// CacheWrite; Input, CacheWrite and CacheTTL are above 0.
type Price struct {
	Input float64
	// CachedInput is for input read from the prompt cache, CacheWrite for input newly
	// written to it.
	CachedInput, CacheWrite float64
	Output                  float64
	// CacheTTL is for how long an idle cache lasts.
	CacheTTL time.Duration
}

// FileRefs bounds what a file reference adds to a submit.
type FileRefs struct {
	// MaxBytes is the most of a file that is sent.
	MaxBytes int
	// DirEntries is the most entries of a directory's listing.
	DirEntries int
	// Role is "user" or "system".
	Role string
}

// defaultBaseURL is OpenAI itself.
const defaultBaseURL = "https://api.openai.com/v1"

func defaults() Config {
	const outputBytes = 16 << 10
	return Config{
		Endpoint: Endpoint{BaseURL: defaultBaseURL},
		Ask:      policy.Risky,
		Limits: Limits{
			MaxSteps:         200,
			MaxToolCalls:     1000,
			MaxTurnTime:      2 * time.Hour,
			MaxParallelCalls: 8,
			MaxInbox:         100,
			MaxSubmitBytes:   1 << 20,
		},
		ToolOutput: tool.LimitsConfig{
			Default:        tool.Limit{MaxBytes: outputBytes, MaxLines: 500, Strategy: tool.StrategyHeadTail},
			MaxResultBytes: tool.DefaultMaxResultBytes,
		},
		Tools: Tools{
			Search:        Search{MaxMatches: 100, Context: 2, MaxLineBytes: 500},
			RepoStructure: RepoStructure{Depth: 3, MaxEntries: 500},
			ListDir:       Listing{MaxEntries: 500},
			Glob:          Listing{MaxEntries: 500},
		},
		Spool:      Spool{MaxBytes: spool.DefaultMaxBytes, MaxAge: spool.DefaultMaxAge},
		Prune:      Prune{Mode: "economic", ProtectedTurns: 3, MinSavings: 4096, MinGain: 6000},
		Sandbox:    Sandbox{Mode: "auto"},
		Summarize:  Summarize{MaxInputBytes: 50_000, TriggerBytes: 20_000},
		Compaction: Compaction{Trigger: 0.85, KeepTokens: 20_000, ReadBackBytes: 20_000},
		Snapshots:  Snapshots{Every: 24 * time.Hour, Keep: 3, Age: 30 * 24 * time.Hour},
		Store:      Store{MaxBytes: maxStore},
		FileRefs:   FileRefs{MaxBytes: outputBytes, DirEntries: 100, Role: "user"},
	}
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
