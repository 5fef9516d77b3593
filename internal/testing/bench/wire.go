package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// measureWire counts, for a fresh daemon of each kind and a turn of 51 requests, its
// connections to the endpoint and the content of its first request besides the prompt.
func measureWire(ctx context.Context, r *rig) error {
	for _, s := range r.compared() {
		fresh, err := r.start(ctx, s.kind, filepath.Join(r.dir, "wire", s.kind.name), nil)
		if err != nil {
			return err
		}
		defer fresh.stop()
		if _, err := r.modelStats(); err != nil {
			return err
		}
		if _, err := fresh.freshTurn(ctx, loop(50)); err != nil {
			return err
		}
		stats, err := r.modelStats()
		if err != nil {
			return err
		}
		if stats.Requests != 51 {
			return fmt.Errorf("%s: a turn of 50 calls made %d requests", s.kind.name, stats.Requests)
		}
		fixed, err := systemAndTools(stats.First)
		if err != nil {
			return err
		}
		r.results.add(rowConnections, s, float64(stats.Connections))
		r.results.add(rowFirstRequest, s, float64(fixed))
	}
	return nil
}

// systemAndTools is how many bytes of a request are tools and system messages.
func systemAndTools(body []byte) (int, error) {
	var request struct {
		Tools    json.RawMessage
		Messages []json.RawMessage
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return 0, err
	}
	size := len(request.Tools)
	for _, m := range request.Messages {
		var message struct{ Role string }
		if err := json.Unmarshal(m, &message); err != nil {
			return 0, err
		}
		if slices.Contains([]string{"system", "developer"}, message.Role) {
			size += len(m)
		}
	}
	return size, nil
}

// measureSyncs counts the syncs of a step with strace, if it is installed.
func measureSyncs(ctx context.Context, r *rig) error {
	if _, err := exec.LookPath("strace"); err != nil {
		r.results.note("Syncs were not counted: there is no strace.")
		return nil
	}
	const short, long = 5, 25
	for _, s := range r.compared() {
		few, err := r.syncsOf(ctx, s.kind, short)
		if err != nil {
			return err
		}
		many, err := r.syncsOf(ctx, s.kind, long)
		if err != nil {
			return err
		}
		r.results.add(rowSyncs, s, float64(many-few)/(long-short))
	}
	return nil
}

// syncsOf is the number of all syncs of a daemon for one turn.
func (r *rig) syncsOf(ctx context.Context, k kind, steps int) (int, error) {
	dir := filepath.Join(r.dir, fmt.Sprintf("syncs-%d", steps), k.name)
	trace := filepath.Join(r.dir, fmt.Sprintf("syncs-%d-%s", steps, k.name))
	// With -D the daemon is the child, which gets the signal to stop; the tracer keeps
	// standard error open until it has written everything.
	s, err := r.start(ctx, k, dir, []string{"strace", "-D", "-f", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync,msync"})
	if err != nil {
		return 0, err
	}
	_, err = s.freshTurn(ctx, loop(steps))
	s.stop()
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(trace)
	return bytes.Count(text, []byte("sync(")), err
}
