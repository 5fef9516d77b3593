package triggers

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"podd/internal/questions"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// The bounds of a trigger on files.
const (
	// maxFiles is how many files may match, maxDirs in how many directories podd looks for them; maxNames is how long the
	// paths of the files may be together.
	maxFiles, maxDirs, maxNames = 1000, 1000, 128 << 10
	// maxRead is how much of a file's content counts. What is larger differs if its size or its time does.
	maxRead = 1 << 20
	// still is for how long what changed has to stay as it is.
	still = 500 * time.Millisecond
	// lookAgain is how often podd looks at files that it cannot watch, or could not read.
	lookAgain = 30 * time.Second
	// coarse is how far the times of files may be behind the clock.
	coarse = 20 * time.Millisecond
	// maxTold is how many changes an event lists.
	maxTold = 100
)

// sight is the object of an entry that says what a trigger saw of its files.
type sight struct {
	Pod string `json:"pod"`
	ID  string `json:"id"`
	// At is when, and From the turn of the pod that was the last one then, by its first entry.
	At   time.Time `json:"at"`
	From item.Seq  `json:"from,omitempty"`
	// Files are digests of the content of files, by their paths.
	Files map[string]string `json:"files"`
}

// view is what a podd knows of the files of a trigger besides what the log says.
type view struct {
	// sight is what was seen last; its files are those of the stored one.
	sight
	// differ are files that differ from those, since when.
	differ map[string]string
	since  time.Time
	// prints are the files that were read.
	prints map[string]stamped
	// blind says that not all directories are watched.
	blind bool
}

// stamped is a file that was read, as it was then.
type stamped struct {
	inode            uint64
	size             int64
	changed, written int64
	digest           string
}

// checkFile refuses a pattern that can never match.
func (s *Spec) checkFile() error {
	switch {
	case s.File == "":
		return nil
	case s.Skip:
		return invalid("--overlap is not for --file: what changes while a fire waits or works is one fire later")
	case path.IsAbs(s.File), s.File == "..", strings.HasPrefix(s.File, "../"):
		return invalid("--file %q is not in the directory of the pod: give a pattern such as inbox/**", s.File)
	case path.Clean(s.File) != s.File, s.File == ".":
		return invalid("--file %q matches no file: give a pattern such as inbox/**", s.File)
	}
	return scopefs.CheckGlob(s.File)
}

// found is what a look at the files of a trigger found.
type found struct {
	prints map[string]stamped
	// dirs are the directories that show whether something changed.
	dirs []string
}

func (f *found) digests() map[string]string {
	all := make(map[string]string, len(f.prints))
	for name, p := range f.prints {
		all[name] = p.digest
	}
	return all
}

// scan looks at the files of a directory that match a pattern. known are those that an earlier look read.
func scan(ctx context.Context, dir, pattern string, known map[string]stamped) (f found, err error) {
	began := time.Now()
	f.prints = make(map[string]stamped)
	root, err := scopefs.Open(scopefs.Config{Dir: dir})
	if err != nil {
		return f, err
	}
	defer root.Close()
	f.dirs = way(dir, scopefs.GlobBase(pattern))
	names := 0
	err = root.GlobWalk(ctx, pattern, func(e scopefs.Entry) error {
		if e.IsDir() {
			f.dirs = append(f.dirs, filepath.Join(dir, e.Path))
		} else if e.Type.IsRegular() && !scopefs.Writing(path.Base(e.Path)) {
			if p, ok := look(root, e.Path, known, began); ok {
				f.prints[named(e.Path)] = p
				names += len(e.Path)
			}
		}
		if len(f.prints) > maxFiles || len(f.dirs) > maxDirs || names > maxNames {
			return item.Errorf(item.KindExhausted, "TOO_MANY_FILES", "%s matches too many files: at most %d, in %d directories: name fewer", scopefs.Display(pattern), maxFiles, maxDirs)
		}
		return nil
	})
	if p, ok := errors.AsType[*scopefs.PathError](err); ok && p.Kind == scopefs.NotFound {
		err = nil // No file matches.
	}
	return f, err
}

