package daemon

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"podd/internal/checkouts"
	"podd/internal/commands/launcher"
	"podd/internal/commands/shim"
	"podd/internal/config"
	"podd/internal/extend/claude"
	"podd/internal/extend/extern"
	"podd/internal/extend/mcp"
	"podd/internal/extend/plugin"
	"podd/internal/files"
	"podd/internal/fleet"
	"podd/internal/guard/sandbox"
	"podd/internal/guard/secrets"
	"podd/internal/guard/spending"
	"podd/internal/guard/trust"
	"podd/internal/imports"
	"podd/internal/letters"
	"podd/internal/ops/metrics"
	"podd/internal/ops/systemd"
	"podd/internal/ops/traces"
	"podd/internal/questions"
	"podd/internal/search"
	"podd/internal/server"
	"podd/internal/shell"
	"podd/internal/subpods"
	"podd/internal/trash"
	"podd/internal/triggers"
	"podd/internal/workspace"
	"podd/internal/workspace/briefing"
	"podd/pkg/item"
	"podd/pkg/paths"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/socket"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/version"
)

// DefaultGrace is how long running turns have to reach a step boundary when podd stops.
const DefaultGrace = 10 * time.Second

// Config is the configuration of a Daemon. Settings, Socket, StateDir and Logger are
// required.
type Config struct {
	Settings config.Config
	// Reread reads the settings again; nil means that they never change. Hangup and clients
	// request it; a nil Hangup never does.
	Reread func() (config.Config, error)
	Hangup <-chan os.Signal
	// ConfigFile is the file of Settings; empty when there is no file.
	ConfigFile string
	// ConfigPath is where the configuration file is or would be; empty when it has no place.
	// File tools of pods cannot reach it.
	ConfigPath string
	// Socket is the path to listen at.
	Socket string
	// Adopted is the socket at that path from the service manager; nil means that podd makes
	// its own.
	Adopted *os.File
	// DebugSocket serves metrics and profiles; empty means that podd does not serve them.
	DebugSocket string
	// Manager receives podd's state; nil without a service manager.
	Manager *systemd.Manager
	// StateDir holds everything that podd keeps; Open creates it.
	StateDir string
	// TrustDir is the state directory whose record of trusted directories applies; empty means StateDir.
	TrustDir string
	// Hidden are further paths that are hidden from tools, like podd's own.
	Hidden []string
	// Grace is how long running turns have to reach a step boundary when podd stops; default
	// DefaultGrace.
	Grace time.Duration
	// Restarts says whether podd starts again at once: then commands and jobs run on when it ends. As long as
	// podd has not ended, Restarts may become false, and they end after all. nil means no.
	Restarts func() bool
	// Checker is the command that checks a database; see keeper.Config.
	Checker []string
	// Now is the clock of the pods; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
}

// Daemon is a podd that is ready to serve.
type Daemon struct {
	Config
	storage
	host *pod.Host
	// trash, checkouts, files, jobs, letters, subPods and triggers are wings of the host.
	trash     *trash.Trash
	checkouts *checkouts.Checkouts
	files     *files.Files
	jobs      *shell.Wing
	letters   *letters.Letters
	search    *search.Searcher
	triggers  *triggers.Wing
	subPods   *subpods.Wing
	// workspaces are the host's workspaces.
	workspaces *workspace.Workspaces
	server     *server.Server
	socket     *socket.Listener
	// secrets are removed from the log, from results of tools and from errors.
	secrets *secrets.Set
	// trust records which workspaces' configuration is trusted.
	trust *trust.Book
	// sandbox confines shell commands; detected waits until its kind is known.
	sandbox  *sandbox.Sandbox
	detected func() *sandbox.Sandbox
	// launcher is known when the sandbox is; withoutLauncher says why there is none.
	launcher        *launcher.Launcher
	withoutLauncher error
	// starter starts shell commands; nil means as children of podd.
	starter *shim.Client
	// recorder counts what pods do; nil without a debug socket.
	recorder *metrics.Recorder
	// tracer sends spans; nil without a collector.
	tracer *traces.Tracer
	// runner runs the commands of interceptors and hooks.
	runner *extern.Runner
	// claude asks the hooks of Claude Code; hookCache has the user's own.
	claude    *claude.Hooks
	hookCache hookCache
	// plugins are the plugins that a person added.
	plugins *plugin.Book
	// mcp runs MCP servers.
	mcp *mcp.Manager
	// loaded is the current configuration; reloading guards its replacement.
	loaded    atomic.Pointer[loaded]
	reloading sync.Mutex
	life
	// spending bounds what all pods spend on a day.
	spending *spending.Spending
	// models is the catalogue of models in use.
	models models
	webSide
	// hooks is where webhooks arrive; nil for nowhere.
	hooks    *triggers.Listener
	webhooks triggers.Webhooks
	// undo has the functions that release what Open acquired, in order.
	undo []func()
}

