package daemon

import (
	"context"
	"os"

	"podd/internal/config"
	"podd/internal/extend/extern"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// openExtensions makes the runner of the commands of interceptors and hooks, which end
// with the daemon.
func (d *Daemon) openExtensions(ctx context.Context) error {
	runner, err := extern.New(ctx, extern.Config{Environ: d.secrets.Environ(os.Environ()), Pod: d.store.Pod, Alert: func(text string) { d.host.Alerts.HookFailed(text) }, Logger: d.Logger})
	if err != nil {
		return err
	}
	d.runner = runner
	return d.openClaude(ctx)
}

// extensions makes the interceptors and hooks of a configuration.
func (d *Daemon) extensions(c config.Config) (interceptors []interceptor.Interceptor, hooks []hook.Hook, err error) {
	for _, e := range c.Interceptors {
		i, err := d.runner.Interceptor(e.Command, e.OnFailure)
		if err != nil {
			return nil, nil, misconfigured(e, err)
		}
		interceptors = append(interceptors, i)
	}
	for _, e := range c.Hooks {
		h, err := d.runner.Hook(e.Command)
		if err != nil {
			return nil, nil, misconfigured(e, err)
		}
		hooks = append(hooks, h)
	}
	if len(c.ClaudeHooks) > 0 || d.plugins.Any() {
		interceptors, hooks = append(interceptors, d.claude), append(hooks, d.claude)
	}
	return interceptors, hooks, nil
}

// reconcile makes the reconcilers of a configuration.
func (d *Daemon) reconcile(c config.Config) (tool.Reconcile, error) {
	var commands []extern.Command
	for _, e := range c.Reconcilers {
		commands = append(commands, e.Command)
	}
	return d.runner.Reconcile(commands)
}

func misconfigured(e config.Extension, err error) error {
	return item.Errorf(item.KindInvalid, "CONFIG", "%s: %v", e.Origin, err)
}
