package attach

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"podd/internal/clients/tty"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// mostHistory is how many earlier entries are shown.
const mostHistory = 2000

// app is what the view shows, and the model of bubbletea: a panic ends it with the terminal restored. The
// goroutine of the program owns everything but the link.
type app struct {
	Config
	link
	now func() time.Time

	// columns and rows are the size of the terminal, light says that its background is light.
	columns, rows int
	light         bool
	// jobs are the signals that take the terminal away and give it back.
	jobs tty.Jobs
	// painted is how often the terminal was written to.
	painted atomic.Int64

	pod *poddv1.Pod
	// turn is the running turn; 0 when none runs.
	turn int64
	log  *blockList
	view scroll
	// ready says that the log has been read; away that podd cannot be reached.
	ready, away bool
	usage       usage
	setup       setup
	// introduced says that the view of a new pod has shown its setup.
	introduced bool
	asking     bool
	activity   activity
	// todo says whether the list of tasks shows; without it that depends on the list.
	todo *bool

	prompt prompt
	// unqueuing is the block of the prompt that leaves the queue.
	unqueuing string
	// kept is the prompt that was stored last; unkept says that one could not be.
	kept   *sent
	unkept bool
	// pasting is since when a paste is open.
	pasting time.Time
	// models, pods and prompts complete commands.
	models offeredModels
	pods   []string
	known  knownPrompts
	// shell is the command of the person's own that runs; nil without one.
	shell *shellRun
	// calls are the calls that wait, confirming is a question of the view's own.
	calls      approvals
	confirming *confirmation
	notifier
	// said is the view's own message, until the next key; doing the last one of a request on its way.
	said, doing string
	// armed is the key that takes effect when it is pressed again at once.
	armed keyKind
	// quit ends the view; other is then the pod to show next, if anything.
	quit  bool
	other *arrival
	// arrived is said once the log has been read.
	arrived string
	// opened is the directory of the pictures that were opened; empty without one.
	opened string
	// command is what the terminal is to do, such as clearing the screen.
	command tea.Cmd
}

// arrival is a pod that a view leaves for: what its view says first, and whether prompts plan.
type arrival struct {
	pod, said string
	plan      bool
}

func newApp(ctx context.Context, fail context.CancelCauseFunc, cfg Config, pod *poddv1.Pod) *app {
	dir := pod.GetSpec().GetDir()
	a := &app{
		Config: cfg, link: newLink(ctx, fail), now: time.Now, columns: 80, rows: 24, pod: pod, log: newBlockList(),
		prompt: prompt{plan: pod.GetSpec().GetPlan(), history: earlier(pastPrompts(cfg, dir))},
		said:   "reading the pod's log",
	}
	a.setup.dir = cfg.short(dir)
	a.prompt.paths.find = finder(cfg.Client, pod.GetId())
	return a
}

// follow reads the pod's stream, and resumes it by sequence when podd is back.
func (a *app) follow() error {
	after := max(a.pod.GetLastSeq()-mostHistory, a.pod.GetFirstSeq()-1, 0)
	if after > 0 && after >= a.pod.GetFirstSeq() {
		earlier := "earlier entries: podctl tail " + a.pod.GetName() + " --after 0"
		a.hand(func() { a.log.notice(dim, earlier) })
	}
	id := a.pod.GetId()
	for {
		options := client.StreamOptions{Pod: id, After: after, Follow: true, Deltas: true, Lost: func(error) { a.hand(a.lost) }}
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