// storage is what keeps the pods.
type storage struct {
	keeper storeKeeper
	store  store.Store
	// fleet shares the pods with other podd; nil for a podd that has its store alone.
	fleet *fleet.Fleet
}

// life is the time of a Daemon.
type life struct {
	started time.Time
	// leaving is closed when podd begins to stop.
	leaving chan struct{}
	// failed says that podd could not start.
	failed bool
}

// Open acquires what podd needs and recovers its pods. On error it releases what it
// acquired.
func Open(ctx context.Context, c Config) (*Daemon, error) {
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	if c.Restarts == nil {
		c.Restarts = func() bool { return false }
	}
	d := &Daemon{Config: c, life: life{started: time.Now(), leaving: make(chan struct{})}, secrets: secrets.New()}
	for _, e := range c.Settings.AllEndpoints() {
		d.learn(e.Name, e.Secrets()...)
	}
	d.secrets.Add(traces.Secrets(os.Getenv)...)
	d.Logger = slog.New(d.secrets.Handler(c.Logger.Handler()))
	if err := d.open(ctx); err != nil {
		d.failed = ctx.Err() == nil
		d.Close(ctx)
		return nil, err
	}
	return d, nil
}

func (d *Daemon) open(ctx context.Context) error {
	token, err := d.openState(ctx)
	if err != nil {
		return err
	}
	if err := d.openExtensions(ctx); err != nil {
		return err
	}
	if err := d.openTraces(ctx); err != nil {
		return err
	}
	d.openRecorder()
	d.search = search.New(d.store)
	if err := d.openMCP(ctx); err != nil {
		return err
	}
	if err := d.openHost(ctx); err != nil {
		return err
	}
	d.server = server.New(server.Config{
		Host: d.host, Trash: d.trash, Checkouts: d.checkouts, Files: d.files, Letters: d.letters, Token: token, Status: d.status, Reload: d.Reload, Catalog: d.refreshCatalog, Offers: d.offers, Doubt: d.doubt, Branch: branch, Keeper: d.keeper, Trust: d.trust, Services: []func(server.Registrar){d.checkouts.Register, d.files.Register, d.jobs.Register, imports.Open(imports.Config{Host: d.host, Redactor: d.secrets}).Register, d.letters.Register, d.triggers.Register, d.registerMCP, d.plugins.Register}, Search: d.search, Redact: d.secrets.Redact, Logger: d.Logger, Fleet: d.fleet,
		Devices: d.devices, Page: d.page(d),
	})
	if err := d.serveDebug(ctx); err != nil {
		return err
	}
	d.warnNames(d.loaded.Load().hidden(d.host.Settings().Models))
	if d.models.damaged != "" {
		d.host.Alerts.Raise(item.LevelWarn, "models", d.models.damaged)
	}
	return d.host.Recover(ctx)
}

// openState opens the state directory, the socket and the store.
func (d *Daemon) openState(ctx context.Context) (token string, err error) {
	if err := paths.EnsurePrivateDir(d.StateDir); err != nil {
		return "", err
	}
	lock, err := paths.LockStateDir(d.StateDir)
	if err != nil {
		return "", err
	}
	d.undo = append(d.undo, lock.Release, d.endLeft)
	d.detectSandbox(ctx)
	if d.socket, err = d.listen(ctx); err != nil {
		return "", err
	}
	d.undo = append(d.undo, func() { _ = d.socket.Close() })
	token, err = paths.EnsureToken(d.StateDir)
	if err != nil {
		return "", err
	}
	d.secrets.Add(token)
	if err := d.openWeb(ctx, d); err != nil {
		return "", err
	}
	if d.trust, err = trust.Open(cmp.Or(d.TrustDir, d.StateDir), hiddenPaths(d.Config), config.ParseProject); err != nil {
		return "", err
	}
	d.trust.Checkouts = checkoutDir(d.StateDir)
	if d.plugins, err = plugin.Open(cmp.Or(d.TrustDir, d.StateDir)); err != nil {
		return "", err
	}
	if err := d.openStore(ctx); err != nil {
		return "", err
	}
	if err := d.openWebhooks(ctx); err != nil {
		return "", err
	}
	return token, d.openSpending()
}

func (d *Daemon) listen(ctx context.Context) (*socket.Listener, error) {
	if d.Adopted != nil {
		return socket.Adopt(d.Adopted)
	}
	return socket.Listen(ctx, d.Socket)
}

