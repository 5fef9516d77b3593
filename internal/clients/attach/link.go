package attach

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"podd/pkg/item"
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
	// last is what the person told podd to do last, unless podd has answered.
	last *sent
	// missed is why podd may not have what the person sent last before the view ended.
	missed atomic.Pointer[error]
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

// sent is something that the person told podd to do.
type sent struct {
	ended chan struct{}
	// lost is why podd may not have it.
	lost error
}

// send is call for what the person tells podd to do: podd gets it in the order in which it was
// told, even if the view ends at once, or Run says that it may not have. What was told after
// something that podd may not have fails too.
func (l *link) send(ask func(ctx context.Context) error, done func(err error)) {
	l.inOrder(&l.last, ask, done)
}

// ask makes a request with call or send, and gives the view the answer.
func ask[Req, Resp, Option any](how func(func(context.Context) error, func(error)), method func(context.Context, Req, ...Option) (Resp, error), req Req, done func(Resp, error)) {
	var resp Resp
	how(func(ctx context.Context) (err error) {
		resp, err = method(ctx, req)
		return err
	}, func(err error) { done(resp, err) })
}

// inOrder is call for asks that go one after the other. last is the one that was given last.
func (l *link) inOrder(last **sent, ask func(ctx context.Context) error, done func(err error)) {
	before, now := *last, &sent{ended: make(chan struct{})}
	*last = now
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.ctx))
	stop := context.AfterFunc(l.ctx, func() { time.AfterFunc(parting, cancel) })
	l.begin(func() error {
		defer cancel()
		defer stop()
		var err error
		if before != nil {
			<-before.ended
			err = before.lost
		}
		if err == nil {
			err = ask(ctx)
		}
		if item.KindOf(err) == item.KindUnavailable || ctx.Err() != nil {
			now.lost = err
		}
		if err != nil && l.ctx.Err() != nil {
			l.missed.Store(&err)
		}
		l.hand(func() {
			if *last == now {
				*last = nil
			}
			done(err)
		})
		close(now.ended) // Only now may the next one go: its answer comes after this one.
		return nil
	})
}
