package worker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/projection"
	"podd/pkg/tool"
)

// Renderer is the version of the code that turns a log into a request. It is stored
// with each setup; raise it when the same log gives other bytes.
const Renderer = 1

// Config is what a Worker works with. Model and Tools are required; the zero value
// of the rest is its documented default.
type Config struct {
	// Pod is the pod's id.
	Pod string
	// Model answers the requests.
	Model llm.Model
	// ModelName is the model to ask; empty means the endpoint's default.
	ModelName string
	// Instructions are the operator's, sent with each request.
	Instructions string
	// FileRefRole is "system" to send file references with that literal role.
	FileRefRole string
	// Tools are those that the model may call.
	Tools *tool.Registry
	// Output cuts what tools answer; nil means the default limits.
	Output *tool.Limits
	// Spool keeps the full text of what is cut; nil keeps none.
	Spool Spool
	// Chain decides at the edges of the turn.
	Chain interceptor.Chain
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

// Limits bound one turn. A zero field means its default.
type Limits struct {
	// MaxSteps is the most model requests; default 200.
	MaxSteps int
	// MaxToolCalls is the most tool calls; default 1,000.
	MaxToolCalls int
	// MaxTime is the longest that a turn may run; default two hours.
	MaxTime time.Duration
	// MaxParallel is how many tools run at once; default 8.
	MaxParallel int
	// MaxGoOns is how often interceptors may keep a turn from finishing; default
	// 10.
	MaxGoOns int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		MaxSteps:     cmp.Or(l.MaxSteps, 200),
		MaxToolCalls: cmp.Or(l.MaxToolCalls, 1000),
		MaxTime:      cmp.Or(l.MaxTime, 2*time.Hour),
		MaxParallel:  cmp.Or(l.MaxParallel, 8),
		MaxGoOns:     cmp.Or(l.MaxGoOns, 10),
	}
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
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Limits = c.Limits.withDefaults()
	c.Retry = c.Retry.withDefaults()
	c.Compaction = c.Compaction.withDefaults()
	c.Summarize = c.Summarize.withDefaults()
	return &Worker{Config: c, specs: c.Tools.Specs()}, nil
}

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
	// Submits are what it claims, oldest first.
	Submits []Submit
	// Stop, when closed, ends the turn at its next step boundary as interrupted.
	Stop <-chan struct{}
}

// Run runs a turn to its terminal entry. state is the fold of the log so far; Run
// adds what it appends. Cancelling ctx ends the turn: with cause a *Cancelled as
// cancelled, else as interrupted. The error is that of a log that failed; then the
// turn has no terminal entry.
func (w *Worker) Run(ctx context.Context, log Log, state *projection.State, turn Turn) error {
	ctx, cancel := context.WithTimeoutCause(ctx, w.Limits.MaxTime, errTurnTime)
	defer cancel()
	t := &run{
		Worker: w,
		turn:   turn,
		log:    log,
		state:  state,
		logger: w.Logger.With("pod", w.Pod, "turn", turn.Number),
	}
	err := t.steps(ctx)
	if _, failed := errors.AsType[*logError](err); failed {
		return err
	}
	return t.end(ctx, err)
}
