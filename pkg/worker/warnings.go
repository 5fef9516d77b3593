package worker

import (
	"sync"

	"podd/pkg/item"
)

// warnings are the interceptors' warnings that no batch has stored yet. The goroutines of
// calls review results.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// warn keeps warnings for the next batch.
func (t *journal) warn(texts []string) {
	t.warned.mu.Lock()
	defer t.warned.mu.Unlock()
	t.warned.texts = append(t.warned.texts, texts...)
}

// withWarnings adds the alerts for the interceptors' warnings to a batch, before
// everything but the claim of the turn: they belong to the decisions.
func (t *journal) withWarnings(kinds []item.Kind) []item.Kind {
	t.warned.mu.Lock()
	texts := t.warned.texts
	t.warned.texts = nil
	t.warned.mu.Unlock()
	if len(texts) == 0 {
		return kinds
	}
	var all []item.Kind
	if len(kinds) > 0 {
		if started, ok := kinds[0].(item.TurnStarted); ok {
			all, kinds = append(all, started), kinds[1:]
		}
	}
	for _, text := range texts {
		a := t.alert(item.LevelWarn, text)
		a.Alert.Source = "interceptor"
		all = append(all, a)
	}
	return append(all, kinds...)
}
