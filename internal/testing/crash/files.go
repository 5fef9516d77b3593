package crash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	poddv1 "podd/proto/podd/v1"
)

// fileRounds end podd while an agent and a person change files and changes are taken back: half
// as often as all other rounds end it.
func (rn *runner) fileRounds(ctx context.Context, t *Tally) error {
	for seed := rn.Seed; t.Kills < (rn.Kills+1)/2; seed++ {
		left := (rn.Kills+1)/2 - t.Kills
		err := rn.round(ctx, t, fmt.Sprintf("files-%d", seed), settings{api: apis[seed%3]}, seed, func(r *round) error {
			return fileRound(r, min(left, killsOfRound))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fileRound takes back, and back again, what an agent did to files.
func fileRound(r *round, kills int) error {
	r.restores = true
	p, err := r.addPod("p0")
	if err != nil {
		return err
	}
	if err := r.up(); err != nil {
		return err
	}
	if err := r.createAll(); err != nil {
		return err
	}
	r.follow()
	close(r.model.gate) // Release stalled answers.
	f := &files{round: r, pod: p}
	// Entry 0 would mean the last turn.
	if !p.submits.submit(r.ctx, "job-0: read") {
		return r.stuck()
	}
	for cycle := 1; r.tally.Kills < kills; cycle++ {
		if err := f.cycle(cycle); err != nil {
			return err
		}
	}
	if err := r.finish(); err != nil {
		return err
	}
	return f.sound()
}

// files is the workspace of a pod, with a person at it.
type files struct {
	*round
	pod *pod
}

// cycle lets the agent work, while podd ends now and then, and then the person, takes back what the agent did, and takes that
// back.
func (f *files) cycle(n int) error {
	before, from, err := f.rest()
	if err != nil {
		return err
	}
	job := fmt.Sprintf("job-%d: edit/%d/0 write; edit/%d/3 edit/0/0; write", n, f.random.IntN(60), f.random.IntN(60))
	if !f.pod.submits.submit(f.ctx, job) {
		return f.stuck()
	}
	for range f.random.IntN(3) {
		if err := f.randomEnd(); err != nil {
			return err
		}
	}
	left, _, err := f.rest()
	if err != nil {
		return err
	}
	if err := f.person(n); err != nil {
		return err
	}
	now, at, err := f.rest()
	if err != nil {
		return err
	}
	// What the agent left and nobody changed becomes what it was. All else stays.
	want := maps.Clone(now)
	for path := range union(before, left) {
		if was, ok := before[path]; left[path] != was && now[path] == left[path] {
			if want[path] = was; !ok {
				delete(want, path)
			}
		}
	}
	if err := f.takeBack(from, want, "the agent's changes"); err != nil {
		return err
	}
	return f.takeBack(at, now, "the restore")
}

// person changes files between two turns: own ones and the agent's.
func (f *files) person(n int) error {
	for i := range f.random.IntN(4) {
		name := []string{"mine", "d-0/mine", "f-1", "d-1/x"}[f.random.IntN(4)]
		path := filepath.Join(f.pod.dir, name)
		if f.random.IntN(4) == 0 {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, fmt.Appendf(nil, "person %d.%d", n, i), 0o600))
		if err != nil {
			return err
		}
	}
	return nil
}

// rest waits until the pod has nothing to do. It returns the files, and the last entry.
func (f *files) rest() (all map[string]string, last int64, err error) {
	if err := f.up(); err != nil {
		return nil, 0, err
	}
	if err := f.settle(); err != nil {
		return nil, 0, err
	}
	p := f.state(f.pod)
	for ; p == nil; p = f.state(f.pod) {
		if !pause(f.ctx, retryPause) {
			return nil, 0, f.stuck()
		}
	}
	all, err = texts(f.pod.dir)
	return all, p.GetLastSeq(), err
}

// takeBack takes back what changed after an entry, while podd is killed now and then, and compares
// the files with what is wanted.
func (f *files) takeBack(after int64, want map[string]string, what string) error {
	request := &poddv1.RestoreFilesRequest{Pod: f.pod.name, AfterSeq: after, Skip: true}
	for done := false; !done; {
		answered := make(chan error, 1)
		f.tasks.Go(func() {
			ctx, cancel := context.WithTimeout(f.ctx, followTime)
			defer cancel()
			_, err := f.client.Files().RestoreFiles(ctx, request)
			answered <- err
		})
		if f.random.IntN(2) == 0 {
			pause(f.ctx, time.Duration(f.random.IntN(20))*time.Millisecond)
			f.kill()
		}
		err := <-answered
		switch {
		case err == nil, item.ReasonOf(err) == "NO_CHANGES":
			done = true
		case item.ReasonOf(err) == "BUSY": // The one that podd was killed in goes on.
			pause(f.ctx, retryPause)
		case item.KindOf(err) != item.KindUnavailable:
			f.tally.Other.add("%s: taking back %s: %v", f.pod.name, what, err)
			return nil
		}
		if err := f.up(); err != nil {
			return err
		}
		if err := f.settle(); err != nil {
			return err
		}
	}
	got, err := texts(f.pod.dir)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(union(got, want))) {
		if got[path] != want[path] {
			f.tally.Lost.add("%s: after taking back %s since entry %d %s is %q, want %q", f.pod.name, what, after, path, got[path], want[path])
		}
	}
	return nil
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// texts are the files below a directory, with their modes. What a killed write leaves beside its
// file is not one of them, nor is what git keeps.
func texts(dir string) (map[string]string, error) {
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == ".git" {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() || scopefs.Unfinished(e.Name()) {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		rel, relErr := filepath.Rel(dir, path)
		all[rel] = fmt.Sprintf("%s %s", info.Mode(), data)
		return errors.Join(err, relErr)
	})
	return all, err
}

// sound lets git check the checkpoints, and other repositories.
func (r *round) sound(others ...string) error {
	repos, err := filepath.Glob(filepath.Join(r.dir, "s", "checkpoints", "*.git"))
	if err != nil {
		return err
	}
	if len(repos) == 0 {
		r.tally.Other.add("there are no checkpoints")
	}
	for _, repo := range append(repos, others...) {
		out, err := exec.CommandContext(r.ctx, "git", "--git-dir", repo, "fsck", "--full", "--no-dangling").CombinedOutput()
		if err != nil || strings.Contains(string(out), "warning") {
			r.tally.Other.add("git fsck %s: %v: %s", repo, err, out)
		}
	}
	return nil
}
