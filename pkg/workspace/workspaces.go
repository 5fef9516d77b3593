package workspace

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"podd/internal/guard/policy"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/tool/spool"
)

// Config is what stays as long as Workspaces live. SpoolDir is required; the zero value of
// the rest is its documented default.
type Config struct {
	// SpoolDir holds the full text of tool outputs that were cut and the output of
	// running commands; one folder a pod.
	SpoolDir string
	// SpoolBytes and SpoolAge bound what is kept there; see spool.Config.
	SpoolBytes int64
	SpoolAge   time.Duration
	// Scrub takes secrets out of a spool file; see spool.Config.
	Scrub func(path string) error
	// Hidden are podd's own files and directories, which no pod's file tools reach;
	// see scopefs.Config. A pod's own spool folder stays readable.
	Hidden []string
	// Project reads what the configuration of a workspace adds, as far as a person trusts
	// it; nil reads none. It is asked when a turn begins.
	Project func(dir string) Project
	// Shell sets up the shell tool.
	Shell builtin.Shell
	// Tools are offered beside the built-in ones.
	Tools []tool.Tool
	// SubPods makes the tool of a pod that may spawn others, which has depth pods above it;
	// nil means that no pod may. Package subpods has it.
	SubPods func(parent item.Pod, depth int, files *scopefs.FS) (beside func(tools []string) tool.Tool)
	// SkillsDir has the user's skills, which all pods may read; empty, or a directory that
	// is not there, means none.
	SkillsDir string
	// ForeignPrefix begins the names of the tools of other programs, which come and go
	// with the Project; empty means that there are none.
	ForeignPrefix string
	// Logger gets what an operator should know; nil means none.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Settings are what Workspaces can be given again while they are used. The zero value is
// the documented defaults. A Settings is not changed once Workspaces have it.
type Settings struct {
	// FileRefs bounds what an @path adds to a submit.
	FileRefs scopefs.RefLimits
	// ToolOutput cuts what tools answer; nil means the default limits.
	ToolOutput *tool.Limits
	// Search, Tree, ListDir and Glob bound built-in tools; see builtin.Config.
	Search  builtin.Search
	Tree    builtin.Tree
	ListDir builtin.Listing
	Glob    builtin.Listing
	// Ask is when calls ask a person, for pods that say nothing else: never, risky (the
	// default) or always. Rules decide on calls of all pods.
	Ask   string
	Rules []item.Rule
}

// Workspaces are those of all pods. Their methods may be called from any goroutine.
type Workspaces struct {
	Config
	current atomic.Pointer[Settings]
	spool   *spool.Spool
}

var _ pod.Workspaces = (*Workspaces)(nil)

// New opens the workspaces of a Host.
func New(c Config, s Settings) (*Workspaces, error) {
	if c.SpoolDir == "" {
		return nil, errors.New("workspace: SpoolDir is required")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	files, err := spool.Open(spool.Config{Dir: c.SpoolDir, MaxBytes: c.SpoolBytes, MaxAge: c.SpoolAge, Logger: c.Logger, Now: c.Now, Scrub: c.Scrub})
	if err != nil {
		return nil, err
	}
	all := &Workspaces{Config: c, spool: files}
	use, err := all.Reload(s)
	if err != nil {
		return nil, err
	}
	use()
	return all, nil
}

// Reload checks other settings. They count once use is called: rules and the mode of asking
// from the next decision on, all else from a pod's next turn.
func (all *Workspaces) Reload(s Settings) (use func(), err error) {
	if s.Ask == "" {
		s.Ask = policy.Risky
	}
	if _, err := policy.New(s.Ask, s.Rules); err != nil {
		return nil, err
	}
	return func() { all.current.Store(&s) }, nil
}

// settings are those of now. Whoever does one thing reads them once.
func (all *Workspaces) settings() *Settings { return all.current.Load() }

// Check refuses a spec that can't work; see [pod.Workspaces].
func (all *Workspaces) Check(spec, before item.PodSpec) (resolve func(spec, before item.PodSpec) item.PodSpec, err error) {
	if _, err := all.settings().policyOf(spec, nil); err != nil {
		return nil, err
	}
	if err := all.checkTools(spec.Tools, before.Tools); err != nil {
		return nil, err
	}
	if spec.Dir == "" {
		return nil, item.Errorf(item.KindInvalid, "BAD_DIR", "a pod needs a workspace: give a directory")
	}
	found, err := findPlaces(spec, before)
	return found.resolve, err
}

// Open gives a loaded pod its workspace.
func (all *Workspaces) Open(p item.Pod, above func() ([]item.Pod, error)) (pod.Workspace, error) {
	w := &Workspace{all: all, id: p.ID, name: p.Name, above: above, spec: p.Spec}
	book, err := w.rulesOf(p.Spec, nil)
	if err != nil {
		return nil, err
	}
	w.rules.Store(book)
	return w, nil
}

// Remove removes the spooled output of a pod that was deleted.
func (all *Workspaces) Remove(id string) error { return all.spool.Remove(id) }

// foreign says whether a tool's name is that of one of another program, and gives it
// without the prefix.
func (all *Workspaces) foreign(name string) (rest string, ok bool) {
	if all.ForeignPrefix == "" {
		return name, false
	}
	return strings.CutPrefix(name, all.ForeignPrefix)
}
