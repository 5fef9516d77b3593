package daemon

import (
	"context"
	"time"

	"podd/pkg/item"
)

// lookEvery is how often podd checks that its socket still exists.
const lookEvery = 5 * time.Second

// watchSocket recreates a removed socket, and reports another file in its place, until
// ctx ends.
func (d *Daemon) watchSocket(ctx context.Context) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	told := ""
	for {
		select {
		case <-ticks.C:
			told = d.healSocket(ctx, told)
		case <-ctx.Done():
			return
		}
	}
}

// healSocket reports an error of the socket in the log and as an alert, unless told is
// the same error. It returns the current error; empty when there is no error.
func (d *Daemon) healSocket(ctx context.Context, told string) string {
	healed, err := d.socket.Heal(ctx)
	switch {
	case ctx.Err() != nil:
	case healed:
		d.Logger.Warn("the socket was removed; podd creates it again", "socket", d.Socket)
	case err != nil && err.Error() != told:
		d.host.Alerts.Raise(item.LevelError, "socket", err.Error())
		d.Logger.Error("clients cannot reach podd", "error", err)
		return err.Error()
	case err != nil:
		return told
	}
	return ""
}
