package pod

import (
	"cmp"
	"context"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// site is where a pod works, and makes workers for its turns. Its methods are called in
// the pod's goroutine; any goroutine may use workspace and lanes.
type site struct {
	host    *Host
	journal *journal
	// workspace is nil until the log is read.
	workspace Workspace
	// lanes have an element for each goroutine that asks the workspace.
	lanes struct{ turn, clients chan struct{} }
	// told is the last alert about ignored parts of the workspace's configuration.
	told string
}

// worker is the pod's worker with the settings that never change. Without a ground it has
// no tools.
func (s *site) worker(set *settings, g Ground) (*worker.Worker, error) {
	c := s.config(set)
	if g != nil {
		if err := g.Equip(&c); err != nil {
			return nil, err
		}
	}
	return worker.New(c)
}

// config is the worker's configuration, as far as it does not depend on the workspace.
func (s *site) config(set *settings) worker.Config {
	h, spec := s.host, s.journal.rec.Spec
	return worker.Config{
		Pod:      s.journal.id,
		Dir:      spec.Dir,
		Target:   set.Target(spec),
		Briefing: worker.Briefing{Instructions: cmp.Or(spec.Instructions, set.Instructions)},
		Sending: worker.Sending{
			FileRefRole: set.FileRefRole,
			Images:      func(digest string) ([]byte, error) { return h.Store.Image(h.base, digest) },
		},
		Tools:        new(tool.Registry),
		Chain:        set.chain,
		Policy:       s.workspace.Decide,
		Reconcile:    set.Reconcile,
		Apart:        h.pods.start,
		Compaction:   set.Compaction,
		Summarize:    set.Summarize,
		Limits:       limitsOf(spec.Limits, set.Limits),
		Reserved:     s.reserved,
		ApprovalTime: h.ApprovalTime,
		QuestionTime: set.QuestionTime,
		Working:      s.journal.presence.activity.set,
		Observe:      func(e hook.Edge) { h.listeners.hooks.Load().Edge(e) },
		Retry:        h.Retry,
		Logger:       h.Logger,
		Now:          h.Now,
	}
}

// reserved is what the wings keep of what all turns of the pod may use.
func (s *site) reserved(ctx context.Context) (sum worker.Reserved, err error) {
	for _, w := range s.host.wings {
		r, err := w.Reserved(ctx, s.journal.id)
		if err != nil {
			return sum, err
		}
		sum.Tokens, sum.Cost = item.Sum(sum.Tokens, r.Tokens), sum.Cost+r.Cost
	}
	return sum, nil
}

// ender is a worker that ends a turn. Its tools find the outcome of calls, and work
// without a workspace.
func (s *site) ender(set *settings) (*worker.Worker, error) {
	c := s.config(set)
	if err := s.workspace.Recovering(&c); err != nil {
		return nil, err
	}
	return worker.New(c)
}

// alertProject raises an alert about ignored parts of the workspace's configuration, once.
func (s *site) alertProject(says string) {
	if says == s.told {
		return
	}
	s.told = says
	if says != "" {
		s.journal.raise(item.LevelWarn, "workspace", says)
	}
}
