package config

import (
	_ "embed" // for Example
	"fmt"
	"strings"
	"time"

	"podd/internal/endpoints"
	"podd/internal/extend/extern"
	"podd/internal/extend/mcp"
	"podd/internal/guard/sandbox"
	"podd/internal/ops/retention"
	"podd/internal/shell"
	"podd/internal/tools/builtin"
	"podd/pkg/catalog"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
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
	Sandbox sandbox.Config
	Jobs    shell.JobsConfig
	// ShellEnv adds to the environment of commands: NAME=value, or NAME to pass on podd's.
	ShellEnv  []string
	Retention retention.Policy
	Snapshots Snapshots
	Store     StoreConfig
	Node      NodeConfig
	Triggers  TriggersConfig
	// Interceptors and Hooks are commands, in the order of the file. internal/extend/extern
	// checks their events.
	Interceptors, Hooks []Extension
	// ClaudeHooks are files with hooks of Claude Code: absolute ones, those in the user's home,
	// which begin with ~/, and others below each workspace.
	ClaudeHooks []string
	// Reconcilers find out how calls of the tools that they are named after ended.
	Reconcilers []Extension
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
	Every time.Duration `toml:"every" least:"1m"`
	Keep  int           `toml:"keep" range:"0 1000"`
	Age   time.Duration `toml:"age" least:"1m"`
}

// StoreConfig says where the store is.
type StoreConfig struct {
	// URL is the connection string of a PostgreSQL database, without a password; empty for
	// the file in the state directory.
	URL string `toml:"url" is:"database" default:"podd.db in the state directory"`
	// Connections bounds the connections to that database, Bytes the file, in bytes.
	Connections int   `toml:"connections" range:"2 1000"`
	Bytes       int64 `toml:"max_bytes" range:"67108864 1099511627776"`
}

// NodeConfig makes podd one of several that share a database.
type NodeConfig struct {
	// Name is unique among them.
	Name string `toml:"name" is:"node"`
	// Listen is where the others reach this one, HOST:PORT; empty for a podd that has the
	// database alone.
	Listen string `toml:"listen" is:"listen" default:"this podd has the database alone"`
	// TLS are the files of its certificate, its key, and the authority that signed all.
	TLS []string `toml:"tls" is:"certificates"`
	// Shared are directories that other nodes have at the same paths.
	Shared []string `toml:"shared" is:"directories"`
}

// TriggersConfig says where webhooks arrive.
type TriggersConfig struct {
	// Listen is HOST:PORT; empty for nowhere.
	Listen string `toml:"listen" is:"own address" default:"no webhooks"`
	// TLS are the files of its certificate and its key.
	TLS []string `toml:"tls" is:"certificate" default:"none"`
	// Proxy says that a proxy with a certificate passes the requests on.
	Proxy bool `toml:"proxy"`
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

// ModelOptions are the options of [models."NAME"], and what it says of the model.
type ModelOptions struct {
	Model item.ModelRef
	item.Options
	Facts catalog.Facts
}

// Extension is an [[interceptor]], a [[hook]] or a [[reconcile]]: a command that runs for events, or for lost
// calls of the tool that it is named after.
type Extension struct {
	extern.Command
	// OnFailure applies to an interceptor; empty means that it depends on the event.
	OnFailure extern.OnFailure
	// Origin is FILE:LINE of the table's header.
	Origin string
}

// Example is a config.toml with every table and key. All keys are comments, each below
// its text in the reference. A key shows its default, or a sample if it has none.
//
//go:embed example.toml
var Example string

// defaultBaseURL is OpenAI itself.
const defaultBaseURL = "https://api.openai.com/v1"

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
		for _, path := range []string{s.TokenFile, s.ClientSecretFile, s.PrivateKeyFile, s.AssertionFile} {
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
