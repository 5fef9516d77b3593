package pod

import (
	"errors"
	"fmt"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// Settings are what a Host can be given anew while it runs. Model is required; the zero
// value of the rest is its documented default. A Settings is not changed once a Host has
// it.
type Settings struct {
	// Model answers the requests of all pods.
	Model llm.Model
	// ModelName and Instructions are for pods that name none of their own.
	ModelName    string
	Instructions string
	// Fallbacks are models to ask when the pod's can't be asked for long.
	Fallbacks []string
	// FileRefRole is "system" to send file references with that literal role.
	FileRefRole string
	// Prune is the rule by which tool results leave the context; its zero value is
	// the default rule. Prices come before the built-in price table.
	Prune  fold.Config
	Prices []fold.ModelPrice
	// Compaction says when a summary takes the place of older items.
	Compaction worker.Compaction
	// Summarize says which tool outputs over their limit a model summarises; its zero
	// value is none.
	Summarize worker.Summarize
	// Limits bound each turn of pods that have no limits of their own.
	Limits worker.Limits
	// MaxInbox is how many submits may wait for one pod; default 100.
	MaxInbox int
	// MaxSubmitBytes is the largest submit, all segments together; default 1 MiB.
	MaxSubmitBytes int
	// Interceptors decide, after the file references, in this order.
	Interceptors []interceptor.Interceptor
	// Hooks observe.
	Hooks []hook.Hook
}

// settings are the Settings as a Host works with them.
type settings struct {
	Settings
	chain   interceptor.Chain
	folding *fold.Rules
}

// checked fills in defaults and refuses what no pod can work with.
func (s Settings) checked() (*settings, error) {
	if s.Model == nil {
		return nil, errors.New("pod: Model is required")
	}
	if s.MaxInbox == 0 {
		s.MaxInbox = 100
	}
	if s.MaxSubmitBytes == 0 {
		s.MaxSubmitBytes = 1 << 20
	}
	folding, err := fold.NewRules(fold.ContextConfig{
		Prune: s.Prune, Prices: s.Prices, Limiter: func(l []item.OutputLimit) fold.Limiter { return tool.LimitsOf(l).Hold },
	})
	if err != nil {
		return nil, err
	}
	return &settings{
		Settings: s, chain: append(interceptor.Chain{interceptor.FileRefs{}}, s.Interceptors...), folding: folding,
	}, nil
}

// settings are those of now. Whoever does one thing reads them once.
func (h *Host) settings() *settings { return h.current.Load() }

// Prices are the configured prices of models.
func (h *Host) Prices() []fold.ModelPrice { return h.settings().Prices }

// Reload gives the Host other settings. The bounds of submits count from the next submit on,
// hooks from the next event. All else a pod takes at its next turn: a turn under way ends with what it began with. On
// an error the old settings stay.
func (h *Host) Reload(s Settings) error {
	next, err := s.checked()
	if err != nil {
		return err
	}
	return h.pods.unlessClosing(func() {
		h.current.Store(next)
		old := h.listeners.hooks.Swap(h.newFanout(s.Hooks))
		// Hooks that are replaced see what they were told; none keeps podd from ending.
		h.pods.work.Go(func() { old.Close(h.pods.ending) })
	})
}

func (h *Host) newFanout(hooks []hook.Hook) *hook.Fanout {
	return hook.NewFanout(h.Logger, h.Alerts.HookFailed, hooks...)
}

// refold folds the log again when the pod's fold was made under other prices or another
// rule of pruning, or holds what was not stored. It is called while no turn runs. Damage
// that no fold needed until now does not keep the pod from working: it keeps the fold that
// it has, with the prices and the rule of that. One that has none is quarantined and ends.
func (a *actor) refold(s *settings) error {
	if a.folded != nil && (a.folded.folding.Same(s.folding) || a.refused != nil && a.refused.Same(s.folding)) {
		return nil
	}
	err := a.fold(a.host.base, s)
	switch {
	case item.KindOf(err) != item.KindDataLoss:
		return err
	case a.folded == nil:
		if err = a.journal.quarantine(a.host.base, err); item.KindOf(err) == item.KindDataLoss {
			a.closing = err
		}
		return err
	}
	a.refused = s.folding
	a.log.Error("the log can't be folded under other prices or another rule of pruning: those of before hold on", "error", err)
	a.journal.raise(item.LevelError, "store", fmt.Sprintf(
		"the pod goes on with the prices and the rule of pruning that it had, and can't be loaded with others: set them back, or restore a backup: %v", err))
	return nil
}
