package worker

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Checkpoints keep what the files of a pod are.
type Checkpoints interface {
	// Take looks at the pod's directories, and returns the checkpoints that are due, each after
	// the last one of its directory in at. An error of kind Exhausted means that there is no
	// space now; with another one, the checkpoints are those of the other directories.
	Take(ctx context.Context, at fold.Files, c Changes) ([]item.Checkpoint, error)
	// Leave is called before the turn ends, and may be again. It brings what the pod committed to
	// where a person finds it, and returns what the person should know, in a sentence.
	Leave(ctx context.Context) string
}

// Changes says what a checkpoint is about.
type Changes struct {
	// Agent says that all changes since the last checkpoint are the agent's; else those of
	// Paths are. Paths are absolute.
	Agent bool
	Paths []string
	// Named are the absolute paths that tools are about to change, or have changed.
	Named []string
	Turn  int64
	Step  int
}

// saver takes checkpoints around the calls that may change files: before the first one begins
// and after the last one of those that run together has ended. The changes in between are the
// agent's, all others somebody else's. It belongs to the turn's goroutine.
type saver struct {
	w *Worker
	j *journal
	// open are the calls that have begun, with no checkpoint since.
	open []*call
	// calls are those of a step that may change files: a checkpoint before one of them has what
	// others are about to change, too.
	calls []*call
	step  int
	// over are the background commands that had ended at the last look of this turn; nil before
	// the first one.
	over map[string]bool
	// failed says that the turn has an alert about a checkpoint that failed.
	failed bool
	// silent says that the files did not answer before the turn was ended: nobody waits for them again.
	silent bool
}

// spaceAgain is how often a checkpoint without space is tried again.
const spaceAgain = 2 * time.Second

// closeTime bounds a checkpoint after calls, which a cancelled turn waits for.
const closeTime = time.Minute

// starting adds the checkpoint that precedes calls which begin now. If the turn was ended meanwhile, none of them
// begins: not all is known of what they would do.
func (s *saver) starting(ctx context.Context, kinds []item.Kind, calls ...*call) []item.Kind {
	before := len(s.open)
	kinds = s.precede(ctx, kinds, calls)
	if ctx.Err() == nil {
		return kinds
	}
	s.open = s.open[:before]
	for _, c := range calls {
		if !c.state.toolless() {
			c.refuse("%s", notBegun(ctx, c))
		}
	}
	return nil
}

// precede adds the checkpoint that precedes calls.
func (s *saver) precede(ctx context.Context, kinds []item.Kind, calls []*call) []item.Kind {
	if s.w.Checkpoints == nil {
		return kinds
	}
	if s.step != s.j.step {
		s.step, s.calls = s.j.step, nil
	}
	var begin []*call
	for _, c := range calls {
		if c.acts && !slices.Contains(s.calls, c) {
			s.calls = append(s.calls, c)
		}
		if c.acts && c.state == callRuns && !slices.Contains(s.open, c) {
			begin = append(begin, c)
		}
	}
	if len(begin) == 0 {
		return kinds
	}
	first := len(s.open) == 0
	s.open = append(s.open, begin...)
	if !first {
		return kinds
	}
	return append(s.take(ctx, Changes{Named: s.paths(s.calls)}), kinds...)
}

// goesOn says that an earlier podd started the calls.
func (s *saver) goesOn(calls []*call) {
	for _, c := range calls {
		if c.acts && !slices.Contains(s.open, c) {
			s.open = append(s.open, c)
		}
	}
	for _, job := range s.j.now.Jobs.Known {
		if job.Turn == s.j.turn.Number {
			s.looked(s.j.turn.Number)
		}
	}
}

// looked notes a look at the files. Commands of the resumed turn do not count as over.
func (s *saver) looked(resumed int64) {
	s.over = make(map[string]bool)
	for _, job := range s.j.now.Jobs.Known {
		s.over[job.ID] = job.State != item.JobRunning && job.Turn != resumed
	}
}

