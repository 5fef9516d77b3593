package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// Config says which pod to show, and where.
type Config struct {
	Client *client.Client
	// Pod is a name or an id.
	Pod string
	// In and Out are the same terminal, which can move its cursor.
	In, Out *os.File
	// Color allows colours.
	Color bool
	// Name identifies the client when it answers a question.
	Name string
}

// mostHistory is how many earlier entries are shown.
const mostHistory = 2000

// statusEvery is how often the view asks podd for the pod's state: a pause has no entry.
const statusEvery = time.Second

// Left is the pod's state when the person left it.
type Left struct {
	Pod string
	// Turn is the running turn; 0 when none runs.
	Turn int64
}

// Run shows a pod until the person leaves, ctx ends or the terminal is gone. Turns keep
// running.
func Run(ctx context.Context, cfg Config) (left Left, err error) {
	pod, err := cfg.Client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: cfg.Pod})
	if err != nil {
		return Left{}, err
	}
	screen, err := openTerminal(cfg.In, cfg.Out)
	if err != nil {
		return Left{}, err
	}
	defer screen.close()
	ctx, cancel := context.WithCancel(ctx)
	a := &app{Config: cfg, ctx: ctx, screen: screen, pod: pod.GetPod(), do: make(chan func()), log: newBlockList()}
	a.plan = a.pod.GetSpec().GetPlan()
	defer a.work.Wait()
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = defect(r)
		}
	}()
	err = a.run()
	return Left{Pod: a.pod.GetName(), Turn: a.turn}, err
}

// defect is the error for a panic, reported after the terminal is restored.
func defect(r any) error {
	return fmt.Errorf("internal error: the view ended; the pod keeps running: %v\n%s", r, debug.Stack())
}

// typing is what the person has typed: the draft of a prompt and the answer to a question,
// the prompts before, of which one may be recalled, and the completions offered.
type typing struct {
	draft, answer editor
	history       []editor
	recalled      int
	offered       []string
	// plan says that prompts begin turns that only plan.
	plan bool
}

// app is the view. Its loop owns everything but ctx, do and work.
type app struct {
	Config
	ctx  context.Context
	do   chan func()
	work sync.WaitGroup

	screen *terminal
	keys   decoder
	pod    *poddv1.Pod
	// turn is the running turn; 0 when none runs.
	turn int64
	log  *blockList
	view scroll
	// ready says that the log has been read; away that podd cannot be reached.
	ready, away bool
	usage       usage
	asking      bool

	typing
	// said is the view's own message, until the next key.
	said string
	// armed is the key that takes effect when it is pressed again at once.
	armed     keyKind
	questions []*question
	// answering says that typed text is an answer.
	answering bool
	seen      map[string]bool
	quit      bool
	failed    error
}

// run is the loop.
func (a *app) run() error {
	a.seen = make(map[string]bool)
	a.begin(func() error { return a.screen.read(a.ctx, a.typed) })
	a.begin(a.follow)
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	ticks := time.NewTicker(statusEvery)
	defer ticks.Stop()
	a.said = "reading the pod's log"
	for !a.quit && a.failed == nil {
		if err := a.draw(); err != nil {
			return err
		}
		select {
		case f := <-a.do:
			f()
			a.drain()
		case <-resized:
			a.screen.measure()
		case <-ticks.C:
			a.askStatus(false)
		case <-a.ctx.Done():
			return context.Cause(a.ctx)
		}
	}
	return a.failed
}

// drain runs functions that already wait, so that many of them cost one redraw; typed
// keys show in between.
func (a *app) drain() {
	until := time.Now().Add(50 * time.Millisecond)
	for !a.quit && time.Now().Before(until) {
		select {
		case f := <-a.do:
			f()
		default:
			return
		}
	}
}

// begin starts a goroutine that Run waits for. Its error or panic ends the view.
func (a *app) begin(f func() error) {
	a.work.Go(func() {
		err := func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = defect(r)
				}
			}()
			return f()
		}()
		if err != nil {
			a.hand(func() { a.failed = err })
		}
	})
}

// hand gives the loop a function to run, unless the view ends.
func (a *app) hand(f func()) {
	select {
	case a.do <- f:
	case <-a.ctx.Done():
	}
}

// call sends podd a request without blocking the view. done runs in the loop.
func (a *app) call(ask func(ctx context.Context) error, done func(err error)) {
	a.begin(func() error {
		err := ask(a.ctx)
		a.hand(func() { done(err) })
		return nil
	})
}

// typed takes bytes of the terminal.
func (a *app) typed(p []byte) {
	a.hand(func() {
		for _, k := range a.keys.decode(p) {
			a.press(k)
			// Lines that were scrolled past have been seen.
			if len(a.questions) > 0 && a.failed == nil {
				a.failed = a.draw()
			}
		}
	})
}

// follow reads the pod's stream, and resumes it by sequence when podd is back.
func (a *app) follow() error {
	after := max(a.pod.GetLastSeq()-mostHistory, a.pod.GetFirstSeq()-1, 0)
	if after > 0 && after >= a.pod.GetFirstSeq() {
		a.hand(func() { a.log.notice(dim, "earlier entries: podctl tail "+a.pod.GetName()+" --after 0") })
	}
	for {
		options := client.StreamOptions{Pod: a.pod.GetId(), After: after, Follow: true, Deltas: true, Lost: func(error) { a.hand(a.lost) }}
		var failed error
		for m, err := range a.Client.Stream(a.ctx, options) {
			if err != nil {
				failed = err
				break
			}
			after = max(after, m.GetEntry().GetSeq())
			a.hand(func() { a.receive(m) })
		}
		if a.ctx.Err() != nil {
			return nil
		}
		if item.KindOf(failed) != item.KindUnavailable {
			if failed == nil {
				failed = errors.New("podd closed the stream")
			}
			return failed
		}
		a.hand(a.lost)
		select {
		case <-time.After(statusEvery):
		case <-a.ctx.Done():
			return nil
		}
	}
}
