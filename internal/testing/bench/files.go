package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/internal/files"
)

// measureFiles measures checkpoints of files: in a directory of 10,000, and as a part of a step
// in a small one. In the home directory podd covers the files of file tools alone, so a command
// there costs what it costs without checkpoints.
func measureFiles(ctx context.Context, r *rig) error {
	if err := r.looks(ctx); err != nil {
		return err
	}
	for _, made := range []struct {
		row    *row
		prompt func(int) string
	}{{rowFilesStep, loop}, {rowFilesMade, write}} {
		for range r.reps {
			covered, err := r.podd.stepIn(ctx, r.podd.work(), made.prompt)
			if err != nil {
				return err
			}
			bare, err := r.podd.stepIn(ctx, r.podd.dir, made.prompt)
			if err != nil {
				return err
			}
			r.results.add(made.row, r.podd, covered/bare)
		}
	}
	return nil
}

// stepIn is the time of a step of a new pod with a workspace, in milliseconds.
func (s *subject) stepIn(ctx context.Context, dir string, prompt func(int) string) (float64, error) {
	pod, err := s.newPodIn(ctx, dir)
	if err != nil {
		return 0, err
	}
	session, err := s.follow(ctx, pod, 0)
	if err != nil {
		return 0, err
	}
	defer session.close()
	short, err := session.turn(ctx, prompt(steps[0]))
	if err != nil {
		return 0, err
	}
	long, err := session.turn(ctx, prompt(steps[1]))
	return perStep(long-short, steps[1]-steps[0]), err
}

// looks measures checkpoints of a directory of 10,000 files.
func (r *rig) looks(ctx context.Context) error {
	const count, each, settled = 10_000, 20, 50 * time.Millisecond
	dir := filepath.Join(r.dir, "files")
	name := func(n int) string { return filepath.Join(dir, fmt.Sprintf("d%d/e%d/f%d.go", n%10, n/10%100, n)) }
	for n := range count {
		if err := os.MkdirAll(filepath.Dir(name(n)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name(n), []byte(strings.Repeat("line\n", n%100)), 0o600); err != nil {
			return err
		}
	}
	time.Sleep(settled)
	w := files.NewStores(files.StoreConfig{Dir: filepath.Join(r.dir, "checkpoints")}).Of(dir)
	defer func() { _ = w.Rest() }()
	last, times := "", map[*row][]float64{}
	take := func(to *row) error {
		begun := time.Now()
		taken, err := w.Take(ctx, files.Look{After: last, Agent: true, Branch: "bench", Message: "bench"})
		times[to] = append(times[to], milliseconds(time.Since(begun)))
		for _, t := range taken {
			last = t.Commit
		}
		return err
	}
	if err := take(nil); err != nil {
		return err
	}
	for n := range each * r.reps {
		if err := take(rowFilesSame); err != nil {
			return err
		}
		for f := range 10 {
			if err := os.WriteFile(name((n*10+f)*7%count), fmt.Append(nil, n), 0o600); err != nil {
				return err
			}
		}
		if err := take(rowFilesTen); err != nil {
			return err
		}
	}
	for _, to := range []*row{rowFilesSame, rowFilesTen} {
		sorted := slices.Sorted(slices.Values(times[to]))
		r.results.add(to, r.podd, sorted[len(sorted)*95/100])
	}
	return nil
}
