package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	poddv1 "podd/proto/podd/v1"
)

// measureScale measures podd alone: on a database of 10,000 pods, with long histories,
// with many streams, and with many pods that append.
func measureScale(ctx context.Context, r *rig) error {
	turn, err := r.recorded(ctx, 3)
	if err != nil {
		return err
	}
	for _, measure := range []func(context.Context, *rig, []item.Entry) error{scalePods, scaleHistory, scaleAppends} {
		if err := measure(ctx, r, turn); err != nil {
			return err
		}
	}
	return scaleStreams(ctx, r)
}

// database makes a directory with a database and lets f write to it.
func (r *rig) database(name string, f func(writer) error) (dir string, err error) {
	dir = filepath.Join(r.dir, name)
	w := writer{work: filepath.Join(dir, "work")}
	for _, made := range []string{filepath.Join(dir, "state"), w.work} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return "", err
		}
	}
	if w.store, err = store.OpenBolt(store.BoltConfig{Path: filepath.Join(dir, "state", "podd.db")}); err != nil {
		return "", err
	}
	err = f(w)
	if closing := w.store.Close(); err == nil {
		err = closing
	}
	return dir, err
}

const mb = 1 << 20

// scalePods starts podd on 10,000 pods, lists them and runs turns in 100 of them.
func scalePods(ctx context.Context, r *rig, turn []item.Entry) error {
	const pods, active = 10_000, 100
	name := func(i int) string { return fmt.Sprintf("pod-%05d", i) }
	dir, err := r.database("pods", func(w writer) error {
		return many(pods, func(i int) error { return w.make(ctx, name(i), turn, len(turn)) })
	})
	if err != nil {
		return err
	}
	without, err := r.start(ctx, poddKind, filepath.Join(r.dir, "without"), nil)
	if err != nil {
		return err
	}
	defer without.stop()
	_, empty, err := memory(without.pid)
	if err != nil {
		return err
	}
	for range r.reps {
		if err := r.manyPods(ctx, dir, empty, pods, func(i int) string { return name(i * pods / active) }, active); err != nil {
			return err
		}
	}
	return nil
}

// manyPods starts podd on a database with the given number of pods, lists them and runs a
// turn at once in some of them, named by name. empty is the memory of a podd without
// pods.
func (r *rig) manyPods(ctx context.Context, dir string, empty int64, pods int, name func(i int) string, active int) error {
	s, err := r.start(ctx, poddKind, dir, nil)
	if err != nil {
		return err
	}
	defer s.stop()
	r.results.add(rowScaleReady, r.podd, milliseconds(s.ready))
	_, idle, err := memory(s.pid)
	if err != nil {
		return err
	}
	r.results.add(rowScalePassive, r.podd, float64(idle-empty)/1024/float64(pods))
	begun := time.Now()
	listed, err := s.client.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
	if err != nil {
		return err
	}
	if len(listed.GetPods()) != pods {
		return fmt.Errorf("of %d pods %d are listed", pods, len(listed.GetPods()))
	}
	r.results.add(rowScaleList, r.podd, milliseconds(time.Since(begun)))
	err = many(active, func(i int) error {
		session, err := s.follow(ctx, name(i), 0)
		if err != nil {
			return err
		}
		defer session.close()
		_, err = session.turn(ctx, loop(2))
		return err
	})
	if err != nil {
		return err
	}
	_, anonymous, err := memory(s.pid)
	r.results.add(rowScaleMemory, r.podd, float64(anonymous)/mb)
	return err
}

