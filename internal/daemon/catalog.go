package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"podd/pkg/catalog"
	"podd/pkg/paths"
)

// models is the catalogue of models in use, and the file that has the refreshed one.
type models struct {
	path string
	// current is the refreshed catalogue; nil is the built-in one.
	current *catalog.Catalog
	// damaged is why the stored one cannot be read; empty if it can.
	damaged string
}

// openModels reads the refreshed catalogue. A file that cannot be read, or that is older than
// this podd, does not count.
func openModels(stateDir string, logger *slog.Logger) models {
	m := models{path: filepath.Join(stateDir, "models.json")}
	text, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return m
	}
	var c *catalog.Catalog
	if err == nil {
		c, err = catalog.Read(text)
	}
	switch {
	case err != nil:
		logger.Warn("the refreshed catalogue of models cannot be read; using the built-in one: run podctl models refresh", "file", m.path, "error", err)
		m.damaged = fmt.Sprintf("the refreshed catalogue of models cannot be read; using the built-in one: run podctl models refresh (%s: %v)", m.path, err)
	case c.Date >= catalog.Builtin().Date:
		m.current = c
	}
	return m
}

// store replaces the stored catalogue; nil removes it.
func (m *models) store(c *catalog.Catalog) error {
	if c != nil {
		return paths.WritePrivateFile(m.path, string(c.Encode()))
	}
	if err := os.Remove(m.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// refreshCatalog uses another catalogue from each pod's next turn on, and stores it. nil is
// the built-in one.
func (d *Daemon) refreshCatalog(ctx context.Context, next *catalog.Catalog) (before, after *catalog.Catalog, err error) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	old := d.models.current
	defer func() {
		if err != nil {
			d.models.current = old
		}
	}()
	d.models.current = next
	current := *d.loaded.Load()
	settings, err := d.settings(&current, d.loaded.Load())
	if err != nil {
		return nil, nil, err
	}
	if err := d.models.store(next); err != nil {
		return nil, nil, fmt.Errorf("cannot store the catalogue: %w", err)
	}
	if err := d.follow(ctx, settings, current.MaxCostPerDay); err != nil {
		return nil, nil, errors.Join(err, d.models.store(old))
	}
	d.loaded.Store(&current)
	before, after = cmp.Or(old, catalog.Builtin()), cmp.Or(next, catalog.Builtin())
	d.Logger.Info("catalogue of models refreshed", "source", after.Source, "date", after.Date, "models", len(after.Models))
	return before, after, nil
}