// busy says whether a background command ran since this turn's last look: then it counts as the
// author of what changed. Not so before the turn: a person may have worked for hours while a
// server ran.
func (s *saver) busy() bool {
	return s.over != nil && slices.ContainsFunc(s.j.now.Jobs.Known, func(j fold.Job) bool { return !s.over[j.ID] })
}

// ended is the checkpoint after the open calls, once all of them have ended.
func (s *saver) ended(ctx context.Context) []item.Kind {
	s.open = slices.DeleteFunc(s.open, func(c *call) bool { return c.state.held() })
	if len(s.open) == 0 || slices.ContainsFunc(s.open, func(c *call) bool { return !c.state.over() }) {
		return nil
	}
	return s.close(ctx)
}

// close is the checkpoint after the open calls, whether or not they have ended, and at the end of
// a turn that of what background commands did.
func (s *saver) close(ctx context.Context) []item.Kind {
	if len(s.open) == 0 && !s.busy() {
		return nil
	}
	calls := s.open
	s.open = nil
	c := Changes{Named: s.paths(calls)}
	c.Agent = slices.ContainsFunc(calls, func(c *call) bool { return !c.writes || c.command != "" })
	if !c.Agent {
		c.Paths = c.Named
	}
	// What happened has to be stored, also when the turn was cancelled.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	return s.take(ctx, c)
}

// paths are those that calls name, and where these lead.
func (s *saver) paths(calls []*call) (paths []string) {
	for _, c := range calls {
		for _, target := range c.targets {
			for _, path := range append([]string{target.Named()}, target.Leads()...) {
				if !filepath.IsAbs(path) {
					path = filepath.Join(s.w.Dir, path)
				}
				paths = append(paths, filepath.Clean(path))
			}
		}
	}
	return paths
}

// take takes checkpoints, and waits for space as the log does. A checkpoint that cannot be
// taken does not end the turn: an alert says that files are not covered.
func (s *saver) take(ctx context.Context, c Changes) (kinds []item.Kind) {
	if s.w.Checkpoints == nil || s.silent {
		return nil
	}
	defer s.j.clock.rest()()
	c.Agent = c.Agent || s.busy()
	s.looked(0)
	c.Turn, c.Step = s.j.turn.Number, s.j.step
	type seen struct {
		taken []item.Checkpoint
		err   error
	}
	at := s.j.now.Files
	for {
		got, ok := apart(ctx, s.w, func() (found seen) {
			found.taken, found.err = s.w.Checkpoints.Take(ctx, at, c)
			return found
		})
		if s.silent = !ok; s.silent {
			return nil
		}
		taken, err := got.taken, got.err
		if err == nil {
			return s.entries(taken)
		}
		if ctx.Err() != nil {
			return nil
		}
		if item.KindOf(err) != item.KindExhausted {
			s.j.logger.Warn("no checkpoint", "step", s.j.step, "error", err)
			return append(s.entries(taken), s.uncovered(fmt.Sprintf("podd cannot take back what this turn changes: %v", err))...)
		}
		s.j.blocked(ctx, err)
	}
}

// leave does what is due before the turn ends, also when that was cancelled.
func (s *saver) leave(ctx context.Context) []item.Kind {
	if s.w.Checkpoints == nil || s.silent {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	says, _ := apart(ctx, s.w, func() string { return s.w.Checkpoints.Leave(ctx) })
	if says == "" {
		return nil
	}
	a := s.j.alert(item.LevelWarn, says)
	a.Alert.Source = "checkout"
	return []item.Kind{a}
}

func (s *saver) entries(taken []item.Checkpoint) (kinds []item.Kind) {
	for _, k := range taken {
		kinds = append(kinds, k)
		if k.Partial && k.Parent == "" {
			kinds = append(kinds, s.uncovered(fmt.Sprintf("%s is too large to be covered, or is a home directory: podd can take back only what file tools change in it", k.Dir))...)
		}
	}
	return kinds
}

// uncovered is an alert, once a turn.
func (s *saver) uncovered(text string) []item.Kind {
	if s.failed {
		return nil
	}
	s.failed = true
	a := s.j.alert(item.LevelWarn, text)
	a.Alert.Source = "checkpoint"
	return []item.Kind{a}
}
