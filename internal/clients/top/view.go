package top

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"podd/internal/clients/cells"
	"podd/internal/clients/show"
	"podd/internal/clients/tty"
	poddv1 "podd/proto/podd/v1"
)

// Config says what to show, and where.
type Config struct {
	// Watch yields the pods and their changes until its context ends, and calls lost when podd
	// has gone away.
	Watch func(ctx context.Context, lost func(error)) iter.Seq2[*poddv1.WatchResponse, error]
	// Triggers says how many triggers there are and when the next one is due, in a few words; empty without any.
	Triggers func(ctx context.Context) string
	// In and Out are the same terminal, which can move its cursor.
	In, Out *os.File
	// Color allows colours.
	Color bool
	// Now is the clock.
	Now func() time.Time
	// Selected is the id of the pod that is marked at first; empty means the first one.
	Selected string
}

// errHangup is the cause of the end when the terminal is gone.
var errHangup = errors.New("the terminal hung up; the pods keep running")

// lost says that podd cannot be reached, and ticked that a second has passed; triggers is what Triggers says now.
type (
	lost     struct{}
	ticked   struct{}
	triggers string
)

// askAgain is how often the view asks for triggers: to list them podd reads logs.
const askAgain = 30 * time.Second

// Run shows the pods until the person leaves, or chooses one, whose id it returns. The
// terminal is as it was afterwards.
func Run(ctx context.Context, cfg Config) (chosen string, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	jobs := tty.NewJobs()
	defer jobs.Close()
	m := &model{ctx: ctx, jobs: jobs, Config: cfg, fleet: NewFleet(), columns: 80, rows: 24, selected: cfg.Selected, fail: fail}
	program := tea.NewProgram(m, tea.WithoutSignalHandler(), tea.WithInput(tty.NewKeyboard(cfg.In, fail)), tea.WithOutput(cfg.Out),
		tea.WithColorProfile(colorprofile.ANSI))
	defer cells.Cluster(false)
	var work sync.WaitGroup
	work.Go(func() {
		<-ctx.Done()
		program.Quit()
	})
	work.Go(func() {
		for r, err := range cfg.Watch(ctx, func(error) { program.Send(lost{}) }) {
			if err != nil {
				fail(err)
				return
			}
			program.Send(r)
		}
	})
	work.Go(func() {
		again := time.NewTicker(askAgain)
		defer again.Stop()
		for ctx.Err() == nil {
			program.Send(triggers(cfg.Triggers(ctx)))
			select {
			case <-again.C:
			case <-ctx.Done():
			}
		}
	})
	work.Go(func() {
		ticks := time.NewTicker(time.Second)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				program.Send(ticked{})
			case s := <-jobs:
				program.Send(s)
			case <-hangup:
				fail(errHangup)
			case <-ctx.Done():
				return
			}
		}
	})
	_, err = program.Run()
	cause := context.Cause(ctx)
	fail(nil)
	work.Wait()
	if cause == nil && err != nil {
		cause = fmt.Errorf("the view ended; the pods keep running: %w", err)
	}
	return m.chosen, cause
}

// model is the view for bubbletea. The program's goroutine owns it.
type model struct {
	Config
	ctx           context.Context
	jobs          tty.Jobs
	fleet         *Fleet
	columns, rows int
	// ready says that all pods have been shown once, away that podd cannot be reached.
	ready, away bool
	triggers    triggers
	// selected is the id of the marked pod; empty means the first row. at is its row, from is
	// the first row on the screen.
	selected string
	at, from int
	// chosen is the pod to attach to.
	chosen string
	fail   context.CancelCauseFunc
}

// Init has nothing to begin.
func (m *model) Init() tea.Cmd { return nil }

// Update takes a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case *poddv1.WatchResponse:
		m.fleet.Take(msg)
		if m.fleet.Complete() {
			m.ready, m.away = true, false
		}
	case lost:
		m.away = true
		m.fleet.Lost()
	case triggers:
		m.triggers = msg
	case os.Signal:
		return m, m.job(msg)
	case tea.ResumeMsg:
		return m, tea.Batch(tea.Raw(cells.Mode()), tea.ClearScreen)
	case tea.ModeReportMsg:
		cells.Reported(msg.Mode, msg.Value)
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.press(msg.Keystroke())
	}
	return m, nil
}

