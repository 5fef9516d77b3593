package workspace

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"podd/internal/guard/policy"
	"podd/internal/letters"
	"podd/internal/shell"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// Workspace is where one loaded pod works; see [pod.Workspace] for the caller of each
// method.
type Workspace struct {
	all      *Workspaces
	id, name string
	// above are the pods above this one, its parent first.
	above func() ([]item.Pod, error)
	// rules decide on calls; turns ask them while the pod's goroutine may replace them.
	rules atomic.Pointer[rulebook]

	// mu guards the fields below. It is not locked during I/O.
	mu   sync.Mutex
	spec item.PodSpec
	// dir is nil until the directory is open; uses counts the turns that work in it.
	dir  *directory
	uses int
	// closed is why the workspace is closed; nil while it is not.
	closed error
	// project is the configuration that the last turn followed.
	project Project
}

// followed is what the workspace's configuration added when it was last followed.
func (w *Workspace) followed() Project {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.project
}

// follow applies the workspace's configuration from now on: that of the pod at the top of
// a family, relative to which rules name paths.
func (w *Workspace) follow(p Project) error {
	book, err := w.rulesOf(w.spec, p.Rules)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.project = p
	w.rules.Store(book)
	return nil
}

// Follow checks a spec that the pod may get.
func (w *Workspace) Follow(spec item.PodSpec) (moves bool, use func(), err error) {
	if moves = w.all.movesTo(w.spec, spec); moves {
		above, err := w.above()
		if err != nil {
			return false, nil, err
		}
		if _, err := within(spec, above); err != nil {
			return false, nil, err
		}
	}
	if spec.Network == item.NetworkOn && w.spec.Network != item.NetworkOn {
		above, err := w.above()
		if err != nil {
			return false, nil, err
		}
		if err := checkNetwork(above, w.all.Shell.Sandbox.ReachesNetwork()); err != nil {
			return false, nil, err
		}
	}
	book, err := w.rulesOf(spec, w.followed().Rules)
	if err != nil {
		return false, nil, err
	}
	return moves, func() {
		w.mu.Lock()
		w.spec = spec
		w.rules.Store(book)
		w.mu.Unlock()
		if moves {
			w.leave(nil)
		}
	}, nil
}

// movesTo says whether tools have another basis under another spec.
func (all *Workspaces) movesTo(from, to item.PodSpec) bool {
	return from.Dir != to.Dir || !slices.Equal(from.Read, to.Read) || !slices.Equal(from.Write, to.Write) ||
		!slices.Equal(from.Tools, to.Tools) || from.SubPods != to.SubPods || letters.Offered(from, nil) != letters.Offered(to, nil) ||
		slices.ContainsFunc(slices.Collect(maps.Keys(all.Named)), func(name string) bool { return isNamed(name, from, nil) != isNamed(name, to, nil) })
}

// opened is the workspace's directory. If it was moved or replaced, or the user has skills since then, it is
// opened again once no turn works in it. It may hang.
func (w *Workspace) opened() (*directory, error) {
	w.mu.Lock()
	old := w.dir
	w.mu.Unlock()
	if old != nil && (old.fs.Stale() || !slices.Equal(old.skillsDirs, w.skillsDirs())) {
		w.leave(old)
	}
	for {
		w.mu.Lock()
		dir, spec, closed := w.dir, w.spec, w.closed
		w.mu.Unlock()
		if dir != nil || closed != nil {
			return dir, closed
		}
		made, err := w.open(spec)
		if err != nil {
			return nil, err
		}
		if !w.enter(made) {
			// Another call was faster, or the pod has moved or ended meanwhile.
			made.close()
		}
	}
}

// enter sets a directory, unless one is open or another is wanted.
func (w *Workspace) enter(dir *directory) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir != nil || w.closed != nil || w.all.movesTo(dir.spec, w.spec) {
		return false
	}
	w.dir, w.uses = dir, 0
	return true
}

// leave closes the directory; with stale only if it is still that one and no turn works
// in it. The next use opens it again.
func (w *Workspace) leave(stale *directory) {
	w.mu.Lock()
	dir := w.dir
	if stale != nil && (dir != stale || w.uses > 0) {
		dir = nil
	}
	if dir != nil {
		w.dir = nil
	}
	w.mu.Unlock()
	if dir != nil {
		dir.close()
	}
}

// use counts a turn that works in a directory until done is called.
func (w *Workspace) use(dir *directory) (done func()) {
	count := func(n int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.dir == dir {
			w.uses += n
		}
	}
	count(1)
	return sync.OnceFunc(func() { count(-1) })
}

// Close closes the directory permanently.
func (w *Workspace) Close(cause error) {
	w.mu.Lock()
	w.closed = cause
	w.mu.Unlock()
	w.leave(nil)
}

// manySlots is more sub-pods than can have been at work.
const manySlots = 1 << 16

// Recovering equips a worker without a directory; see [pod.Workspace].
func (w *Workspace) Recovering(c *worker.Config) error {
	s := w.all.settings()
	folder, err := w.all.spool.Folder(w.id)
	if err != nil {
		return err
	}
	tools := append(shell.New(w.all.Shell, w.all.place(w.id, folder)).Tools(), w.all.Tools...)
	if w.all.Letters != nil {
		tools = append(tools, w.all.Letters(w.id))
	}
	if w.all.History != nil {
		tools = append(tools, w.all.History(w.id))
	}
	for _, make := range w.all.Named {
		tools = append(tools, make(w.id))
	}
	if w.all.SubPods != nil {
		parent := item.Pod{ID: w.id, Spec: item.PodSpec{SubPods: manySlots}}
		tools = append(tools, w.all.SubPods(parent, 0, nil)(nil, nil)...)
	}
	if w.all.AskUser != nil {
		tools = append(tools, w.all.AskUser)
	}
	c.Spool, c.Output, c.Boot = folder, s.ToolOutput, w.all.boot
	c.Tools, err = tool.NewRegistry(tools...)
	return err
}

// RuleFor is the rule that lets calls like this one run without a question. The tools are
// the pod's own and those of other programs, which it does not start.
func (w *Workspace) RuleFor(ctx context.Context, asked item.ApprovalRequested) (*item.Rule, error) {
	dir, err := w.opened()
	if err != nil {
		return nil, err
	}
	own, err := w.tools(w.all.settings(), dir)
	if err != nil {
		return nil, err
	}
	more := (&ground{skills: skills.Find(w.toldBy(dir.fs), dir.skillsDirs...)}).skill()
	if foreign := w.followed().Tools; foreign != nil {
		more = append(more, foreign(ctx, false)...)
	}
	tools, err := own.with(more)
	if err != nil {
		return nil, err
	}
	t, known := tools.Lookup(asked.Tool)
	if !known {
		return nil, item.Errorf(item.KindPrecondition, "NO_RULE", "the pod no longer has the tool %q, so podd cannot add a rule for it", asked.Tool)
	}
	access := t.Access(asked.Arguments)
	var executes []worker.Executed
	if access.Command != "" {
		executes = executed(dir.fs)(access.Command)
	}
	if asked.Digest != worker.Digest(dir.spec.Dir, asked.Tool, asked.Arguments, access.Targets, executes, asked.Previews) {
		return nil, item.Errorf(item.KindPrecondition, "APPROVAL_CHANGED",
			"the call changed since it was shown, so podd adds no rule: approve it without --always")
	}
	made, err := policy.RuleFor(w.rules.Load().call(asked.Tool, access))
	if err != nil {
		return nil, err
	}
	return &made, nil
}
