package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"podd/internal/clients/cells"
	"podd/internal/clients/desk"
	"podd/internal/clients/tty"
	"podd/pkg/client"
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
	// Env reads an environment variable.
	Env func(string) string
	// Desk are the person's settings.
	Desk desk.Settings
	// Remote says that podd runs on another machine.
	Remote bool
	// Name identifies the client when it answers a question.
	Name string
	// Verb runs podctl with these arguments for the same podd, and returns what it prints.
	Verb func(ctx context.Context, args []string) string
}

// Left is the pod's state when the person left it.
type Left struct {
	Pod string
	// Turn is the running turn; 0 when none runs.
	Turn int64
}

// errHangup is the cause of the end when the terminal is gone.
var errHangup = errors.New("the terminal hung up; the pod keeps running")

// Run shows a pod until the person leaves, ctx ends or the terminal is gone. Turns keep
// running.
func Run(ctx context.Context, cfg Config) (Left, error) {
	var next *arrival
	for {
		pod, err := cfg.Client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: cfg.Pod})
		if err != nil {
			return Left{}, err
		}
		ctx, fail := context.WithCancelCause(ctx)
		a := newApp(ctx, fail, cfg, pod.GetPod())
		if next != nil {
			a.arrived, a.prompt.plan = next.said, a.prompt.plan || next.plan
		}
		err = a.run(a.follow)
		a.dropOpened()
		if missed := a.missed.Load(); missed != nil && err == nil {
			err = fmt.Errorf("podd may not have what you sent last: %w; podctl tail %s shows what it has", *missed, a.pod.GetName())
		}
		if next = a.other; err != nil || next == nil {
			return Left{Pod: a.pod.GetName(), Turn: a.turn}, err
		}
		cfg.Pod = next.pod
	}
}

// run shows the view while follow feeds it. The terminal is as it was afterwards.
func (a *app) run(follow func() error) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	a.jobs = tty.NewJobs()
	defer a.jobs.Close()
	defer cells.Cluster(false)
	program := tea.NewProgram(a, tea.WithoutSignalHandler(), tea.WithInput(tty.NewKeyboard(a.In, a.fail)),
		tea.WithOutput(painter{a.Out, a.Out.Fd(), a}), tea.WithColorProfile(colorprofile.ANSI))
	a.begin(func() error { return a.wake(program) })
	a.begin(follow)
	a.begin(func() error { return a.tick(hangup) })
	_, err := program.Run()
	cause := context.Cause(a.ctx)
	a.fail(nil)
	a.work.Wait()
	if cause == nil && err != nil {
		cause = fmt.Errorf("the view ended; the pod keeps running: %w", err)
	}
	if cause != nil {
		cause = a.keepUnsent(cause)
	}
	return cause
}

// defect is the error for a panic, reported after the terminal is restored.
func defect(r any) error {
	return fmt.Errorf("internal error: the view ended; the pod keeps running: %v\n%s", r, debug.Stack())
}

// Init asks for the background, which decides on the theme. Until the terminal answers, it counts
// as dark. The goroutines of Run send what there is to show.
func (a *app) Init() tea.Cmd {
	if a.Desk.Theme == desk.Auto && a.Color {
		return tea.RequestBackgroundColor
	}
	return nil
}

// Update handles a message in the goroutine that owns the view.
func (a *app) Update(msg tea.Msg) (same tea.Model, next tea.Cmd) {
	defer a.guard()
	a.calls.sees(a.painted.Load())
	same = a
	switch msg := msg.(type) {
	case woken:
		a.drain()
	case tea.WindowSizeMsg, tea.ModeReportMsg, tea.BackgroundColorMsg:
		a.reported(msg)
	case tea.KeyPressMsg, tea.MouseWheelMsg, tea.PasteStartMsg, tea.PasteMsg:
		a.input(msg)
	case tea.FocusMsg, tea.BlurMsg:
		_, has := msg.(tea.FocusMsg)
		a.focused(has)
	case tea.ResumeMsg:
		a.redraw()
	case edited:
		a.edited(msg)
	}
	next, a.command = a.command, nil
	if a.quit {
		next = tea.Quit
	}
	return same, next
}

// reported handles what the terminal says of itself.
func (a *app) reported(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.columns, a.rows = msg.Width, msg.Height
	case tea.ModeReportMsg:
		if cells.Reported(msg.Mode, msg.Value) {
			a.log.again()
			for _, q := range a.calls.questions {
				q.columns = 0
			}
		}
	case tea.BackgroundColorMsg:
		a.light = !msg.IsDark()
	}
}

// input handles what the person does.
func (a *app) input(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if msg.Keystroke() == "alt+esc" { // Esc twice, at once.
			a.press(key{kind: keyEscape})
			msg = tea.KeyPressMsg{Code: tea.KeyEscape}
		}
		a.press(keyOf(msg))
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			a.press(key{kind: keyWheelUp})
		case tea.MouseWheelDown:
			a.press(key{kind: keyWheelDown})
		}
	case tea.PasteStartMsg:
		a.pasting = a.now()
	case tea.PasteMsg:
		a.pasting = time.Time{}
		if msg.Content != "" { // It may be an end without a start.
			a.press(key{keyPaste, pasteText(msg.Content)})
		}
	}
}

// View is the screen.
func (a *app) View() (v tea.View) {
	defer a.guard()
	lines, row, column := a.draw()
	v.SetContent(joined(lines, a.paint()))
	v.AltScreen, v.ReportFocus = true, true
	if a.Desk.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.Cursor = tea.NewCursor(min(column, a.columns-1), row)
	v.Cursor.Shape, v.Cursor.Blink = personsShape, false
	a.calls.framed(a.painted.Load())
	return v
}

// personsShape, without blinking, leaves the cursor as the person has set it up.
const personsShape tea.CursorShape = -1

// guard ends the view after a panic.
func (a *app) guard() {
	if r := recover(); r != nil {
		a.fail(defect(r))
	}
}

// statusEvery is how often the view asks podd for the pod's state: a pause has no entry.
const statusEvery = time.Second

// tick asks for the pod's state regularly, which also moves the times on the screen.
func (a *app) tick(hangup <-chan os.Signal) error {
	ticks := time.NewTicker(statusEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			a.hand(func() { a.askStatus(false) })
		case s := <-a.jobs:
			a.hand(func() { a.job(s) })
		case <-hangup:
			return errHangup
		case <-a.ctx.Done():
			return nil
		}
	}
}
