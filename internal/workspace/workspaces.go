package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"podd/internal/commands/process"
	"podd/internal/files"
	"podd/internal/guard/policy"
	"podd/internal/shell"
	"podd/internal/tools/builtin"
	"podd/internal/workspace/briefing"
	"podd/internal/workspace/checkout"
	"podd/internal/workspace/picture"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/scratch"
	"podd/pkg/tool/spool"
)

// Config is the part of the configuration that never changes. SpoolDir is required; other
// zero fields mean their documented default.
type Config struct {
	// SpoolDir has the full text of cut tool outputs and the output of running commands; one
	// folder per pod.
	SpoolDir string
	// SpoolBytes and SpoolAge bound its content; see spool.Config.
	SpoolBytes int64
	SpoolAge   time.Duration
	// Scrub removes secrets from a spool file; see spool.Config.
	Scrub func(path string) error
	// Hidden are podd's own files and directories, which no pod's file tools reach; see
	// scopefs.Config. A pod's own spool folder stays readable.
	Hidden []string
	// Project reads what a workspace's configuration adds, as far as a person trusts it; nil
	// reads none. It is called when a turn begins.
	Project func(dir string) Project
	// Shell sets up the shell tool.
	Shell shell.Config
	// Jobs bounds background commands; its Runner is not used.
	Jobs shell.JobsConfig
	// Tools are offered in addition to the built-in ones.
	Tools []tool.Tool
	// SubPods makes the tools of a pod that may spawn others and has depth pods above it; nil
	// means that no pod may. Package subpods has it.
	SubPods func(parent item.Pod, depth int, files *scopefs.FS) (beside func(tools []string, agents []skills.Agent) []tool.Tool)
	// AskUser is offered to pods whose mode lets calls ask a person; nil is not offered. Package questions has it.
	AskUser tool.Tool
	// Letters makes the tool by which a pod, by its id, writes to others; nil means that no pod does. Package letters has it.
	Letters func(id string) tool.Tool
	// History makes the tool by which a pod, by its id, looks into its own log; nil offers none.
	History func(id string) tool.Tool
	// Named makes the tools, by their names, that a pod, by its id, has only if its spec or a rule names them.
	Named map[string]func(id string) tool.Tool
	// SkillsDirs have the user's skills, which all pods may read, the preferred ones first. Some
	// may be missing; nil means none.
	SkillsDirs func() []skills.Dir
	// PromptsDirs have the user's prompts, the preferred ones first.
	PromptsDirs []string
	// InstructionsFile has the user's instructions for all pods; a missing one is empty.
	InstructionsFile string
	// ForeignPrefix begins the names of the tools of other programs, which come and go with
	// the Project; empty means that no such tools exist.
	ForeignPrefix string
	// CheckpointDir has what the files of workspaces were; empty keeps nothing.
	CheckpointDir string
	// CacheDir has the caches that the commands of a workspace share. It should be in a hidden
	// directory, which must exist; empty leaves each pod its own, in its /tmp.
	CacheDir string
	// Node is the name of this node, which has them; empty if one podd has all pods.
	Node string
	// Movable says whether another node may take over a pod with this spec: then what its tools do
	// ends with Shell.Lease. nil means no.
	Movable func(spec item.PodSpec) bool
	// CheckoutDir has the checkouts that podd makes for pods; empty makes none. It may be in a
	// hidden directory.
	CheckoutDir string
	// Home is the person's home directory by its real path; may be empty. There only the files
	// that tools name are kept.
	Home string
	// Logger gets messages for the operator; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Settings are the part that Reload can replace. The zero value means the documented
// defaults. A Settings does not change once Workspaces have it.
type Settings struct {
	// FileRefs bounds what an @path adds to a submit.
	FileRefs scopefs.RefLimits
	// ToolOutput bounds results of tools; nil means the default limits.
	ToolOutput *tool.Limits
	// Search, Tree, ListDir and Glob bound built-in tools; see builtin.Config.
	Search  builtin.Search
	Tree    builtin.Tree
	ListDir builtin.Listing
	Glob    builtin.Listing
	// Ask says when calls of pods without a mode of their own ask a person: never, risky
	// (the default) or always. Rules apply to calls of all pods.
	Ask   string
	Rules []item.Rule
	// BaseInstructions are for pods that name none: builtin (the default), none, or the
	// absolute path of a file; see briefing.Base.
	BaseInstructions string
}

// Workspaces are those of all pods. Their methods may be called from any goroutine.
type Workspaces struct {
	Config
	current atomic.Pointer[Settings]
	spool   *spool.Spool
	// boot identifies this boot of the machine with the directory of the spool; empty if unknown.
	boot string
	// caches are nil without CacheDir.
	caches *scratch.Caches
	jobs   *shell.Jobs
	// stores are nil without CheckpointDir.
	stores *files.Stores
	// checkouts are nil without CheckoutDir.
	checkouts *checkout.Checkouts
}

var _ pod.Workspaces = (*Workspaces)(nil)

// bootOf identifies this boot of the machine with a directory: another podd on the machine has another one.
func bootOf(dir string) string {
	info, err := os.Stat(dir)
	if err != nil || process.Boot() == "" {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s-%x-%x", process.Boot(), st.Dev, st.Ino)
}

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
	outputs, err := spool.Open(spool.Config{Dir: c.SpoolDir, MaxBytes: c.SpoolBytes, MaxAge: c.SpoolAge, Logger: c.Logger, Now: c.Now, Scrub: c.Scrub})
	if err != nil {
		return nil, err
	}
	// Each turn names the shell to the model.
	c.Shell.Path = c.Shell.Program()
	all := &Workspaces{Config: c, spool: outputs, boot: bootOf(c.SpoolDir)}
	if c.CacheDir != "" {
		// Sandboxes mount it at its path, which they follow no link to.
		parent, err := filepath.EvalSymlinks(filepath.Dir(c.CacheDir))
		if err != nil {
			return nil, err
		}
		all.caches = &scratch.Caches{Dir: filepath.Join(parent, filepath.Base(c.CacheDir))}
	}
	if c.CheckpointDir != "" {
		all.stores = files.NewStores(files.StoreConfig{Dir: c.CheckpointDir, Node: c.Node, Hidden: c.Hidden, Home: c.Home, Now: c.Now})
	}
	if c.CheckoutDir != "" && c.Shell.Sandbox != nil {
		all.checkouts = openCheckouts(c)
	}
	c.Jobs.Runner = func(id string) (*shell.Runner, error) {
		folder, err := all.spool.Folder(id)
		if err != nil {
			return nil, err
		}
		return shell.New(all.Shell, all.place(id, folder)), nil
	}
	all.jobs = shell.NewJobs(c.Jobs)
	use, err := all.Reload(s)
	if err != nil {
		return nil, err
	}
	use()
	return all, nil
}

// Reload checks other settings. They apply once use is called: rules and the mode of
// asking from the next decision on, all else from a pod's next turn.
func (all *Workspaces) Reload(s Settings) (use func(), err error) {
	if s.Ask == "" {
		s.Ask = policy.Risky
	}
	if _, err := policy.New(s.Ask, s.Rules); err != nil {
		return nil, err
	}
	if _, err := briefing.Base(s.BaseInstructions); err != nil {
		return nil, item.Errorf(item.KindInvalid, "CONFIG", "%v", err)
	}
	return func() { all.current.Store(&s) }, nil
}

// settings are the current ones. One operation reads them once.
func (all *Workspaces) settings() *Settings { return all.current.Load() }

// Check refuses a spec that can't work; see [pod.Workspaces].
func (all *Workspaces) Check(spec, before item.PodSpec) (resolve func(spec, before item.PodSpec) item.PodSpec, err error) {
	if _, err := all.settings().policyOf(spec, nil); err != nil {
		return nil, err
	}
	if err := all.checkTools(spec.Tools, before.Tools); err != nil {
		return nil, err
	}
	if spec.BaseInstructions != before.BaseInstructions {
		if _, err := briefing.Base(spec.BaseInstructions); err != nil {
			return nil, item.Errorf(item.KindInvalid, "BASE_INSTRUCTIONS", "%v", err)
		}
	}
	if !slices.Contains([]string{"", item.NetworkOn, item.NetworkOff}, spec.Network) {
		return nil, item.Errorf(item.KindInvalid, "BAD_NETWORK", `network is %q: write "on" or "off", or leave it out to follow podd's configuration`, spec.Network)
	}
	if spec.Dir == "" {
		return nil, item.Errorf(item.KindInvalid, "BAD_DIR", "a pod needs a workspace: name a directory")
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

// Picture makes an image of the bytes of a file.
func (all *Workspaces) Picture(data []byte, name string) (item.Image, error) {
	return picture.Read(data, name)
}

// Jobs are the background commands of all pods.
func (all *Workspaces) Jobs() *shell.Jobs { return all.jobs }

// place is where a pod's commands run, as far as one that an earlier podd started needs it.
func (all *Workspaces) place(id string, folder *spool.Folder) shell.Place {
	return shell.Place{Shared: all.Node != "", Spool: folder, Caches: all.caches, Logger: all.Logger, Limits: all.settings().ToolOutput, Jobs: all.jobs.Of(id)}
}

// Abandon ends the commands of a pod whose log isn't read here, or the checks that a killed podd
// left. Their output stays.
func (all *Workspaces) Abandon(id string, checksOnly bool) {
	if checksOnly {
		all.jobs.EndChecks(id)
		return
	}
	all.jobs.Abandon(id)
}

// Leave ends the jobs of a pod that was deleted. Its spooled output stays.
func (all *Workspaces) Leave(id string) { all.jobs.Forget(id) }

// Remove removes the spooled output of a pod that was deleted, and ends its jobs.
func (all *Workspaces) Remove(id string) error {
	all.Leave(id)
	return all.spool.Remove(id)
}

// CleanTemps removes temporary files of pods that have not changed for as long as outputs are
// kept, and caches; see [scratch.Caches].
func (all *Workspaces) CleanTemps(ctx context.Context) error {
	all.spool.CleanTemps()
	if all.caches == nil {
		return nil
	}
	return all.caches.Clean(ctx)
}

// Restart lets the running jobs run on until podd has started again. Close must follow.
func (all *Workspaces) Restart() { all.jobs.Leave() }

// Close ends the running jobs. No pod is loaded any more.
func (all *Workspaces) Close() { all.jobs.Close() }

// foreign says whether a tool's name is that of another program's tool, and returns it
// without the prefix.
func (all *Workspaces) foreign(name string) (rest string, ok bool) {
	if all.ForeignPrefix == "" {
		return name, false
	}
	return strings.CutPrefix(name, all.ForeignPrefix)
}
