package daemon

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"podd/internal/config"
	"podd/internal/endpoints/dial"
	"podd/internal/server"
	"podd/pkg/item"
)

// loaded is a configuration in effect.
type loaded struct {
	config.Config
	// endpoints answer the requests of pods.
	endpoints *dial.Set
	// file is where it is from; empty without a file.
	file string
	// at is when it was read.
	at time.Time
	// needRestart are the keys whose values differ from those at the start and apply after a
	// restart.
	needRestart []string
	// refused is why podd rejected a later one; empty otherwise.
	refused string
}

// reloadable are the keys and tables that apply without a restart; fixed are the
// exceptions below them. Any other key needs a restart.
var (
	reloadable = []string{
		"model", "endpoint", "endpoints", "options", "models", "fallback_models", "api", "base_url", "api_key", "images", "instructions", "base_instructions", "ask", "rule", "interceptor", "hook", "hooks", "reconcile", "mcp",
		"limits", "tool_output", "summarize", "file_refs", "prune", "compaction", "prices",
	}
	fixed = []string{"tool_output.spool_bytes", "tool_output.spool_age"}
)

// needsRestart says whether a key applies only after a restart.
func needsRestart(key string) bool {
	in := func(name string) bool { return key == name || strings.HasPrefix(key, name+".") }
	return slices.ContainsFunc(fixed, in) || !slices.ContainsFunc(reloadable, in)
}

// Reload reads the configuration again. It rejects an invalid one with an error and an
// alert, and the old one stays in effect. Of a valid one it applies the reloadable keys;
// see pod.Host.Reload and workspace.Workspaces.Reload for when pods follow.
func (d *Daemon) Reload(ctx context.Context) (server.Reloaded, error) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	d.Manager.Reloading()
	defer func() { d.Manager.Ready(d.readyStatus()) }()
	if d.Reread == nil {
		return server.Reloaded{}, item.Errorf(item.KindPrecondition, "NO_CONFIG", "this podd started without a configuration file that it can reload")
	}
	before := d.loaded.Load()
	next, reloaded, err := d.reload(ctx, before)
	if err != nil {
		d.refuse(before, err)
		return server.Reloaded{}, err
	}
	d.loaded.Store(next)
	d.mcp.Keep()
	before.endpoints.Close(next.endpoints)
	// A running turn still uses those that are gone.
	d.undo = append(d.undo, func() { before.endpoints.Close(next.endpoints) })
	reloaded.Warnings = d.warnNames(append(next.hidden(d.host.Settings().Models), next.doubts(ctx, reloaded.Keys, d.host.Settings().Models)...))
	d.Logger.Info("configuration reloaded", "changed", strings.Join(reloaded.Keys, ", "), "need_restart", strings.Join(reloaded.NeedRestart, ", "))
	return reloaded, nil
}

// readyStatus is what the service manager shows while podd answers.
func (d *Daemon) readyStatus() string {
	if refused := d.loaded.Load().refused; refused != "" {
		return d.secrets.Redact("answers; the configuration was not reloaded: " + refused)
	}
	return "answers at " + d.Socket
}

// reload reads and applies the configuration; on error the current one stays.
func (d *Daemon) reload(ctx context.Context, before *loaded) (*loaded, server.Reloaded, error) {
	c, err := d.Reread()
	if err != nil {
		return nil, server.Reloaded{}, err
	}
	if c.APIKeyFile != d.Settings.APIKeyFile {
		// A new key file is hidden from tools only after a restart.
		c.KeepKey(before.Config)
	}
	hidden := hiddenPaths(d.Config)
	unread := c.KeepEndpointsOf(before.Config, func(path string) bool { return isHidden(hidden, path) })
	next := &loaded{Config: c, file: d.ConfigFile, at: time.Now()}
	if _, err := os.Stat(d.ConfigPath); err == nil {
		next.file = d.ConfigPath
	}
	inWorkspaces, err := d.workspaceSettings(c)
	if err != nil {
		return nil, server.Reloaded{}, err
	}
	use, err := d.workspaces.Reload(inWorkspaces)
	if err != nil {
		return nil, server.Reloaded{}, err
	}
	settings, err := d.settings(next, before)
	if err != nil {
		return nil, server.Reloaded{}, err
	}
	if err := d.follow(ctx, settings, c.MaxCostPerDay); err != nil {
		return nil, server.Reloaded{}, err
	}
	use()
	changed := slices.DeleteFunc(config.Changed(before.Config, c), needsRestart)
	next.needRestart = append(slices.DeleteFunc(config.Changed(d.Settings, c), func(key string) bool { return !needsRestart(key) }), unread...)
	return next, server.Reloaded{Keys: changed, NeedRestart: next.needRestart}, nil
}

// refuse keeps the current configuration, logs why and raises an alert.
func (d *Daemon) refuse(before *loaded, cause error) {
	if item.KindOf(cause) == item.KindUnavailable {
		return // podd is stopping.
	}
	l := *before
	l.refused = cause.Error()
	d.loaded.Store(&l)
	d.Logger.Error("configuration not reloaded; still using the previous one", "error", cause)
	d.host.Alerts.Raise(item.LevelError, "config", fmt.Sprintf("the configuration was not reloaded; still using the previous one: %v", cause))
}

// reloads calls Reload for each Hangup until ctx ends.
func (d *Daemon) reloads(ctx context.Context) {
	for {
		select {
		case <-d.Hangup:
			// Reload has logged its error and raised an alert.
			_, _ = d.Reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}
