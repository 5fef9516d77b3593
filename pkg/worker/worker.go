package worker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// Renderer is the version of the code that turns a log into a request. It is stored with
// each setup; raise it when the same log gives other bytes.
const Renderer = 2

// Config configures a Worker. Router and Tools are required; other zero fields mean their
// documented default.
type Config struct {
	// Pod is the pod's id, Dir its workspace.
	Pod, Dir string
	// Target says which model answers the requests.
	Target
	// Briefing is podd's own text for the model, besides the conversation.
	Briefing
	// Project returns the workspace's instructions for work in it, and what a person should
	// know about them. It is called when a turn begins; the result applies until the turn
	// ends. nil returns nothing.
	Project func() (text string, warnings []string)
	// Sending says how items are sent.
	Sending Sending
	// Tools are those that the model may call.
	Tools *tool.Registry
	// Files are the pod's, which are read again after a compaction; nil reads none.
	Files *scopefs.FS
	// Output bounds results of tools; nil means the default limits.
	Output *tool.Limits
	// Spool keeps the full text of cut outputs; nil keeps none.
	Spool Spool
	// Chain decides at the edges of the turn.
	Chain interceptor.Chain
	// Policy says which calls run without a question; nil means all.
	Policy Policy
	// Reconcile finds out how calls ended whose tools do not know it after a kill; nil asks nobody.
	Reconcile tool.Reconcile
	// Checkpoints keep what the pod's files are; nil keeps nothing.
	Checkpoints Checkpoints
	// Executes returns the files of the pod that a command line is known to execute, as they
	// are now; nil returns none.
	Executes func(line string) []Executed
	// Boot identifies the machine and its boot; empty if unknown.
	Boot string
	// ApprovalTime is how long a call waits for a person before it is denied. Default one
	// week.
	ApprovalTime time.Duration
	// QuestionTime is how long a running call waits for an answer before its form is withdrawn; 0 is for ever.
	QuestionTime time.Duration
	// NoQuestions says that the pod asks nobody.
	NoQuestions bool
	// Observe gets the events at the edges; it must not block; nil ignores them.
	Observe func(hook.Edge)
	// Blocked is called while the turn waits for something outside of its log, until the next
	// batch; nil ignores that.
	Blocked func(cause error)
	// Working is called when the turn begins to work, and when it only waits or has ended;
	// it must not block; nil ignores that.
	Working func(working bool)
	// Apart runs work in a goroutine that may hang with the workspace, unless it returns false; nil just
	// starts one.
	Apart func(work func()) bool
	// Limits end a turn that goes on for too long.
	Limits Limits
	// Reserved is a part of the limits on all turns that others use now; nil reserves nothing. It is called in the turn's
	// goroutine. The turn makes no request after an error: it asks again, or ends if the error does not pass.
	Reserved func(ctx context.Context) (Reserved, error)
	// Retry says how a failed request is retried.
	Retry Retry
	// Compaction says when a summary replaces older items.
	Compaction Compaction
	// Summarize says which outputs above their limit a model summarises.
	Summarize Summarize
	// Logger gets messages for the operator; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Sending says how items are sent.
type Sending struct {
	// FileRefRole is "system" to send file references with that literal role.
	FileRefRole string
	// Images gives the bytes of stored images; nil has none.
	Images llm.Images
}

// request is what the model is asked when a log says r.
func (s Sending) request(r fold.Request) llm.Request {
	return llm.Request{Setup: r.Setup, Items: r.Items, Images: s.Images}
}

// Spool keeps the full text of a tool's output.
type Spool interface {
	// Keep stores a text and returns the path of its file.
	Keep(tool, full string) (path string, err error)
	// Ends returns the start and the end of a kept text, at most n bytes each.
	Ends(path string, n int) (head, tail string, err error)
}

// Worker runs the turns of one pod.
type Worker struct {
	Config
	specs []item.ToolSpec
}

// New checks the configuration and sets its defaults.
func New(c Config) (*Worker, error) {
	if c.Router == nil || c.Tools == nil {
		return nil, errors.New("worker: Router and Tools are required")
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
	if c.Apart == nil {
		c.Apart = func(work func()) bool {
			go work()
			return true
		}
	}
	if c.Blocked == nil {
		c.Blocked = func(error) {}
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

// Offer gives the worker other tools. Call it before Run, or not at all.
func (w *Worker) Offer(tools *tool.Registry) { w.Tools, w.specs = tools, tools.Specs() }

// Body is the body of a request.
func (w *Worker) Body(r fold.Request) ([]byte, error) { return w.Router.Body(w.Sending.request(r)) }

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
	// Submits are those that it claims, oldest first; Notes what clients left before it.
	Submits []Submit
	Notes   []item.Note
	// Plan says that the turn only plans: it reads and changes nothing. NoQuestions says that nobody answers questions in it.
	Plan, NoQuestions bool
	// AnswerSchema is the JSON Schema that the last answer must match; empty without one.
	AnswerSchema string
	// Choice precedes the worker's model and effort.
	Choice item.Choice
	// Resume says, for a turn that was left open, why it goes on now; it claims
	// nothing. Waited says that it did no work of its own when it was left. NotBefore is
	// when its next request may be sent, Held what holds the pod; nil when nothing does.
	// Lifted are the pauses until a time that a person ended in it.
	Resume    string
	Waited    bool
	NotBefore time.Time
	Held      *item.Pause
	Lifted    []item.Pause
	// Encoder is that of the pod's earlier turns; nil means a new one.
	Encoder *Encoder
	// Stop, when closed, ends the turn at its next step boundary. It stays open in the log.
	Stop <-chan struct{}
}

// Fit offers those tools that a conversation has a use for: one that asks a person where somebody answers, and the one that
// looks behind a summary where there is one. Offer it first.
func (w *Worker) Fit(asks bool, conversation []item.Item) {
	summarized := false
	if len(conversation) > 0 {
		first, _ := conversation[0].(item.SystemMessage)
		summarized = first.Origin == item.OriginCompaction
	}
	w.specs = slices.DeleteFunc(w.Tools.Specs(), func(s item.ToolSpec) bool {
		return s.Name == tool.AskUser && !asks || s.Name == tool.History && !summarized
	})
}

// Run runs a turn to its terminal entry. now is the pod's state. Cancelling ctx with
// cause a *Cancelled ends the turn as cancelled. With another cause, and when Stop is
// closed, Run returns with the turn open: it resumes when it is run again. The error is
// that of a failed log; then the turn is open too.
func (w *Worker) Run(ctx context.Context, log Log, now Now, turn Turn) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.Fit(!turn.NoQuestions, now.Next.Items)
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
	saver := &saver{w: w, j: j}
	model := cmp.Or(turn.Choice.Model, w.Model)
	return &run{
		w: w, j: j, judge: judge,
		asker:  &asker{w: w, j: j, judge: judge, model: model, fallbacks: w.Fallbacks},
		caller: &caller{w: w, j: j, judge: judge, saver: saver, idle: idleCalls{poke: make(chan struct{}, 1)}},
		gate:   &gate{w: w, j: j, ended: turn.Lifted},
	}
}
