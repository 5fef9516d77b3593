package daemon

import (
	"context"

	"podd/internal/triggers"
	"podd/pkg/paths"
)

// openWebhooks opens the listener for webhooks, if the configuration has one.
func (d *Daemon) openWebhooks(ctx context.Context) error {
	c := d.Settings.Triggers
	if c.Listen == "" {
		return nil
	}
	key, err := paths.EnsureWebhookKey(d.StateDir)
	if err != nil {
		return err
	}
	d.secrets.Add(key)
	if d.hooks, err = triggers.Listen(ctx, c.Listen, c.TLS); err != nil {
		return err
	}
	d.undo = append(d.undo, d.hooks.Close)
	d.webhooks = triggers.Webhooks{URL: d.hooks.URL(), Key: key, Send: d.fleet.Unary}
	return nil
}

// serveWebhooks answers webhooks until the listener is closed; the channel is closed then.
func (d *Daemon) serveWebhooks() <-chan struct{} {
	served := make(chan struct{})
	if d.hooks == nil {
		close(served)
		return served
	}
	d.Logger.Info("listening for webhooks", "url", d.webhooks.URL)
	go func() {
		defer close(served)
		d.hooks.Serve(d.triggers)
	}()
	return served
}
