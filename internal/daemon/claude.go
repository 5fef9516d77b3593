package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/internal/extend/claude"
	"podd/pkg/item"
)

// openClaude makes what asks the hooks of Claude Code.
func (d *Daemon) openClaude(ctx context.Context) (err error) {
	d.trust.HookFiles = func() (files []string) {
		for _, file := range d.hookFiles() {
			if !filepath.IsAbs(file) {
				files = append(files, file)
			}
		}
		return files
	}
	d.plugins.Changed = d.pluginsChanged
	d.claude, err = claude.Open(ctx, claude.Config{Runner: d.runner, In: d.claudeHooks, Dir: filepath.Join(d.StateDir, "transcripts"), Logger: d.Logger})
	if err == nil {
		// It waits for what the runner ends.
		d.undo = append(d.undo, d.claude.Close, d.runner.Close)
	}
	return err
}

// pluginsChanged lets pods follow what became of a plugin.
func (d *Daemon) pluginsChanged(ctx context.Context) error {
	if d.Reread == nil {
		d.mcp.Keep()
		return nil
	}
	_, err := d.Reload(ctx)
	return err
}

// hookFiles are the files with hooks: the user's own with absolute paths.
func (d *Daemon) hookFiles() (files []string) {
	c := d.Settings
	if l := d.loaded.Load(); l != nil {
		c = l.Config
	}
	for _, file := range c.ClaudeHooks {
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			file = filepath.Join(homeDir(), rest)
		}
		files = append(files, file)
	}
	return files
}

// claudeHooks are the hooks for a pod: the user's own, and those of its family's workspace as far
// as they are trusted. Each turn says what it ignores of a workspace's.
func (d *Daemon) claudeHooks(ctx context.Context, p item.Pod) (project string, hooks []claude.Hook, refused []string) {
	if project = p.Spec.Dir; p.Spec.Parent != "" {
		top, err := d.host.Workspace(ctx, p.ID)
		if err != nil {
			refused = append(refused, "cannot find the hooks of its workspace: "+err.Error())
		} else {
			project = top
		}
	}
	for _, file := range d.hookFiles() {
		if filepath.IsAbs(file) {
			more, why := d.hookCache.read(file)
			hooks, refused = append(hooks, more...), append(refused, why...)
		}
	}
	for _, p := range d.plugins.List() {
		if hooks = append(hooks, p.Hooks...); p.Wrong != "" {
			refused = append(refused, p.Wrong)
		}
	}
	followed, _ := d.trust.Follow(project)
	return project, append(hooks, followed.Hooks...), refused
}

// hookCache has the user's own files of hooks until they change.
type hookCache struct {
	mu    sync.Mutex
	files map[string]cachedHooks
}

type cachedHooks struct {
	size    int64
	at      time.Time
	hooks   []claude.Hook
	refused []string
}

// maxHookFile bounds a file of hooks, in bytes.
const maxHookFile = 1 << 20

func (c *hookCache) read(path string) (hooks []claude.Hook, refused []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxHookFile) {
		err = fmt.Errorf("%s is not a file of at most %d bytes", path, maxHookFile)
	}
	if err != nil {
		return nil, []string{"cannot read hooks: " + err.Error()}
	}
	known, ok := c.files[path]
	if !ok || known.size != info.Size() || !known.at.Equal(info.ModTime()) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, []string{"cannot read hooks: " + err.Error()}
		}
		known = cachedHooks{size: info.Size(), at: info.ModTime()}
		known.hooks, known.refused = claude.Parse(path, text, claude.Plugin{})
		if c.files == nil {
			c.files = map[string]cachedHooks{}
		}
		c.files[path] = known
	}
	return slices.Clone(known.hooks), known.refused
}
