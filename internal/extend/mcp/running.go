package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"podd/internal/commands/process"
	"podd/pkg/paths"
)

// runningName is the file in the state directory with the processes of servers.
const runningName = "mcp-running.json"

// running has the servers that are processes, so that the next podd ends what a killed one has
// left.
type running struct {
	path string
	// ended is closed when those of the podd before have ended.
	ended chan struct{}

	mu sync.Mutex
	// trees are stored, by their marks.
	trees map[string]process.ID
}

// openRunning reads the file. One that cannot be read is reported, and no reason not to start.
func openRunning(stateDir string) (*running, error) {
	r := &running{path: filepath.Join(stateDir, runningName), ended: make(chan struct{}), trees: map[string]process.ID{}}
	return r, paths.ReadRecord(r.path, &r.trees)
}

// endEarlier ends the servers of the podd before, with everything that they started.
func (m *Manager) endEarlier() {
	defer close(m.running.ended)
	var ending sync.WaitGroup
	for _, id := range slices.Collect(maps.Values(m.running.trees)) {
		ending.Go(func() { m.endTree(process.Find(id), "of an earlier podd") })
	}
	ending.Wait()
}

// endTree ends a server and everything that it started.
func (m *Manager) endTree(tree *process.Tree, what string) {
	if left := tree.Stop(killTime); left > 0 {
		m.Logger.Warn("cannot stop processes of an MCP server", "command", what, "count", left)
		return
	}
	if err := m.running.set(tree.ID(), false); err != nil {
		m.Logger.Warn("cannot record the end of an MCP server", "command", what, "error", err)
	}
}

// set stores that a server runs, or has ended.
func (r *running) set(id process.ID, runs bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.trees, id.Mark); runs {
		r.trees[id.Mark] = id
	}
	return paths.WriteRecord(r.path, r.trees)
}

// run starts a server. It is recorded before it starts, by its mark alone, and again before it
// is asked anything.
func (r *running) run(ctx context.Context, cmd *exec.Cmd) (*process.Tree, error) {
	select {
	case <-r.ended:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var before process.ID
	tree, err := process.Begin(func(mark string) (*os.Process, error) {
		before.Mark = mark
		if err := r.set(before, true); err != nil {
			return nil, fmt.Errorf("its process cannot be recorded: %w", err)
		}
		cmd.Env, cmd.SysProcAttr = append(slices.Clone(cmd.Env), mark), &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return cmd.Process, nil
	})
	if err != nil {
		return nil, errors.Join(err, r.set(before, false))
	}
	if err := r.set(tree.ID(), true); err != nil {
		tree.Stop(0)
		return nil, fmt.Errorf("its process cannot be recorded: %w", err)
	}
	return tree, nil
}
