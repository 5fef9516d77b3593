package pod

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// Settings are the part that Reload can replace. Router is required; other zero fields
// mean their documented default. A Settings does not change once a Host has it.
type Settings struct {
	// Router has the endpoints that answer the requests of all pods.
	Router *llm.Router
	// Model and Instructions are for pods without their own.
	Model        item.ModelRef
	Instructions string
	// Fallbacks are models to use when the pod's is unavailable for long.
	Fallbacks []item.ModelRef
	// FileRefRole is "system" to send file references with that literal role.
	FileRefRole string
	// Prune is the rule by which tool results leave the context; its zero value is
	// the default rule.
	Prune fold.Config
	// Models is what is known about models: prices, windows.
	Models fold.Models
	// Compaction says when a summary replaces older items.
	Compaction worker.Compaction
	// Summarize says which tool outputs above their limit a model summarises; its zero value
	// means none.
	Summarize worker.Summarize
	// Limits bound each turn of pods without their own.
	Limits worker.Limits
	// ResumeWithin is how long an open turn may have lain still when podd starts and go on by itself; a person
	// resumes others. 0 means that all go on.
	ResumeWithin time.Duration
	// QuestionTime is how long the question of a running call waits for a person; 0 is for ever.
	QuestionTime time.Duration
	// MaxInbox is how many submits may wait for one pod; default 100.
	MaxInbox int
	// MaxSubmitBytes is the largest submit, all segments together; default 1 MiB.
	MaxSubmitBytes int
	// Interceptors decide, after the file references, in this order.
	Interceptors []interceptor.Interceptor
	// Reconcile finds out how calls ended whose tools do not know it; nil asks nobody.
	Reconcile tool.Reconcile
	// Hooks observe.
	Hooks []hook.Hook
}

// settings are the Settings in the form for a Host.
type settings struct {
	Settings
	chain   interceptor.Chain
	folding *fold.Rules
}

// checked sets defaults and refuses settings with which no pod can work.
func (s Settings) checked() (*settings, error) {
	if s.Router == nil {
		return nil, errors.New("pod: Router is required")
	}
	if s.MaxInbox == 0 {
		s.MaxInbox = 100
	}
	if s.MaxSubmitBytes == 0 {
		s.MaxSubmitBytes = 1 << 20
	}
	folding, err := fold.NewRules(fold.ContextConfig{
		Prune: s.Prune, Models: s.Models, Limiter: func(l []item.OutputLimit) fold.Limiter { return tool.LimitsOf(l).Hold },
	})
	if err != nil {
		return nil, err
	}
	return &settings{
		Settings: s, chain: append(interceptor.Chain{interceptor.FileRefs{}}, s.Interceptors...), folding: folding,
	}, nil
}

// Known is what is known about a model, without asking its endpoint.
func (s *Settings) Known(ref item.ModelRef) fold.Known {
	listed, _ := s.Router.Listed(ref)
	return s.Models.Known(ref, listed)
}

// Target says which model answers the requests of a pod with a spec.
func (s *Settings) Target(spec item.PodSpec) worker.Target {
	return worker.Target{
		Router: s.Router, Model: cmp.Or(spec.ModelRef(), s.Model), Known: s.Known, Options: spec.Options, Fallbacks: s.Fallbacks,
	}
}

// settings are the current ones. One operation reads them once.
func (h *Host) settings() *settings { return h.current.Load() }

// Settings are the current ones, which must not be changed.
func (h *Host) Settings() *Settings { return &h.settings().Settings }

// Reload gives the Host other settings. The bounds of submits apply from the next submit
// on, hooks from the next event, everything else at a pod's next turn: a running turn
// ends with what it began with. On an error the old settings stay.
func (h *Host) Reload(s Settings) error {
	next, err := s.checked()
	if err != nil {
		return err
	}
	return h.pods.unlessClosing(func() {
		h.current.Store(next)
		old := h.listeners.hooks.Swap(h.newFanout(s.Hooks))
		// Replaced hooks still get the events that are queued for them; none keeps podd from
		// ending.
		h.pods.work.Go(func() { old.Close(h.pods.ending) })
	})
}

func (h *Host) newFanout(hooks []hook.Hook) *hook.Fanout {
	return hook.NewFanout(h.Logger, h.Alerts.HookFailed, hooks...)
}

// refold folds the log again if the pod's fold was made under other prices or another
// rule of pruning, or has something that was not stored. It is called while no turn runs.
// Damage that no fold needed before does not keep the pod from working: it keeps the fold
// that it has, with its prices and rule. A pod without a fold is quarantined and ends.
func (a *actor) refold(s *settings) error {
	if a.folded != nil && (a.folded.folding.Same(s.folding) || a.refused != nil && a.refused.Same(s.folding)) {
		return nil
	}
	err := a.fold(a.host.base, s)
	switch {
	case item.KindOf(err) != item.KindDataLoss:
		return err
	case a.folded == nil:
		if err = a.quarantine(err); item.KindOf(err) == item.KindDataLoss {
			a.closing = err
		}
		return err
	}
	a.refused = s.folding
	a.log.Error("cannot fold the log with the new prices or pruning rule; still using the previous ones", "error", err)
	a.journal.raise(item.LevelError, "store", fmt.Sprintf(
		"cannot use the new prices or pruning rule on this pod's log; still using the previous ones: set them back, or restore a backup: %v", err))
	return nil
}
