package triggers

import (
	"context"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
)

// lookout looks at the files of triggers, and knows where something happened since. Its methods may be called from any
// goroutine.
type lookout struct {
	host *pod.Host
	// poke has a pod looked at.
	poke func(pod string)
	// mu guards the fields below.
	mu sync.Mutex
	// watcher watches the files; nil before the first.
	watcher *watcher
	// stirred are the pods whose files changed just now, touched the triggers whose files changed since they were looked at.
	stirred, touched map[string]bool
}

func newLookout(host *pod.Host, poke func(pod string)) *lookout {
	return &lookout{host: host, poke: poke, stirred: make(map[string]bool), touched: make(map[string]bool)}
}

// find looks at the files of a trigger of a pod, and has podd watch them; blind says that it can't. It gives up if the
// directory does not answer.
func (l *lookout) find(ctx context.Context, p item.Pod, id, pattern string, known map[string]stamped) (found, bool, error) {
	var f found
	blind := true
	err := pod.Attend(ctx, l.host, []string{p.Spec.Dir}, func(ctx context.Context) (err error) {
		for range 5 {
			if f, err = scan(ctx, p.Spec.Dir, pattern, known); err != nil {
				return err
			}
			known = f.prints
			fresh, err := l.follow(p.ID, id, p.Spec.Dir, pattern, f.dirs)
			if blind = fresh || err != nil; !fresh {
				return nil
			}
			// Something may have happened before it was watched.
		}
		return nil
	})
	if err != nil {
		return found{}, true, err // The work may go on.
	}
	return f, blind, nil
}

// follow watches the directories of a trigger.
func (l *lookout) follow(pod, id, dir, pattern string, dirs []string) (fresh bool, err error) {
	watching, err := l.watching()
	if err != nil {
		return false, err
	}
	key := pod + "/" + id
	return watching.follow(key, dirs, func(path string, isDir bool) {
		if rel, err := filepath.Rel(dir, path); path == "" || isDir || err == nil && scopefs.MatchesGlob(pattern, rel) {
			l.mu.Lock()
			l.touched[key] = true
			l.mu.Unlock()
			l.stir(pod)
		}
	})
}

// watching is the watcher, which runs from the first trigger on files until the Host begins to end.
func (l *lookout) watching() (*watcher, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watcher != nil {
		return l.watcher, nil
	}
	watcher, err := newWatcher()
	if err != nil {
		return nil, err
	}
	l.watcher = watcher
	l.host.Go(func(ctx context.Context) {
		defer context.AfterFunc(ctx, func() { _ = watcher.close() })()
		watcher.run()
	})
	return watcher, nil
}

// unfollow ends the watch of a trigger of a pod, or of all of them.
func (l *lookout) unfollow(pod, id string) {
	l.mu.Lock()
	watcher := l.watcher
	maps.DeleteFunc(l.touched, func(key string, _ bool) bool { return strings.HasPrefix(key, pod+"/"+id) })
	l.mu.Unlock()
	if watcher != nil {
		watcher.unfollow(pod + "/" + id)
	}
}

// stir has a pod looked at once its files may be quiet.
func (l *lookout) stir(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stirred[id] {
		return
	}
	l.stirred[id] = true
	l.host.Go(func(ctx context.Context) {
		quiet := time.NewTimer(still + 10*time.Millisecond)
		defer quiet.Stop()
		select {
		case <-quiet.C:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		delete(l.stirred, id)
		l.mu.Unlock()
		l.poke(id)
	})
}

// take says whether something happened to the files of a trigger of a pod, and forgets that.
func (l *lookout) take(pod, id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := pod + "/" + id
	touched := l.touched[key]
	delete(l.touched, key)
	return touched
}
