package builtin

import (
	"log/slog"
	"sync"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/scratch"
	"podd/pkg/tool/spool"
)

// Config sets up the tools of one pod.
type Config struct {
	// FS is the pod's files; the caller closes it after the tools are done.
	FS *scopefs.FS
	// Spool is the pod's folder for the output of commands.
	Spool *spool.Folder
	// Caches have the cache that the commands of a workspace share; nil means that each pod's
	// are in its /tmp.
	Caches *scratch.Caches
	// Jobs are the pod's background commands; nil means that it can have none.
	Jobs *PodJobs
	// Movable says that another node may take over the pod: its commands need bwrap and end with
	// the lease of Shell, after which no tool changes a file.
	Movable bool
	// Limits are those to which the outputs will be cut; nil means the defaults. The tools
	// that capture or page use them to know how much can be shown.
	Limits   *tool.Limits
	Shell    Shell
	Search   Search
	WebFetch WebFetch
	// Network says whether the commands of the pod reach the network now, unasked; nil leaves
	// that to Shell.Sandbox.
	Network func() bool
	// Shows are directories that commands can read, also in what is hidden from them.
	Shows []string
	Tree  Tree
	// ListDir and Glob bound the tools of these names.
	ListDir Listing
	Glob    Listing
	// Logger gets what no result can say; nil discards it.
	Logger *slog.Logger
}

// New makes the tools, in the order for the model. A missing FS or Spool is an error of
// kind KindInternal.
func New(c Config) ([]tool.Tool, error) {
	if c.FS == nil || c.Spool == nil {
		return nil, item.Errorf(item.KindInternal, "BAD_CONFIG", "builtin.New needs FS and Spool")
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	f := &files{FS: c.FS, changing: new(sync.Mutex), mayChange: c.mayChange}
	return []tool.Tool{
		newReadFile(f, c),
		newWriteFile(f),
		newEditFile(f),
		newApplyPatch(f),
		newListDir(f, c),
		newRepoStructure(f, c),
		newRepoMap(f, c),
		newGlob(f, c),
		newSearch(f, c),
		newShell(c),
		newJobTool(c),
		newWebFetch(c),
		newTodo(),
	}, nil
}

// Recovering makes the tools that can find the outcome of a call. They need no FS if only
// Recover is called.
func Recovering(c Config) ([]tool.Tool, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return []tool.Tool{newShell(c), newJobTool(c)}, nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Limits == nil {
		limits, err := tool.NewLimits(tool.LimitsConfig{})
		if err != nil {
			return c, err
		}
		c.Limits = limits
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Tree.Depth <= 0 {
		c.Tree.Depth = 3
	}
	if c.Tree.MaxEntries <= 0 {
		c.Tree.MaxEntries = maxEntries
	}
	c.ListDir, c.Glob = c.ListDir.withDefaults(), c.Glob.withDefaults()
	return c, nil
}

// maxEntries is the default of how many entries list_dir, repo_structure and glob show.
const maxEntries = 500

// Listing bounds what a tool lists. A zero field means its default.
type Listing struct {
	// MaxEntries is 500 by default.
	MaxEntries int `toml:"max_entries" range:"1 50000"`
}

func (l Listing) withDefaults() Listing {
	if l.MaxEntries <= 0 {
		l.MaxEntries = maxEntries
	}
	return l
}

// Tree bounds repo_structure. A zero field means its default.
type Tree struct {
	// Depth is 3 by default.
	Depth int `toml:"depth" range:"1 200"`
	// MaxEntries is 500 by default.
	MaxEntries int `toml:"max_entries" range:"1 50000"`
}
