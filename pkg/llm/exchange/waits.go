package exchange

import (
	"context"
	"errors"
	"sync"
	"time"

	"podd/pkg/llm"
)

// waits are the waits that the endpoint asked for, by model: limits of rates are those of a
// model. All requests share them. While a wait lasts, no request leaves; then one tries
// alone, and the others follow when it is answered. It is safe for use from many goroutines.
type waits struct {
	now  func() time.Time
	mu   sync.Mutex
	held map[string]*held
}

// held is a wait of one model.
type held struct {
	until time.Time
	// why is the error that asked for the wait.
	why *llm.Error
	// trying says that a request tries. changed is closed when that is over.
	trying  bool
	changed chan struct{}
}

// againAfter is the wait when the request that tries is refused without a word about time. It
// is not above the shortest wait that the worker chooses itself.
const againAfter = 250 * time.Millisecond

// pass lets one request leave.
type pass struct {
	waits *waits
	model string
	// tries says that the others wait for this request.
	tries bool
}

// enter waits while another request tries. While the endpoint's wait lasts it returns an
// Error that says how much is left.
func (w *waits) enter(ctx context.Context, model string) (*pass, error) {
	for {
		p, changed, err := w.look(model)
		if changed == nil {
			return p, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// look is enter without waiting: changed is not nil if a request tries.
func (w *waits) look(model string) (p *pass, changed <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p = &pass{waits: w, model: model}
	h := w.held[model]
	if h == nil {
		return p, nil, nil
	}
	if left := h.until.Sub(w.now()); left > 0 {
		e := *h.why
		e.RetryAfter, e.Unsent = left, true
		return nil, nil, &e
	}
	if h.trying {
		return nil, h.changed, nil
	}
	h.trying, p.tries = true, true
	return p, nil, nil
}

// answered lets the others follow: the endpoint answers.
func (p *pass) answered() {
	if !p.tries {
		return
	}
	p.waits.mu.Lock()
	defer p.waits.mu.Unlock()
	p.tries = false
	h := p.waits.held[p.model]
	close(h.changed)
	h.trying, h.changed = false, make(chan struct{})
	// A request that left before the wait may have lengthened it.
	if !h.until.After(p.waits.now()) {
		delete(p.waits.held, p.model)
	}
}

// ended records how the request ended. An error that asks for a wait holds all requests.
func (p *pass) ended(err error) {
	w := p.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.held[p.model]
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Class == llm.ClassRateLimit && !e.Final {
		wait := e.RetryAfter
		if p.tries {
			wait = max(wait, againAfter)
		}
		if h == nil && wait > 0 {
			h = &held{changed: make(chan struct{})}
			w.held[p.model] = h
		}
		if until := w.now().Add(wait); wait > 0 && until.After(h.until) {
			h.until, h.why = until, e
		}
	}
	if p.tries {
		p.tries, h.trying = false, false
		close(h.changed)
		h.changed = make(chan struct{})
	}
}