// named is a path as JSON keeps it.
func named(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return strconv.QuoteToASCII(path)
}

// way are the directories from one down to the directory base in it, as far as they exist.
func way(dir, base string) []string {
	dirs := []string{dir}
	for _, name := range strings.Split(base, "/") {
		if dir = filepath.Join(dir, name); name == "." {
			continue
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			break
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// look reads a file, unless it is one that is known. It is false if that is not possible.
func look(root *scopefs.FS, name string, known map[string]stamped, began time.Time) (p stamped, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(filepath.Join(root.Dir(), name), &st) == nil {
		if was, ok := known[named(name)]; ok && was.same(&st) && began.UnixNano()-was.changed > int64(coarse) {
			return was, true
		}
	}
	file, info, err := root.Open(name)
	if err != nil {
		return p, false
	}
	defer file.Close()
	if unix.Fstat(int(file.Fd()), &st) != nil {
		return p, false
	}
	h := sha256.New()
	fmt.Fprintln(h, st.Size)
	if st.Size > maxRead {
		fmt.Fprintln(h, info.ModTime().UnixNano())
	} else if _, err := io.Copy(h, io.LimitReader(file, maxRead)); err != nil {
		return p, false
	}
	return stamped{st.Ino, st.Size, st.Ctim.Nano(), st.Mtim.Nano(), base64.RawStdEncoding.EncodeToString(h.Sum(nil)[:12])}, true
}

// same says that a file is the one that was read.
func (p *stamped) same(st *unix.Stat_t) bool {
	return p.inode == st.Ino && p.size == st.Size && p.changed == st.Ctim.Nano() && p.written == st.Mtim.Nano()
}

// change is a difference between what was seen and what is.
type change struct {
	name, what string
	// at is when the file changed; zero if it is gone.
	at time.Time
}

// changes are the differences, by their paths.
func changes(before map[string]string, now found) (all []change) {
	for name, p := range now.prints {
		switch was, known := before[name]; {
		case !known:
			all = append(all, change{name, "added", time.Unix(0, p.changed)})
		case was != p.digest:
			all = append(all, change{name, "changed", time.Unix(0, p.changed)})
		}
	}
	for name := range before {
		if _, there := now.prints[name]; !there {
			all = append(all, change{name: name, what: "removed"})
		}
	}
	slices.SortFunc(all, func(a, b change) int { return strings.Compare(a.name, b.name) })
	return all
}

// told are changes for the model, a line each.
func told(all []change, most int) string {
	var b strings.Builder
	for i, c := range all {
		line := c.what + " " + scopefs.Display(c.name) + "\n"
		if i == maxTold || b.Len()+len(line) > most {
			fmt.Fprintf(&b, "and %d more\n", len(all)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// find looks at the files of a trigger of a pod, and has podd watch them; blind says that it can't. It gives up if the
// directory does not answer.
func (w *Wing) find(ctx context.Context, p item.Pod, id, pattern string, known map[string]stamped) (found, bool, error) {
	var f found
	blind := true
	err := pod.Attend(ctx, w.Host, []string{p.Spec.Dir}, func(ctx context.Context) (err error) {
		for range 5 {
			if f, err = scan(ctx, p.Spec.Dir, pattern, known); err != nil {
				return err
			}
			known = f.prints
			fresh, err := w.follow(p.ID, id, p.Spec.Dir, pattern, f.dirs)
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
func (w *Wing) follow(pod, id, dir, pattern string, dirs []string) (fresh bool, err error) {
	watching, err := w.watching()
	if err != nil {
		return false, err
	}
	key := pod + "/" + id
	return watching.follow(key, dirs, func(path string, isDir bool) {
		if rel, err := filepath.Rel(dir, path); path == "" || isDir || err == nil && scopefs.MatchesGlob(pattern, rel) {
			w.mu.Lock()
			w.touched[key] = true
			w.mu.Unlock()
			w.stir(pod)
		}
	})
}

// watching is the watcher, which runs from the first trigger on files until the Host begins to end.
func (w *Wing) watching() (*watcher, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watcher != nil {
		return w.watcher, nil
	}
	watcher, err := newWatcher()
	if err != nil {
		return nil, err
	}
	w.watcher = watcher
	w.Host.Go(func(ctx context.Context) {
		defer context.AfterFunc(ctx, func() { _ = watcher.close() })()
		watcher.run()
	})
	return watcher, nil
}

// unfollow ends the watch of a trigger of a pod, or of all of them.
func (w *Wing) unfollow(pod, id string) {
	w.mu.Lock()
	watcher := w.watcher
	maps.DeleteFunc(w.touched, func(key string, _ bool) bool { return strings.HasPrefix(key, pod+"/"+id) })
	w.mu.Unlock()
	if watcher != nil {
		watcher.unfollow(pod + "/" + id)
	}
}

// sees is what a new trigger of a pod sees of its files; nil without files.
func (w *Wing) sees(ctx context.Context, idOrName string, s *Spec) (*sight, error) {
	if s.File == "" {
		return nil, nil //nolint:nilnil // It sees nothing.
	}
	p, err := w.Host.Store.Pod(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	seen := &sight{At: w.now()}
	err = pod.Attend(ctx, w.Host, []string{p.Spec.Dir}, func(ctx context.Context) error {
		now, err := scan(ctx, p.Spec.Dir, s.File, nil)
		seen.Files = now.digests()
		return err
	})
	if err != nil {
		return nil, err // The work may go on.
	}
	return seen, nil
}

// stir has a pod looked at once its files may be quiet.
func (w *Wing) stir(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stirred[id] {
		return
	}
	w.stirred[id] = true
	time.AfterFunc(still+10*time.Millisecond, func() {
		w.mu.Lock()
		delete(w.stirred, id)
		w.mu.Unlock()
		w.poke(id)
	})
}

// countFiles stores what becomes of the changes of files. While a fire waits or works it counts none: what is different then
// is one fire later.
func (w *Wing) countFiles(ctx context.Context, p *pod.Hosted, h *home, t *trigger) error {
	if t.File == "" {
		return nil
	}
	h.mu.Lock()
	s := t.on(w.now())
	free := slices.Contains(h.all, t) && s.Paused == "" && len(t.open)+len(s.Under) == 0
	spent := free && t.spent(s)
	var err error
	if spent && !s.Told {
		_, err = w.store(ctx, p, t, s, nil, nil)
	}
	h.mu.Unlock()
	if err != nil || !free || spent || !w.mayDiffer(t) {
		return err
	}
	seen := sight{Pod: t.Pod, ID: t.ID, At: w.now(), From: max(p.State.Turn.Began-1, 0)}
	now, blind, err := w.find(ctx, p.Pod, t.ID, t.File, t.view.prints)
	if err != nil {
		return w.unseen(ctx, p, h, t, err)
	}
	if !h.has(t) {
		w.unfollow(p.Pod.ID, t.ID) // It was removed or changed meanwhile.
		return nil
	}
	t.view.blind, t.view.prints = blind, now.prints
	all := changes(t.view.Files, now)
	seen.Files = now.digests()
	switch {
	case len(all) == 0:
		t.view.sight, t.view.differ = seen, nil
		return nil
	case !maps.Equal(t.view.differ, seen.Files):
		t.view.differ, t.view.since = seen.Files, time.Now()
		w.stir(p.Pod.ID)
		return nil
	case time.Since(t.view.since) < still:
		w.stir(p.Pod.ID)
		return nil
	}
	others, err := w.byOthers(ctx, p, t, all)
	if err != nil {
		return err
	}
	return w.countChanges(ctx, p, h, t, &seen, others)
}

// mayDiffer says whether the files of a trigger may differ from what was seen, and forgets that.
func (w *Wing) mayDiffer(t *trigger) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := t.Pod + "/" + t.ID
	touched := w.touched[key]
	delete(w.touched, key)
	return touched || t.view.blind || t.view.prints == nil || t.view.differ != nil
}

func (h *home) has(t *trigger) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.all, t)
}

// countChanges stores what was seen of the files, and a fire if others than the pod changed some.
func (w *Wing) countChanges(ctx context.Context, p *pod.Hosted, h *home, t *trigger, seen *sight, others []change) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := t.on(w.now())
	if !slices.Contains(h.all, t) || s.Paused != "" {
		return nil
	}
	var fires []due
	if len(others) > 0 {
		s.Fires++
		fires = []due{{Pod: t.Pod, ID: t.ID, N: s.Fires, Due: w.now(), Files: told(others, w.maxData())}}
	}
	s.saw = seen
	if _, err := w.store(ctx, p, t, s, fires, nil); err != nil {
		return err
	}
	t.view.sight, t.view.differ = *seen, nil
	return nil
}

// unseen says that the files of a trigger cannot be looked at: it is paused if that does not pass.
func (w *Wing) unseen(ctx context.Context, p *pod.Hosted, h *home, t *trigger, err error) error {
	if ctx.Err() != nil {
		return err
	}
	t.view.prints = nil // The next look reads all.
	if reason := item.ReasonOf(err); reason != "BAD_DIR" && reason != "TOO_MANY_FILES" {
		w.Host.Logger.Warn("cannot look at the files of a trigger: podd tries again", "pod", p.Pod.ID, "trigger", t.Name, "error", err)
		t.view.blind = true
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.all, t) || t.Paused != "" {
		return nil
	}
	return w.pause(ctx, p, t, err.Error())
}

// span is the time in which a call of a pod ran.
type span struct{ from, to time.Time }

// byOthers are those changes that no call of the pod, or of a pod below it, made: none ran then.
func (w *Wing) byOthers(ctx context.Context, p *pod.Hosted, t *trigger, all []change) (others []change, err error) {
	spans, err := w.calls(ctx, p.Pod, t.view.From, t.view.At)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		own := slices.ContainsFunc(spans, func(s span) bool {
			if c.at.IsZero() {
				return s.to.After(t.view.At)
			}
			return !c.at.Before(s.from.Add(-coarse)) && !c.at.After(s.to)
		})
		if !own {
			others = append(others, c)
		}
	}
	return others, nil
}

// calls are when calls ran of a pod, since an entry, and of the pods below it, since a time.
func (w *Wing) calls(ctx context.Context, p item.Pod, from item.Seq, since time.Time) (all []span, err error) {
	pods, err := w.Host.Store.Pods(ctx)
	if err != nil {
		return nil, err
	}
	family := []item.Pod{p}
	for i := 0; i < len(family); i++ {
		for _, sub := range pods {
			if sub.Spec.Parent == family[i].ID {
				family = append(family, sub)
			}
		}
	}
	for i, member := range family {
		switch {
		case i > 0 && member.Status.LastActivity.Before(since):
			continue
		case i > 0:
			from = 0
		}
		spans, err := w.callsOf(ctx, member.ID, from)
		if err != nil && item.KindOf(err) != item.KindNotFound {
			return nil, err
		}
		all = append(all, spans...)
	}
	return all, nil
}

// callsOf are when calls of a pod ran, since an entry.
func (w *Wing) callsOf(ctx context.Context, id string, from item.Seq) (all []span, err error) {
	never := w.now().Add(365 * 24 * time.Hour)
	open := make(map[string]int)
	err = w.Host.Logs.Entries(ctx, id, from, calls, func(e item.Entry) bool {
		switch k := e.Kind.(type) {
		case item.ToolStarted:
			if k.Tool != questions.Name && k.Tool != pod.WaitTool && k.Tool != pod.SpawnTool {
				open[k.CallID] = len(all)
				all = append(all, span{e.Time, never})
			}
		case item.ItemAdded:
			if r, ok := k.Item.(item.ToolResult); ok {
				if i, ok := open[r.CallID]; ok {
					all[i].to = e.Time
					delete(open, r.CallID)
				}
			}
		case item.TurnEnded:
			for id, i := range open {
				all[i].to = e.Time
				delete(open, id)
			}
		}
		return true
	})
	if item.ReasonOf(err) == store.ReasonPurged && from > 0 {
		return w.callsOf(ctx, id, 0)
	}
	return all, err
}

func calls(k wire.KindNumber) bool {
	return k == wire.KindToolStarted || k == wire.KindItem || k == wire.KindTurnEnded
}