// openHost opens the pods. settings makes what a reload can change; the rest is set here.
func (d *Daemon) openHost(ctx context.Context) error {
	d.models = openModels(d.StateDir, d.Logger)
	first := &loaded{Config: d.Settings, file: d.ConfigFile, at: d.started}
	inWorkspaces, err := d.workspaceSettings(first.Config)
	if err != nil {
		return err
	}
	settings, err := d.settings(first, nil)
	if err != nil {
		return err
	}
	use, _, err := d.spending.Prepare(ctx, d.Settings.MaxCostPerDay, settings.Models)
	if err != nil {
		return err
	}
	use()
	d.loaded.Store(first)
	d.sandbox = d.detected()
	d.openStarter()
	d.undo = append(d.undo, func() { d.loaded.Load().endpoints.Close(nil) })
	jobs := d.Settings.Jobs
	jobs.Dir = filepath.Join(d.StateDir, "jobs")
	if err := os.MkdirAll(jobs.Dir, 0o700); err != nil {
		return err
	}
	d.workspaces, err = workspace.New(workspace.Config{
		SpoolDir:   spoolDir(d.StateDir),
		SpoolBytes: d.Settings.SpoolBytes,
		SpoolAge:   d.Settings.SpoolAge,
		Scrub:      d.secrets.ScrubFile,
		Hidden:     hiddenPaths(d.Config),
		Project:    d.project,
		Shell:      d.shell(),
		Jobs:       jobs,
		SubPods:    subpods.Tools(func() *subpods.Wing { return d.subPods }),
		AskUser:    questions.Tool(),
		Letters:    func(id string) tool.Tool { return d.letters.Tool(id) }, History: d.search.Tool,
		Named: d.namedTools(),

		CheckpointDir: filepath.Join(d.StateDir, "checkpoints"),
		CacheDir:      filepath.Join(d.StateDir, "caches"),
		Node:          d.fleet.NodeName(),
		Movable:       d.fleet.Movable,
		CheckoutDir:   checkoutDir(d.StateDir),
		Home:          homeDir(),
		SkillsDirs:    d.skillsDirs, PromptsDirs: promptsDirs(d.ConfigPath, homeDir()), InstructionsFile: beside(d.ConfigPath, "AGENTS.md"),
		ForeignPrefix: mcp.Prefix,
		Logger:        d.Logger,
	}, inWorkspaces)
	if err != nil {
		return err
	}
	d.undo = append(d.undo, d.workspaces.Close)
	d.host, err = pod.NewHost(ctx, pod.Config{
		Settings: settings,
		Fixed:    pod.Fixed{Store: d.store, Workspaces: d.workspaces, Grace: d.Grace, Node: d.fleet.NodeName(), Logger: d.Logger, Now: d.Now},
	})
	if err == nil {
		d.openWings(ctx)
	}
	return err
}

// namedTools are the tools that a pod has only if its spec or a rule names them.
func (d *Daemon) namedTools() map[string]func(id string) tool.Tool {
	return map[string]func(string) tool.Tool{triggers.ToolName: func(id string) tool.Tool { return d.triggers.Tool(id) }}
}

// openWings opens the wings of the host.
func (d *Daemon) openWings(ctx context.Context) {
	d.trash = trash.Open(trash.Config{Host: d.host, For: d.Settings.Retention.Trash})
	d.checkouts = checkouts.Open(ctx, checkouts.Config{Host: d.host, Trash: d.trash, Git: d.workspaces.Checkouts(), Files: d.workspaces.Stores()})
	d.files = files.Open(files.Config{Host: d.host, Stores: d.workspaces.Stores(), Checkouts: d.workspaces.Checkouts(), Alone: server.ReachesSome, Redact: d.secrets.Redact})
	d.jobs = shell.Open(shell.WingConfig{Host: d.host, Jobs: d.workspaces.Jobs(), Redact: d.secrets.Redact})
	d.letters = letters.Open(ctx, letters.Config{Host: d.host, Send: d.fleet.Unary})
	d.undo = append(d.undo, d.letters.Close)
	d.subPods = subpods.Open(subpods.Config{Host: d.host, Letters: d.letters})
	d.triggers = triggers.Open(triggers.Config{Host: d.host, Checkouts: d.checkouts, Webhooks: d.webhooks, Now: d.Now})
	d.fleet.Attach(d.host)
}

// homeDir is the person's home directory by its real path; empty if the user has none.
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return ""
	}
	return home
}

// branch is the branch of a directory; empty without one.
func branch(dir string) string {
	fs, err := scopefs.Open(scopefs.Config{Dir: dir})
	if err != nil {
		return ""
	}
	defer fs.Close()
	return briefing.HeadOf(fs).Branch
}

