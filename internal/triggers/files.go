package triggers

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
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

// unsure says that the files may differ although nothing happened to them.
func (v *view) unsure() bool { return v.blind || v.prints == nil || v.differ != nil }

// quiet says whether the files that differ have stayed as they are now for long enough.
func (v *view) quiet(files map[string]string, now time.Time) bool {
	if !maps.Equal(v.differ, files) {
		v.differ, v.since = files, now
	}
	return now.Sub(v.since) >= still
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
	if err != nil || !free || spent || !w.files.take(t.Pod, t.ID) && !t.view.unsure() {
		return err
	}
	seen := sight{Pod: t.Pod, ID: t.ID, At: w.now(), From: max(p.State.Turn.Began-1, 0)}
	now, blind, err := w.files.find(ctx, p.Pod, t.ID, t.File, t.view.prints)
	if err != nil {
		return w.unseen(ctx, p, h, t, err)
	}
	if !h.has(t) {
		w.files.unfollow(p.Pod.ID, t.ID) // It was removed or changed meanwhile.
		return nil
	}
	t.view.blind, t.view.prints = blind, now.prints
	all := changes(t.view.Files, now)
	seen.Files = now.digests()
	if len(all) == 0 {
		t.view.sight, t.view.differ = seen, nil
		return nil
	}
	if !t.view.quiet(seen.Files, w.Now()) {
		w.files.stir(p.Pod.ID)
		return nil
	}
	others, err := w.files.byOthers(ctx, p.Pod, &t.view.sight, all)
	if err != nil {
		return err
	}
	return w.countChanges(ctx, p, h, t, &seen, others)
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
