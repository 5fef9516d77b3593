package workspace

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"podd/internal/guard/policy"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/worker"
)

// Workspace is where one loaded pod works; see [pod.Workspace] for who calls what.
type Workspace struct {
	all      *Workspaces
	id, name string
	// above gives the pods above this one, its parent first.
	above func() ([]item.Pod, error)
	// rules decide on calls; turns ask them while the pod's goroutine may replace them.
	rules atomic.Pointer[rulebook]

	// mu guards what follows. It is not held over I/O.
	mu   sync.Mutex
	spec item.PodSpec
	// dir is nil until the directory is open; uses counts the turns that work in it.
	dir  *directory
	uses int
	// closed is why the workspace is closed; nil while it is not.
	closed error
	// project is what the last turn followed.
	project Project
}

// followed is what the configuration of the workspace added when it was last followed.
func (w *Workspace) followed() Project {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.project
}

// follow lets what the configuration of the workspace says count from now on: that of the
// pod at the top of a family, from where the paths of rules are named.
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
	if moves = movesTo(w.spec, spec); moves {
		above, err := w.above()
		if err != nil {
			return false, nil, err
		}
		if _, err := within(spec, above); err != nil {
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

// movesTo says whether tools stand on something else under another spec.
func movesTo(from, to item.PodSpec) bool {
	return from.Dir != to.Dir || !slices.Equal(from.Read, to.Read) || !slices.Equal(from.Write, to.Write) ||
		!slices.Equal(from.Tools, to.Tools) || from.SubPods != to.SubPods
}

// opened is the workspace's directory. One that was moved or replaced is opened again, once
// no turn works in it. It may hang.
func (w *Workspace) opened() (*directory, error) {
	w.mu.Lock()
	old := w.dir
	w.mu.Unlock()
	if old != nil && old.fs.Stale() {
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
			// Another was faster, or the pod has moved or ended meanwhile.
			made.close()
		}
	}
}

// enter takes a directory, unless there is one or another is wanted.
func (w *Workspace) enter(dir *directory) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir != nil || w.closed != nil || movesTo(dir.spec, w.spec) {
		return false
	}
	w.dir, w.uses = dir, 0
	return true
}

// leave closes the directory; stale closes it if it is still that one and no turn works in
// it. It is opened again when it is needed next.
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

// Close closes the directory for good.
func (w *Workspace) Close(cause error) {
	w.mu.Lock()
	w.closed = cause
	w.mu.Unlock()
	w.leave(nil)
}

// manySlots is more spawned pods than can have been at work.
const manySlots = 1 << 16

// Recovering equips a worker without a directory; see [pod.Workspace].
func (w *Workspace) Recovering(c *worker.Config) error {
	s := w.all.settings()
	folder, err := w.all.spool.Folder(w.id)
	if err != nil {
		return err
	}
	tools, err := builtin.Recovering(builtin.Config{Spool: folder, Shell: w.all.Shell, Logger: w.all.Logger, Limits: s.ToolOutput})
	if err != nil {
		return err
	}
	tools = append(tools, w.all.Tools...)
	if w.all.SubPods != nil {
		parent := item.Pod{ID: w.id, Spec: item.PodSpec{SubPods: manySlots}}
		tools = append(tools, w.all.SubPods(parent, 0, nil)(nil))
	}
	c.Spool, c.Output = folder, s.ToolOutput
	c.Tools, err = tool.NewRegistry(tools...)
	return err
}

// RuleFor is the rule that lets such calls run unasked as the one that asks. The tools are
// the pod's own and those of other programs, of which none is started.
func (w *Workspace) RuleFor(ctx context.Context, asked item.ApprovalRequested) (*item.Rule, error) {
	dir, err := w.opened()
	if err != nil {
		return nil, err
	}
	own, err := w.tools(w.all.settings(), dir)
	if err != nil {
		return nil, err
	}
	more := (&ground{skills: skills.Find(w.toldBy(dir.fs), dir.skillsDir)}).skill()
	if foreign := w.followed().Tools; foreign != nil {
		more = append(more, foreign(ctx, false)...)
	}
	tools, err := own.with(more)
	if err != nil {
		return nil, err
	}
	t, known := tools.Lookup(asked.Tool)
	if !known {
		return nil, item.Errorf(item.KindPrecondition, "NO_RULE", "the pod has no tool %q any more: no rule can be made for it", asked.Tool)
	}
	access := t.Access(asked.Arguments)
	var executes []worker.Executed
	if access.Command != "" {
		executes = executed(dir.fs)(access.Command)
	}
	if asked.Digest != worker.Digest(dir.spec.Dir, asked.Tool, asked.Arguments, access.Targets, executes) {
		return nil, item.Errorf(item.KindPrecondition, "APPROVAL_CHANGED",
			"the call is not what was asked about any more, so no rule is made of it: approve it alone, and it asks again")
	}
	made, err := policy.RuleFor(w.rules.Load().call(asked.Tool, access))
	if err != nil {
		return nil, err
	}
	return &made, nil
}
