package attach

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// link is how goroutines reach the view: they hand it functions, which it runs in order.
type link struct {
	ctx context.Context
	// fail ends the view with an error.
	fail context.CancelCauseFunc
	do   chan func()
	// waits has a token while functions may wait in do.
	waits chan struct{}
	work  sync.WaitGroup
	// unsent is why podd may not have what the person sent last before the view ended.
	unsent atomic.Pointer[error]
}

// parting is how long what the person sent may still take once the view has ended.
const parting = 3 * time.Second

// mostWaiting is how many functions wait for the view before goroutines have to.
const mostWaiting = 256

func newLink(ctx context.Context, fail context.CancelCauseFunc) link {
	return link{ctx: ctx, fail: fail, do: make(chan func(), mostWaiting), waits: make(chan struct{}, 1)}
}

// woken tells the view that functions wait.
type woken struct{}

// wake wakes the view until ctx ends, and then ends the program. One message stands for all
// functions that wait, so that many of them cost one frame. The program must not end with
// the context: then it leaves goroutines behind.
func (l *link) wake(program *tea.Program) error {
	for {
		select {
		case <-l.waits:
			program.Send(woken{})
		case <-l.ctx.Done():
			program.Quit()
			return nil
		}
	}
}

// drain runs the functions that wait; typed keys show in between.
func (l *link) drain() {
	until := time.Now().Add(50 * time.Millisecond)
	for time.Now().Before(until) {
		select {
		case f := <-l.do:
			f()
		default:
			return
		}
	}
	l.wait()
}

func (l *link) wait() {
	select {
	case l.waits <- struct{}{}:
	default:
	}
}

// hand gives the view a function to run, unless the view ends.
func (l *link) hand(f func()) {
	select {
	case l.do <- f:
		l.wait()
	case <-l.ctx.Done():
	}
}

// begin starts a goroutine that Run waits for. Its error or panic ends the view.
func (l *link) begin(f func() error) {
	l.work.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				l.fail(defect(r))
			}
		}()
		if err := f(); err != nil {
			l.fail(err)
		}
	})
}

// call sends podd a request without blocking the view, which then runs done.
func (l *link) call(ask func(ctx context.Context) error, done func(err error)) {
	l.begin(func() error {
		err := ask(l.ctx)
		l.hand(func() { done(err) })
		return nil
	})
}

// send is call for what the person tells podd to do: it reaches podd even if the view ends at
// once, or Run says that it may not have.
func (l *link) send(ask func(ctx context.Context) error, done func(err error)) {
	l.begin(func() error {
		ctx, cancel := context.WithCancel(context.WithoutCancel(l.ctx))
		defer cancel()
		defer context.AfterFunc(l.ctx, func() { time.AfterFunc(parting, cancel) })()
		err := ask(ctx)
		if err != nil && l.ctx.Err() != nil {
			l.unsent.Store(&err)
		}
		l.hand(func() { done(err) })
		return nil
	})
}
