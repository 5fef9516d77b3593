package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"podd/internal/config"
	"podd/internal/keeper"
	"podd/internal/paths"
	"podd/internal/policy"
	"podd/internal/sandbox"
	"podd/internal/secrets"
	"podd/internal/server"
	"podd/internal/socket"
	"podd/internal/version"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/openai"
	"podd/pkg/pod"
	"podd/pkg/projection"
	"podd/pkg/scopefs"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/worker"
)

// DefaultGrace is how long running turns have to reach a step boundary when podd is
// told to stop.
const DefaultGrace = 10 * time.Second

// Config is what a Daemon works with. Settings, Socket, StateDir and Logger are
// required.
type Config struct {
	Settings config.Config
	// ConfigFile is where Settings came from; empty when there is no file.
	ConfigFile string
	// ConfigPath is where the configuration file is or would be; empty when there is
	// no place for one. No pod's file tools reach it.
	ConfigPath string
	// Socket is the path to listen at.
	Socket string
	// StateDir holds everything that is kept; it is made when it is missing.
	StateDir string
	// Grace is how long running turns have to reach a step boundary at the end;
	// default DefaultGrace.
	Grace time.Duration
	// Checker is the command that checks a database; see keeper.Config.
	Checker []string
	Logger  *slog.Logger
}

// KeeperConfig is what of c concerns the file of the store.
func KeeperConfig(c Config) keeper.Config {
	s := c.Settings
	return keeper.Config{
		Dir:      c.StateDir,
		MaxBytes: s.Store.MaxBytes,
		Schedule: keeper.Schedule{Every: s.Snapshots.Every, Keep: s.Snapshots.Keep, Age: s.Snapshots.Age},
		Checker:  c.Checker,
		Logger:   c.Logger,
	}
}

// Daemon is a podd that is ready to serve.
type Daemon struct {
	Config
	keeper *keeper.Keeper
	store  store.Store
	model  *openai.Client
	host   *pod.Host
	server *server.Server
	socket *socket.Listener
	// secrets are kept out of the log, of what tools answer and of errors.
	secrets *secrets.Set
	// sandbox is what shell commands run in.
	sandbox *sandbox.Sandbox
	// interceptors and hooks are the configured commands.
	interceptors []interceptor.Interceptor
	hooks        []hook.Hook
	// undo holds what gives back each thing that Open took, in order.
	undo []func()
}

