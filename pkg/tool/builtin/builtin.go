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
	// Spool is the pod's folder for the output of commands.
	Spool *spool.Folder
	// Limits are those that the outputs will be cut to; nil means the defaults. The
	// tools that capture or page ask them how much can be used.
	Limits   *tool.Limits
	Shell    Shell
	Search   Search
	WebFetch WebFetch
	Tree     Tree
	// ListDir and Glob bound the tools of these names.
	ListDir Listing
	Glob    Listing
	// Logger gets what no result can say; nil discards it.
	Logger *slog.Logger
}

// New makes the tools, in the order in which they are sent to a model. A missing
// FS or Spool is an error of kind KindInternal.
func New(c Config) ([]tool.Tool, error) {
	if c.FS == nil || c.Spool == nil {
		return nil, item.Errorf(item.KindInternal, "BAD_CONFIG", "builtin.New needs FS and Spool")
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	f := &files{FS: c.FS, changing: new(sync.Mutex)}
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
		newWebFetch(c),
		newTodo(),
	}, nil
}

// Recovering makes those tools that know what became of a call. They need no FS as long as
// they are only asked to Recover.
func Recovering(c Config) ([]tool.Tool, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return []tool.Tool{newShell(c)}, nil
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

// maxEntries is how many entries list_dir, repo_structure and glob show by default.
const maxEntries = 500

// Listing bounds what a tool lists. A zero field is its default.
type Listing struct {
	// MaxEntries is 500 by default.
	MaxEntries int
}

func (l Listing) withDefaults() Listing {
	if l.MaxEntries <= 0 {
		l.MaxEntries = maxEntries
	}
	return l
}

// Tree bounds repo_structure. A zero field is its default.
type Tree struct {
	// Depth is 3 by default.
	Depth int
	// MaxEntries is 500 by default.
	MaxEntries int
}
