package builtin

import (
	"log/slog"
	"sync"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// Config sets up the tools of one pod.
type Config struct {
	// FS is the pod's files; the caller closes it after the tools are done.
	FS *scopefs.FS
	// Spool is the pod's folder for long outputs.
	Spool *spool.Folder
	// Commands are the tools that run commands, which stand among these.
	Commands []tool.Tool
	// MayChange says why no tool may change a file now; nil means that they always may.
	MayChange func() error
	// Limits are those to which the outputs will be cut; nil means the defaults. The tools
	// that page use them to know how much can be shown.
	Limits   *tool.Limits
	Search   Search
	WebFetch WebFetch
	Tree     Tree
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
	c = c.withDefaults()
	f := &files{FS: c.FS, changing: new(sync.Mutex), mayChange: c.MayChange}
	tools := append([]tool.Tool{
		newReadFile(f, c),
		newWriteFile(f),
		newEditFile(f),
		newApplyPatch(f),
		newListDir(f, c),
		newRepoStructure(f, c),
		newRepoMap(f, c),
		newGlob(f, c),
		newSearch(f, c),
	}, c.Commands...)
	return append(tools, newWebFetch(c), newTodo()), nil
}

func (c Config) withDefaults() Config {
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
	if c.MayChange == nil {
		c.MayChange = func() error { return nil }
	}
	return c
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
