package daemon

import (
	"context"

	"podd/internal/config"
	"podd/internal/extern"
	"podd/pkg/item"
)

// openExtensions makes the interceptors and hooks of the configuration. Their commands
// end with the daemon.
func (d *Daemon) openExtensions(ctx context.Context) error {
	runner, err := extern.New(ctx, extern.Config{Pod: d.store.Pod, Alert: func(text string) { d.host.HookFailed(text) }, Logger: d.Logger})
	if err != nil {
		return err
	}
	d.undo = append(d.undo, runner.Close)
	for _, e := range d.Settings.Interceptors {
		i, err := runner.Interceptor(commandOf(e), extern.OnFailure(e.OnFailure))
		if err != nil {
			return misconfigured(e, err)
		}
		d.interceptors = append(d.interceptors, i)
	}
	for _, e := range d.Settings.Hooks {
		h, err := runner.Hook(commandOf(e))
		if err != nil {
			return misconfigured(e, err)
		}
		d.hooks = append(d.hooks, h)
	}
	return nil
}

func commandOf(e config.Extension) extern.Command {
	return extern.Command{Name: e.Name, On: e.On, Argv: e.Command, Timeout: e.Timeout, Env: e.Env}
}

func misconfigured(e config.Extension, err error) error {
	return item.Errorf(item.KindInvalid, "CONFIG", "%s: %v", e.Origin, err)
}
