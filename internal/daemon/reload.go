package daemon

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"podd/internal/config"
	"podd/internal/server"
	"podd/pkg/item"
	"podd/pkg/llm/openai"
)

// loaded is a configuration that holds.
type loaded struct {
	config.Config
	// client talks to its endpoint.
	client *openai.Client
	// file is where it came from; empty when there was no file.
	file string
	// at is when it was read.
	at time.Time
	// needRestart are the keys that have other values than at the start, and count from
	// the next one on.
	needRestart []string
	// refused is why a later one was; empty when there was none.
	refused string
}

// reloadable are the keys, and the tables, that count without a restart; fixed are those
// below them that don't. A key that is in neither needs a restart.
var (
	reloadable = []string{
		"model", "fallback_models", "api", "base_url", "api_key", "instructions", "ask", "rule", "interceptor", "hook", "mcp",
		"limits", "tool_output", "summarize", "file_refs", "prune", "compaction", "prices",
	}
	fixed = []string{"tool_output.spool_bytes", "tool_output.spool_age"}
)

// needsRestart says whether a key counts from the next start on alone.
func needsRestart(key string) bool {
	in := func(name string) bool { return key == name || strings.HasPrefix(key, name+".") }
	return slices.ContainsFunc(fixed, in) || !slices.ContainsFunc(reloadable, in)
}

// Reload reads the configuration again. One that is wrong is refused with its sentence,
// as an alert too, and the old one holds on. Of a right one, what can be changed holds
// from now on: see pod.Host.Reload and
// workspace.Workspaces.Reload for when pods take it.
func (d *Daemon) Reload(context.Context) (server.Reloaded, error) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	d.Manager.Reloading()
	defer func() { d.Manager.Ready(d.readyStatus()) }()
	if d.Reread == nil {
		return server.Reloaded{}, item.Errorf(item.KindPrecondition, "NO_CONFIG", "this podd was started without a configuration that could be read again")
	}
	before := d.loaded.Load()
	next, reloaded, err := d.reload(before)
	if err != nil {
		d.refuse(before, err)
		return server.Reloaded{}, err
	}
	d.loaded.Store(next)
	if before.client != next.client {
		before.client.Close()
		// A turn that runs still uses it.
		d.undo = append(d.undo, before.client.Close)
	}
	d.Logger.Info("configuration reloaded", "changed", strings.Join(reloaded.Keys, ", "), "need_restart", strings.Join(reloaded.NeedRestart, ", "))
	return reloaded, nil
}

// readyStatus is what the service manager shows of a podd that answers.
func (d *Daemon) readyStatus() string {
	if refused := d.loaded.Load().refused; refused != "" {
		return d.secrets.Redact("answers; the configuration was not reloaded: " + refused)
	}
	return "answers at " + d.Socket
}

// reload makes a configuration of the file that holds, unless it is wrong.
func (d *Daemon) reload(before *loaded) (*loaded, server.Reloaded, error) {
	c, err := d.Reread()
	if err != nil {
		return nil, server.Reloaded{}, err
	}
	if c.APIKeyFile != d.Settings.APIKeyFile {
		// Another file of the key is hidden from tools from the next start on.
		c.KeepKey(before.Config)
	}
	d.secrets.Add(string(c.APIKey))
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
	if err := d.host.Reload(settings); err != nil {
		return nil, server.Reloaded{}, err
	}
	use()
	changed := slices.DeleteFunc(config.Changed(before.Config, c), needsRestart)
	next.needRestart = slices.DeleteFunc(config.Changed(d.Settings, c), func(key string) bool { return !needsRestart(key) })
	return next, server.Reloaded{Keys: changed, NeedRestart: next.needRestart}, nil
}

// refuse goes on with the configuration that held, and says so.
func (d *Daemon) refuse(before *loaded, cause error) {
	if item.KindOf(cause) == item.KindUnavailable {
		return // podd is stopping.
	}
	l := *before
	l.refused = cause.Error()
	d.loaded.Store(&l)
	d.Logger.Error("configuration not reloaded, the old one holds", "error", cause)
	d.host.Alerts.Raise(item.LevelError, "config", fmt.Sprintf("the configuration was not reloaded, and the one before it holds: %v", cause))
}

// reloads does what Hangup asks for, until ctx ends.
func (d *Daemon) reloads(ctx context.Context) {
	for {
		select {
		case <-d.Hangup:
			// What is wrong is logged and an alert.
			_, _ = d.Reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}
