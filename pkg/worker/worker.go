package worker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// Renderer is the version of the code that turns a log into a request. It is stored
// with each setup; raise it when the same log gives other bytes.
const Renderer = 1

// Config is what a Worker works with. Model and Tools are required; the zero value
// of the rest is its documented default.
type Config struct {
	// Pod is the pod's id, Dir its workspace.
	Pod, Dir string
	// Model answers the requests.
	Model llm.Model
	// ModelName is the model to ask; empty means the endpoint's default.
	ModelName string
	// Instructions are the operator's, sent with each request.
	Instructions string
	// Project says what the workspace itself says about how work is done in it, and what
	// a person should know of that. It is asked when a turn begins; what it says holds
	// until the turn ends. nil says nothing.
	Project func() (text string, warnings []string)
	// FileRefRole is "system" to send file references with that literal role.
	FileRefRole string
	// Tools are those that the model may call.
	Tools *tool.Registry
	// Files are the pod's, which come back after a compaction; nil brings none back.
	Files *scopefs.FS
	// Output cuts what tools answer; nil means the default limits.
	Output *tool.Limits
	// Spool keeps the full text of what is cut; nil keeps none.
	Spool Spool
	// Chain decides at the edges of the turn.
	Chain interceptor.Chain
	// Policy says which calls run unasked; nil means all.
	Policy Policy
	// Executes are the files of the pod that a command line is known to execute, as they are
	// now; nil knows none.
	Executes func(line string) []Executed
	// ApprovalTime is how long a call waits for a person; after it the call is denied.
	// Default one week.
	ApprovalTime time.Duration
	// Observe is told what happens at the edges; it does not block. nil tells nobody.
	Observe func(hook.Edge)
	// Working is told when the turn begins to work, and when it only waits or has ended;
	// it does not block. nil tells nobody.
	Working func(working bool)
	// Fallbacks are models to ask, in this order, when one can't be asked for long.
	Fallbacks []string
	// Limits end a turn that goes on for too long.
	Limits Limits
	// Retry says how a failed request is tried again.
	Retry Retry
	// Compaction says when a summary takes the place of older items.
	Compaction Compaction
	// Summarize says which outputs over their limit a model summarises.
	Summarize Summarize
	// Logger gets what an operator should know; nil means none.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Spool keeps the full text of a tool's output.
type Spool interface {
	// Keep returns the path of the file that has the text.
	Keep(tool, full string) (path string, err error)
	// Ends returns what a kept text starts and ends with, at most n bytes each.
	Ends(path string, n int) (head, tail string, err error)
}

// Worker runs the turns of one pod.
type Worker struct {
	Config
	specs []item.ToolSpec
}

// New checks the configuration and fills in its defaults.
func New(c Config) (*Worker, error) {
	if c.Model == nil || c.Tools == nil {
		return nil, errors.New("worker: Model and Tools are required")
	}
	if c.Output == nil {
		limits, err := tool.NewLimits(tool.LimitsConfig{})
		if err != nil {
			return nil, err
		}
		c.Output = limits
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Working == nil {
		c.Working = func(bool) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.ApprovalTime = cmp.Or(c.ApprovalTime, 7*24*time.Hour)
	c.Limits = c.Limits.withDefaults()
	c.Retry = c.Retry.withDefaults()
	c.Compaction = c.Compaction.withDefaults()
	c.Summarize = c.Summarize.withDefaults()
	return &Worker{Config: c, specs: c.Tools.Specs()}, nil
}

// Offer gives the worker other tools. It is called before Run, or not at all.
func (w *Worker) Offer(tools *tool.Registry) { w.Tools, w.specs = tools, tools.Specs() }

// Submit is a submit that a turn takes.
type Submit struct {
	// Seq is the sequence of its submitted entry.
	Seq item.Seq
	item.Submitted
}

// Turn is one turn to run.
type Turn struct {
	// Number is the turn's, from 1.
	Number int64
	// Submits are what it claims, oldest first; Notes what clients left before it.
	Submits []Submit
	Notes   []string
	// Resume says, for a turn that was left open, why it goes on now; it claims
	// nothing. Waited says that it did no work of its own when it was left. NotBefore is
	// when its next request may be sent, Held what holds the pod; nil when nothing does.
	Resume    string
	Waited    bool
	NotBefore time.Time
	Held      *item.Pause
	// Encoder is that of the pod's turns before; nil means a new one.
	Encoder *Encoder
	// Stop, when closed, ends the turn at its next step boundary. It stays open in the
	// log.
	Stop <-chan struct{}
}

// Run runs a turn to its terminal entry. now is where the pod stands. Cancelling ctx with cause a *Cancelled ends the turn as
// cancelled. With another cause, and when Stop is closed, Run returns with the turn open:
// it goes on when it is run again. The error is that of a log that failed; then the turn
// is open too.
func (w *Worker) Run(ctx context.Context, log Log, now Now, turn Turn) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := w.newRun(ctx, log, now, turn)
	stopped := make(chan struct{})
	defer func() { <-stopped }()
	go func() {
		defer close(stopped)
		select {
		case <-turn.Stop:
			t.j.stopWaiting(ErrShutdown)
		case <-t.j.waiting.Done():
		}
	}()
	defer t.j.stopWaiting(nil)
	t.j.clock = newWorkClock(w.Limits.MaxTime, cancel, w.Working)
	defer t.j.clock.stop()
	err := t.steps(ctx)
	unstored, ok := errors.AsType[*logError](err)
	if !ok {
		return t.end(ctx, err)
	}
	if s := unstored.refused(); s == nil || t.end(ctx, s) != nil {
		return err
	}
	return nil
}

// newRun is a run of a turn that has not begun.
func (w *Worker) newRun(ctx context.Context, log Log, now Now, turn Turn) *run {
	turn.Encoder = cmp.Or(turn.Encoder, new(Encoder))
	logger := w.Logger.With("pod", w.Pod)
	if turn.Number > 0 {
		logger = logger.With("turn", turn.Number)
	}
	j := &journal{w: w, turn: turn, log: log, now: now, logger: logger}
	j.waiting, j.stopWaiting = context.WithCancelCause(ctx)
	judge := &judge{w: w, j: j}
	return &run{
		w: w, j: j, judge: judge,
		asker:  &asker{w: w, j: j, judge: judge, model: w.ModelName, fallbacks: w.Fallbacks},
		caller: &caller{w: w, j: j, judge: judge, idle: idleCalls{poke: make(chan struct{}, 1)}},
		gate:   &gate{w: w, j: j},
	}
}