// job gives the terminal back before the process stops, and takes it again when it goes on.
func (m *model) job(s os.Signal) tea.Cmd {
	run := func() error { return nil }
	if s == syscall.SIGTSTP {
		if !tty.UnderShell() {
			return nil
		}
		run = func() error { return tty.Stop(m.ctx) }
	}
	return tea.Exec(m.jobs.Away(run), func(error) tea.Msg { return tea.ResumeMsg{} })
}

// press handles a key.
func (m *model) press(key string) tea.Cmd {
	rows := m.sorted()
	page := max(m.visible(), 1)
	to := m.at
	switch key {
	case "q", "esc", "ctrl+c", "ctrl+d":
		return tea.Quit
	case "enter":
		if len(rows) > 0 && !m.away {
			m.chosen = rows[m.at].id
			return tea.Quit
		}
	case "up", "k":
		to--
	case "down", "j":
		to++
	case "pgup":
		to -= page
	case "pgdown":
		to += page
	case "home", "g":
		to = 0
	case "end", "shift+g":
		to = len(rows)
	case "ctrl+l":
		return tea.ClearScreen
	case "ctrl+z":
		return m.job(syscall.SIGTSTP)
	default:
		return nil
	}
	if to != m.at && len(rows) > 0 {
		m.selected = rows[min(max(to, 0), len(rows)-1)].id
	}
	return nil
}

// sorted are the rows now; the mark follows its pod.
func (m *model) sorted() []row {
	rows := rowsOf(m.fleet.Pods(), m.Now())
	if at := slices.IndexFunc(rows, func(r row) bool { return r.id == m.selected }); at >= 0 {
		m.at = at
	} else if m.selected == "" {
		m.at = 0
	}
	m.at = max(min(m.at, len(rows)-1), 0)
	return rows
}

// extra are the lines besides the pods: the summary, the heads and the keys.
const extra = 3

func (m *model) visible() int { return max(m.rows-extra, 1) }

// View is the screen.
func (m *model) View() (v tea.View) {
	defer func() {
		if r := recover(); r != nil {
			m.fail(fmt.Errorf("internal error: the view ended; the pods keep running: %v", r))
		}
	}()
	v.AltScreen = true
	var text []string
	for _, l := range m.screen() {
		text = append(text, l.Fit(m.columns).SGR(m.Color))
	}
	v.SetContent(strings.Join(text, "\n"))
	return v
}

// screen are the lines of the screen.
func (m *model) screen() []show.Line {
	rows := m.sorted()
	room := m.visible()
	m.from = max(min(m.from, m.at, len(rows)-room), m.at-room+1, 0)
	shown := rows[m.from:min(m.from+room, len(rows))]
	lay := layoutOf(rows, m.columns-len("> "))
	heading := show.Plain(m.summary(rows), show.Style{Color: show.Cyan})
	if m.rows <= extra {
		return append([]show.Line{heading}, append(m.lines(lay, shown), nil, nil)...)[:max(m.rows, 1)]
	}
	lines := []show.Line{heading, show.Plain("  "+lay.line(heads), show.Style{Bold: true})}
	if len(rows) == 0 && m.ready {
		lines = append(lines, show.Plain("  no pods yet; podctl create NAME makes one", show.Style{Dim: true}))
	}
	lines = append(lines, m.lines(lay, shown)...)
	for len(lines) < m.rows-1 {
		lines = append(lines, nil)
	}
	keys := "Enter attach · Up/Down choose · q quit"
	if hidden := len(rows) - len(shown); hidden > 0 {
		keys = fmt.Sprintf("%d of %d pods · ", len(shown), len(rows)) + keys
	}
	return append(lines[:m.rows-1], show.Plain(cells.Fit(keys, m.columns), show.Style{Dim: true}))
}

func (m *model) lines(lay layout, shown []row) (lines []show.Line) {
	for i, r := range shown {
		mark, style := "  ", r.style()
		if m.from+i == m.at {
			mark, style.Bold, style.Dim = "> ", true, false
		}
		lines = append(lines, show.Plain(mark+lay.line(r), style))
	}
	return lines
}

// summary says how podd is, and how many pods are how.
func (m *model) summary(rows []row) string {
	switch {
	case m.away:
		return "lost the connection to podd; retrying"
	case !m.ready:
		return "asking podd for its pods"
	}
	var needs, running int
	for _, r := range rows {
		switch r.need {
		case answer, stopped:
			needs++
		case works, waits:
			running++
		}
	}
	text := fmt.Sprintf("pods: %d · need you: %d · at work: %d", len(rows), needs, running)
	if m.triggers != "" {
		text += " · triggers: " + string(m.triggers)
	}
	return text
}