// Open takes what a podd needs and recovers its pods. On error it gives back what
// it took.
func Open(ctx context.Context, c Config) (*Daemon, error) {
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	d := &Daemon{Config: c, secrets: secrets.New(string(c.Settings.APIKey))}
	d.Logger = slog.New(d.secrets.Handler(c.Logger.Handler()))
	if err := d.open(ctx); err != nil {
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
	if err := d.openHost(ctx); err != nil {
		return err
	}
	d.server = server.New(server.Config{
		Host: d.host, Token: token, Status: d.status(), Keeper: d.keeper, Redact: d.secrets.Redact, Logger: d.Logger,
	})
	return d.host.Recover(ctx)
}

// openState takes the state directory, the socket and the store.
func (d *Daemon) openState(ctx context.Context) (token string, err error) {
	if err := paths.EnsurePrivateDir(d.StateDir); err != nil {
		return "", err
	}
	lock, err := paths.LockStateDir(d.StateDir)
	if err != nil {
		return "", err
	}
	d.undo = append(d.undo, lock.Release)
	if d.socket, err = socket.Listen(ctx, d.Socket); err != nil {
		return "", err
	}
	d.undo = append(d.undo, func() { _ = d.socket.Close() })
	token, err = paths.EnsureToken(d.StateDir)
	if err != nil {
		return "", err
	}
	d.secrets.Add(token)
	d.keeper, err = keeper.Open(ctx, KeeperConfig(d.Config))
	if err != nil {
		return "", err
	}
	d.store = d.keeper.Store()
	d.undo = append(d.undo, func() {
		if err := d.keeper.Close(); err != nil {
			d.Logger.Error("store did not close cleanly", "error", err)
		}
	})
	return token, nil
}

// checkSettings refuses limits of tools that there are not, and rules that can match no
// call.
func checkSettings(s config.Config) error {
	names := append(builtin.Names(), pod.SpawnTool)
	if err := s.CheckTools(names); err != nil {
		return err
	}
	rules, err := policy.New(s.Ask, s.Rules)
	if err != nil {
		return err
	}
	var tools []policy.Tool
	for _, name := range names {
		tools = append(tools, policy.Tool{Name: name, Paths: name != "shell" && name != "todo", Commands: name == "shell"})
	}
	return rules.CheckTools(tools)
}

// outputLimits are the limits of what tools answer, which also keep secrets out.
func (d *Daemon) outputLimits() (*tool.Limits, error) {
	c := d.Settings.ToolOutput
	c.Redactor = d.secrets
	return tool.NewLimits(c)
}

func summarizeRule(c config.Summarize) worker.Summarize {
	return worker.Summarize{
		Enabled: c.Enabled, Model: c.Model, Tools: c.Tools, MaxInputBytes: c.MaxInputBytes, TriggerBytes: c.TriggerBytes,
	}
}

func compactionRule(c config.Compaction) worker.Compaction {
	return worker.Compaction{Trigger: c.Trigger, KeepTokens: c.KeepTokens, Model: c.Model}
}

// openHost connects the model and opens the pods.
func (d *Daemon) openHost(ctx context.Context) (err error) {
	s := d.Settings
	if err := checkSettings(s); err != nil {
		return err
	}
	if err := d.openModel(); err != nil {
		return err
	}
	d.openSandbox(ctx)
	limits, err := d.outputLimits()
	if err != nil {
		return err
	}
	prices, err := modelPrices(s.Prices)
	if err != nil {
		return err
	}
	d.host, err = pod.NewHost(ctx, pod.Config{
		Store:          d.store,
		Model:          d.model,
		ModelName:      s.Model,
		Fallbacks:      s.FallbackModels,
		Instructions:   s.Instructions,
		SpoolDir:       filepath.Join(d.StateDir, "spool"),
		SpoolBytes:     s.Spool.MaxBytes,
		SpoolAge:       s.Spool.MaxAge,
		Hidden:         hiddenPaths(d.Config),
		Scrub:          d.secrets.ScrubFile,
		FileRefs:       scopefs.RefLimits{MaxBytes: s.FileRefs.MaxBytes, DirEntries: s.FileRefs.DirEntries},
		FileRefRole:    s.FileRefs.Role,
		ToolOutput:     limits,
		Ask:            s.Ask,
		Rules:          s.Rules,
		Shell:          d.shell(),
		Search:         searchBounds(s.Tools.Search),
		Tree:           builtin.Tree{Depth: s.Tools.RepoStructure.Depth, MaxEntries: s.Tools.RepoStructure.MaxEntries},
		ListDir:        builtin.Listing{MaxEntries: s.Tools.ListDir.MaxEntries},
		Glob:           builtin.Listing{MaxEntries: s.Tools.Glob.MaxEntries},
		MaxInbox:       s.Limits.MaxInbox,
		MaxSubmitBytes: s.Limits.MaxSubmitBytes,
		Prune:          pruneRule(s.Prune),
		Prices:         prices,
		Summarize:      summarizeRule(s.Summarize),
		Compaction:     compactionRule(s.Compaction),
		Limits:         turnLimits(s.Limits),
		Interceptors:   d.interceptors,
		Hooks:          d.hooks,
		Logger:         d.Logger,
	})
	return err
}

func pruneRule(p config.Prune) projection.Config {
	return projection.Config{
		Mode:     projection.Mode(p.Mode),
		Turns:    projection.TurnsConfig{Protected: p.ProtectedTurns, MinSavings: p.MinSavings},
		Economic: projection.EconomicConfig{MinGain: float64(p.MinGain)},
	}
}

func turnLimits(l config.Limits) worker.Limits {
	return worker.Limits{
		MaxSteps: l.MaxSteps, MaxToolCalls: l.MaxToolCalls, MaxTime: l.MaxTurnTime, MaxParallel: l.MaxParallelCalls,
		MaxTokens: l.MaxTokens, MaxCost: l.MaxCost,
	}
}

// openModel connects the model.
func (d *Daemon) openModel() (err error) {
	s := d.Settings
	d.model, err = openai.New(openai.Config{
		BaseURL: s.BaseURL, APIKey: string(s.APIKey), API: s.API, UserAgent: "podd/" + version.String(), Logger: d.Logger,
	})
	if err == nil {
		d.undo = append(d.undo, d.model.Close)
	}
	return err
}

// searchBounds says that no context is none, and not the default.
func searchBounds(s config.Search) builtin.Search {
	if s.Context == 0 {
		s.Context = -1
	}
	return builtin.Search{MaxMatches: s.MaxMatches, Context: s.Context, MaxLineBytes: s.MaxLineBytes}
}

// modelPrices are configured prices as ratios, and in money.
func modelPrices(configured map[string]config.Price) ([]projection.ModelPrice, error) {
	var prices []projection.ModelPrice
	for _, model := range slices.Sorted(maps.Keys(configured)) {
		p := configured[model]
		money := projection.Money{Input: p.Input, CachedInput: p.CachedInput, CacheWrite: p.CacheWrite, Output: p.Output, TTL: p.CacheTTL}
		ratios, err := money.Ratios()
		if err != nil {
			return nil, fmt.Errorf("prices of %s: %w", model, err)
		}
		prices = append(prices, projection.ModelPrice{Model: model, Price: ratios, Money: money})
	}
	return prices, nil
}

func (d *Daemon) status() server.Status {
	s := d.Settings
	return server.Status{
		Version:   version.String(),
		PID:       os.Getpid(),
		StartedAt: time.Now(),
		Socket:    d.Socket,
		StateDir:  d.StateDir,
		Config:    d.ConfigFile,
		Sandbox:   string(d.sandbox.Mode()), SandboxNote: d.sandbox.Why(),
		Model:   s.Model,
		BaseURL: s.BaseURL,
		API:     d.model.API(),
		HasKey:  s.APIKey != "",
	}
}

// Serve answers clients until ctx ends, then drains: nothing new is taken, running
// turns end at their next step boundary, streams end, connections close, the store
// closes. Closing hurry cuts the drain short. It is called once, and returns an
// error when podd ended for another reason than ctx: the store failed, say.
func (d *Daemon) Serve(ctx context.Context, hurry <-chan struct{}) error {
	defer d.release()
	stop := d.housekeeping(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(d.socket) }()
	d.tellSandbox()
	d.Logger.Info("podd ready", "socket", d.Socket, "pid", os.Getpid(), "version", version.String())

	var cause error
	serving := true
	select {
	case <-ctx.Done():
	case <-d.store.Failed():
		cause = item.Errorf(item.KindUnavailable, "STORE_FAILED",
			"the store failed and what it wrote last is unknown: podd stops, and reads what is true at its next start")
	case err := <-served:
		serving = false
		cause = fmt.Errorf("the socket could not be served: %w", err)
	}
	d.drain(ctx, hurry)
	if serving {
		if err := <-served; err != nil && cause == nil {
			cause = fmt.Errorf("the socket could not be served: %w", err)
		}
	}
	d.Logger.Info("podd stopped")
	return cause
}

// drain ends turns, then streams, then connections.
func (d *Daemon) drain(ctx context.Context, hurry <-chan struct{}) {
	d.Logger.Info("podd is stopping", "grace", d.Grace)
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
	d.host.Close(grace)
	stop, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancelStop()
	d.server.Stop(stop)
}

// Close gives back what Open took, for a Daemon that is not served.
func (d *Daemon) Close(ctx context.Context) {
	if d.host != nil {
		d.host.Close(ctx)
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