// scaleHistory opens pods whose history is compacted except for one turn: one with 1,000
// entries and one with 100,000.
func scaleHistory(ctx context.Context, r *rig, turn []item.Entry) error {
	dir, err := r.database("history", func(w writer) error {
		for name, entries := range map[string]int{"first": 1000, "short": 1000, "long": 100_000} {
			if err := w.make(ctx, name, turn, entries); err != nil {
				return err
			}
			if err := w.compact(ctx, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// A podd that compacts a log, or has loaded it once, keeps a base of it; these logs have
	// none.
	if err := r.openHistories(ctx, dir, map[string]float64{}); err != nil {
		return err
	}
	for range r.reps {
		took := map[string]float64{}
		if err := r.openHistories(ctx, dir, took); err != nil {
			return err
		}
		r.results.add(rowScaleTail, r.podd, took["tail"])
		r.results.add(rowScaleOpen, r.podd, took["long"])
		r.results.add(rowScaleOpenMore, r.podd, took["long"]-took["short"])
	}
	return nil
}

// openHistories starts podd, tails the long history and runs a turn of each.
func (r *rig) openHistories(ctx context.Context, dir string, took map[string]float64) error {
	s, err := r.start(ctx, poddKind, dir, nil)
	if err != nil {
		return err
	}
	defer s.stop()
	wall, err := timed(exec.CommandContext(ctx, r.bin("podctl"), "--state-dir", s.state(), "tail", "-n", "10", "long"))
	if err != nil {
		return err
	}
	took["tail"] = milliseconds(wall)
	// The first turn of a podd takes longer, whatever its pod.
	for _, name := range []string{"first", "short", "long"} {
		p, err := s.client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: name})
		if err != nil {
			return err
		}
		begun := time.Now()
		session, err := s.follow(ctx, name, p.GetPod().GetLastSeq())
		if err != nil {
			return err
		}
		_, err = session.turn(ctx, say)
		session.close()
		if err != nil {
			return err
		}
		took[name] = milliseconds(time.Since(begun))
	}
	return nil
}

// scaleAppends makes 64 pods append entries of 500 bytes, each synced before its pod
// appends the next.
func scaleAppends(ctx context.Context, r *rig, _ []item.Entry) error {
	const pods, each = 64, 200
	for rep := range r.reps {
		_, err := r.database(fmt.Sprintf("appends-%d", rep), func(w writer) error {
			batches, err := appends(ctx, w, pods)
			if err != nil {
				return err
			}
			begun := time.Now()
			err = many(pods, func(i int) error {
				for range each {
					if _, err := w.store.Append(ctx, batches[i]); err != nil {
						return err
					}
				}
				return nil
			})
			r.results.add(rowScaleAppend, r.podd, pods*each/time.Since(begun).Seconds())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// appends creates pods and a batch of one entry for each.
func appends(ctx context.Context, w writer, pods int) ([]store.Batch, error) {
	batches := make([]store.Batch, pods)
	for i := range batches {
		id := fmt.Sprint("pod_", i)
		if err := w.store.CreatePod(ctx, item.Pod{ID: id, Name: fmt.Sprint("name-", i)}); err != nil {
			return nil, err
		}
		epoch, err := w.store.Claim(ctx, id)
		if err != nil {
			return nil, err
		}
		batches[i] = store.Batch{Pod: id, Epoch: epoch, Entries: []item.Entry{{
			Time: time.Now(), Turn: 1, Kind: item.ItemAdded{Item: item.AssistantMessage{Text: strings.Repeat("0123456789", 50)}},
		}}}
	}
	return batches, nil
}

// scaleStreams compares turns of a pod that 100 clients follow with turns of one that one
// client follows: with a model that takes time, like real ones, and with one that does
// not, where the clients' work on the same processors counts too.
func scaleStreams(ctx context.Context, r *rig) error {
	const streams, slowSteps, fastSteps = 100, 5, 50
	for range r.reps {
		for _, of := range []struct {
			row    *row
			prompt string
		}{{rowScaleStreams, slow(slowSteps)}, {rowScaleBusy, loop(fastSteps)}} {
			alone, err := r.podd.freshTurn(ctx, of.prompt)
			if err != nil {
				return err
			}
			followed, err := r.podd.followedTurn(ctx, streams, of.prompt)
			if err != nil {
				return err
			}
			r.results.add(of.row, r.podd, float64(followed)/float64(alone))
		}
	}
	return nil
}

// followedTurn runs a turn of a new pod that the given number of further streams follow.
func (s *subject) followedTurn(ctx context.Context, streams int, prompt string) (time.Duration, error) {
	session, err := s.open(ctx)
	if err != nil {
		return 0, err
	}
	defer session.close()
	following, stop := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop()
	for range streams {
		reader, err := s.follow(following, session.pod, 0)
		if err != nil {
			return 0, err
		}
		readers.Go(func() {
			for err == nil {
				_, err = reader.stream.Recv()
			}
		})
	}
	return session.turn(ctx, prompt)
}
