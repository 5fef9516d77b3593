package builtin

import (
	"log/slog"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// Config sets up the tools of one pod.
type Config struct {
	// FS is the pod's files; the caller closes it after the tools are done.
	FS *scopefs.FS
	// SpoolDir is an existing directory, private to podd's user, for the output of
	// commands. What a result names stays there; whoever owns the directory removes
	// it some day.
	SpoolDir string
	// Limits are those that the outputs will be cut to; nil means the defaults. The
	// tools that capture or page ask them how much can be used.
	Limits *tool.Limits
	Shell  Shell
	Search Search
	Tree   Tree
	// Logger gets what no result can say; nil discards it.
	Logger *slog.Logger
}

// New makes the tools, in the order in which they are sent to a model. A missing
// FS or SpoolDir is an error of kind KindInternal.
func New(c Config) ([]tool.Tool, error) {
	if c.FS == nil || c.SpoolDir == "" {
		return nil, item.Errorf(item.KindInternal, "BAD_CONFIG", "builtin.New needs FS and SpoolDir")
	}
	if c.Limits == nil {
		limits, err := tool.NewLimits(tool.LimitsConfig{})
		if err != nil {
			return nil, err
		}
		c.Limits = limits
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return []tool.Tool{
		newShell(c),
	}, nil
}

// Search bounds the search tool. A zero field is its default.
type Search struct {
	// MaxMatches is 100 by default.
	MaxMatches int
	// Context is the lines shown around a match, 2 by default; negative for none.
	Context int
	// MaxLineBytes is 500 by default.
	MaxLineBytes int
}

// Tree bounds list_dir, repo_structure and glob. A zero field is its default.
type Tree struct {
	// Depth is 3 by default.
	Depth int
	// MaxEntries is 500 by default.
	MaxEntries int
}
