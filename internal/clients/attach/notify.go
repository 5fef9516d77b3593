package attach

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"podd/internal/clients/desk"
)

const (
	// longTurn is how long a turn takes whose end is worth a notice.
	longTurn = time.Minute
	// quiet is the least time between notices; without a key for so long, a person who
	// uses a terminal that does not report focus counts as gone.
	quiet = 10 * time.Second
)

// notifier tells a person who does something else that a pod needs them.
type notifier struct {
	// reports says that the terminal reports focus; blurred that it has none.
	reports, blurred bool
	// pressed is the time of the last key, noticed that of the last notice, and began that of
	// the running turn's begin, by podd's clock.
	pressed, noticed, began time.Time
}

// focused notes whether the terminal has the focus.
func (n *notifier) focused(has bool) { n.reports, n.blurred = true, !has }

// due says whether a notice may be given now, and takes it as given.
func (n *notifier) due(now time.Time) bool {
	away := n.blurred
	if !n.reports {
		away = now.Sub(n.pressed) >= quiet
	}
	if !away || !n.noticed.IsZero() && now.Sub(n.noticed) < quiet {
		return false
	}
	n.noticed = now
	return true
}

// attract gives a notice of fixed words about the pod.
func (a *app) attract(words string) {
	if !a.ready || a.Desk.Notices == desk.Off || !a.notifier.due(a.now()) {
		return
	}
	sequence := noticeOf(a.Env, a.Desk.Notices == desk.OSC, a.pod.GetName()+": "+words)
	a.command = func() tea.Msg { return tea.RawMsg{Msg: sequence} }
}

// noticeOf says how a terminal shows a notice: by OSC 9 or 777 if it is known to show them, else,
// and in a multiplexer, by the bell. With osc it is OSC 9 anyway, which tmux passes on.
func noticeOf(env func(string) string, osc bool, text string) string {
	term, program := env("TERM"), env("TERM_PROGRAM")
	switch {
	case osc && env("TMUX") != "":
		return "\x1bPtmux;\x1b\x1b]9;" + text + "\x07\x1b\\"
	case osc:
		return "\x1b]9;" + text + "\x07"
	case multiplexed(env):
	case slices.Contains([]string{"iTerm.app", "WezTerm", "ghostty"}, program) || term == "xterm-kitty" || term == "xterm-ghostty":
		return "\x1b]9;" + text + "\x07"
	case strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "rxvt-unicode"):
		return "\x1b]777;notify;podd;" + text + "\x1b\\"
	}
	return "\x07"
}

// multiplexed says that a multiplexer draws the screen, not the terminal itself.
func multiplexed(env func(string) string) bool {
	return env("TMUX") != "" || strings.HasPrefix(env("TERM"), "tmux") || strings.HasPrefix(env("TERM"), "screen")
}
