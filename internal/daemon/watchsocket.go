package daemon

import (
	"context"
	"time"

	"podd/pkg/item"
)

// lookEvery is how often podd looks whether its socket is still there.
const lookEvery = 5 * time.Second

// watchSocket makes the socket again when somebody removed it, and says when something
// else lies in its place, until ctx ends.
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

// healSocket says what is wrong with the socket, in the log and as an alert, unless
// that is what was told before; it returns what is wrong now.
func (d *Daemon) healSocket(ctx context.Context, told string) string {
	healed, err := d.socket.Heal(ctx)
	switch {
	case ctx.Err() != nil:
	case healed:
		d.Logger.Warn("the socket was removed and is made again", "socket", d.Socket)
	case err != nil && err.Error() != told:
		d.host.Alerts.Raise(item.LevelError, "socket", err.Error())
		d.Logger.Error("clients do not reach podd", "error", err)
		return err.Error()
	case err != nil:
		return told
	}
	return ""
}
