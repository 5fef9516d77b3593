package daemon

import (
	"context"
	"path/filepath"
	"time"

	"podd/internal/guard/spending"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// openSpending makes what counts the money that pods spend: everything that changes their
// logs goes through its store.
func (d *Daemon) openSpending() (err error) {
	d.spending, d.store, err = spending.New(spending.Config{
		File: filepath.Join(d.StateDir, "spending.json"), Now: time.Now, Logger: d.Logger,
		Alert: func(text string) { d.host.Alerts.Raise(item.LevelWarn, spending.Name, text) },
	}, d.keeper.Store())
	return err
}

// follow gives the pods other settings and another limit for a day; on error both stay.
func (d *Daemon) follow(ctx context.Context, s pod.Settings, perDay float64) error {
	use, drop, err := d.spending.Prepare(ctx, perDay, s.Models)
	if err != nil {
		return err
	}
	if err := d.host.Reload(s); err != nil {
		drop()
		return err
	}
	use()
	return nil
}