func (d *Daemon) status() server.Status {
	l := d.loaded.Load()
	return server.Status{
		Node: d.fleet.NodeName(), Lease: d.fleet.Lease(),
		Version:   version.String(),
		PID:       os.Getpid(),
		StartedAt: d.started,
		Socket:    d.Socket,
		StateDir:  d.StateDir,
		Store:     d.keeper.Where(),
		Config:    l.file,
		Sandbox:   d.sandbox.Mode(), SandboxNote: d.sandbox.Why(),
		ShellCommands: d.sandbox.Fate(), HiddenCredentials: d.sandbox.Credentials(), Network: d.sandbox.ReachesNetwork(),
		LauncherNote: note(d.withoutLauncher),
		Ask:          l.Ask,
		Model:        l.Pods.Model.String(),
		Others:       l.others(),
		Endpoint:     l.Endpoint,
		Endpoints:    l.endpoints.List(),

		ConfigLoadedAt: l.at,
		NeedRestart:    l.needRestart,
		Spending:       d.spending.Status(),
		ConfigError:    l.refused,
	}
}

// Serve answers clients until ctx ends, then drains: podd accepts nothing new, running
// turns end at their next step boundary, and streams, connections and the store close.
// Closing hurry cuts the drain short. Serve may be called once. It returns an error when
// podd ended for another reason than ctx, for example because the store failed.
func (d *Daemon) Serve(ctx context.Context, hurry <-chan struct{}) error {
	defer d.release()
	stop := d.housekeeping(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(d.socket) }()
	nodesServed := d.fleet.Serve(d.server.ServeNodes)
	defer func() { <-nodesServed }()
	webServed := d.serveWeb(d.server, d.Logger)
	defer func() { <-webServed }()
	hooksServed := d.serveWebhooks()
	defer func() { <-hooksServed }()
	d.logSandbox()
	d.Manager.Ready(d.readyStatus())
	d.Logger.Info("podd ready", "socket", d.Socket, "pid", os.Getpid(), "version", version.String())

	var cause error
	serving := true
	select {
	case <-ctx.Done():
	case <-d.store.Failed():
		cause = d.keeper.Failure()
		if d.fleet != nil {
			hurry = d.store.Failed() // Its pods may be another node's.
		}
	case err := <-served:
		serving = false
		cause = fmt.Errorf("cannot serve the socket: %w", err)
	}
	d.drain(ctx, hurry)
	if serving {
		if err := <-served; err != nil && cause == nil {
			cause = fmt.Errorf("cannot serve the socket: %w", err)
		}
	}
	d.Logger.Info("podd stopped")
	return cause
}

// drain ends turns, then streams, then connections.
func (d *Daemon) drain(ctx context.Context, hurry <-chan struct{}) {
	d.Logger.Info("podd is stopping", "grace", d.Grace)
	close(d.leaving)
	d.fleet.Leave()
	d.Manager.Stopping("running turns end at their next step")
	d.server.Drain()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.Grace)
	defer cancel()
	drained := make(chan struct{})
	go func() {
		select {
		case <-hurry:
			cancel()
		case <-drained:
		}
	}()
	defer close(drained)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		d.closeHost(grace)
	}()
	d.fleet.GiveUp(ctx, closed)
	<-closed
	d.hooks.Close()
	stop, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancelStop()
	d.server.Stop(stop)
}

// leaves says whether commands and jobs run on for the next podd: this one restarts, or could not start.
func (d *Daemon) leaves() bool { return d.failed || d.Restarts() }

// closeHost ends the pods.
func (d *Daemon) closeHost(ctx context.Context) {
	if !d.leaves() {
		d.host.Close(ctx)
		return
	}
	d.host.Restart(ctx)
	d.workspaces.Restart()
}

// endLeft ends what runs although no podd is to follow: what this one left when it was still to restart, and what
// it had not taken over from the one before.
func (d *Daemon) endLeft() {
	if d.leaves() {
		return
	}
	if running, err := shell.EndLeft(spoolDir(d.StateDir)); err != nil || running > 0 {
		d.Logger.Error("commands may still run", "processes", running, "error", err)
	}
}

// Close releases what Open acquired, for a Daemon that is not served.
func (d *Daemon) Close(ctx context.Context) {
	if d.host != nil {
		d.closeHost(ctx)
	}
	if d.server != nil {
		d.server.Stop(ctx)
	}
	d.release()
}

// release undoes Open in reverse.
func (d *Daemon) release() {
	for i := len(d.undo) - 1; i >= 0; i-- {
		d.undo[i]()
	}
	d.undo = nil
}
