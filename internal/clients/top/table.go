package top

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"podd/internal/clients/cells"
	"podd/internal/clients/show"
	"podd/internal/clients/view"
	poddv1 "podd/proto/podd/v1"
)

// The columns, in their order.
const (
	nameColumn = iota
	stateColumn
	waitsColumn
	turnColumn
	lettersColumn
	elapsedColumn
	contextColumn
	speedColumn
	costColumn
	todayColumn
	dirColumn
	columnCount
)

var heads = row{cells: [columnCount]string{"NAME", "STATE", "WAITS-FOR", "TURN", "LETTERS", "ELAPSED", "CTX", "TOK/S", "COST", "TODAY", "DIR"}}

// leftOut are the columns that a narrow terminal has no room for, the first one first.
var leftOut = []int{dirColumn, turnColumn, todayColumn, speedColumn, lettersColumn, contextColumn, costColumn, elapsedColumn}

// The bounds of the columns that are cut.
const (
	mostName   = 32
	leastWaits = 14
	gap        = 2
)

// need is how much a pod needs a person.
type need int

const (
	answer need = iota
	stopped
	paused
	waits
	works
	idle
)

// row is a pod in the table.
type row struct {
	id    string
	need  need
	cells [columnCount]string
}

// Sorted are pods in the order of the table: who needs a person first, then by name.
func Sorted(pods []*poddv1.WatchedPod) []*poddv1.WatchedPod {
	return slices.SortedFunc(slices.Values(pods), func(a, b *poddv1.WatchedPod) int {
		return cmp.Or(cmp.Compare(needOf(a), needOf(b)), cmp.Compare(a.GetPod().GetName(), b.GetPod().GetName()))
	})
}

func needOf(p *poddv1.WatchedPod) need {
	switch state := p.GetPod().GetState(); {
	case p.GetApprovals() > 0:
		return answer
	case state == poddv1.PodState_POD_STATE_PAUSED && p.GetPod().GetPause().GetAt() == "":
		return paused // A person did that.
	case state == poddv1.PodState_POD_STATE_PAUSED, state == poddv1.PodState_POD_STATE_INTERRUPTED, state == poddv1.PodState_POD_STATE_QUARANTINED, view.Failed(p.GetPod()) != "":
		return stopped
	case state == poddv1.PodState_POD_STATE_WAITING:
		return waits
	case state == poddv1.PodState_POD_STATE_IDLE:
		return idle
	}
	return works
}

// rowOf shows a pod at a time.
func rowOf(p *poddv1.WatchedPod, now time.Time) row {
	pod, work := p.GetPod(), p.GetWork()
	r := row{id: pod.GetId(), need: needOf(p)}
	for i := range r.cells {
		r.cells[i] = "-"
	}
	r.cells[nameColumn] = pod.GetName()
	r.cells[stateColumn] = cmp.Or(view.Failed(pod), strings.ToLower(strings.TrimPrefix(pod.GetState().String(), "POD_STATE_")))
	if r.need == answer {
		r.cells[stateColumn] = "asks"
	}
	r.cells[waitsColumn] = cmp.Or(waitsFor(p), "-")
	r.cells[turnColumn] = strconv.FormatInt(pod.GetTurn(), 10)
	if n := pod.GetLetters(); n > 0 {
		r.cells[lettersColumn] = strconv.Itoa(int(n))
	}
	if work.GetTurnBegan() != nil {
		r.cells[elapsedColumn] = elapsed(now.Sub(work.GetTurnBegan().AsTime()))
	}
	switch tokens := work.GetContextTokens(); {
	case work.GetWindow() > 0 && tokens > 0:
		r.cells[contextColumn] = fmt.Sprintf("%d%%", tokens*100/work.GetWindow())
	case tokens > 0:
		r.cells[contextColumn] = view.Count(tokens)
	}
	if n := work.GetTokensPerSecond(); n > 0 {
		r.cells[speedColumn] = view.Count(int64(n))
	}
	r.cells[costColumn] = dollars(work.GetTurnCostUsd(), work.GetTurnUnpricedRequests())
	r.cells[todayColumn] = dollars(work.GetDayCostUsd(), work.GetDayUnpricedRequests())
	r.cells[dirColumn] = cmp.Or(view.Place(pod.GetSpec()), "-")
	return r
}

// waitsFor is what keeps a pod from going on, or what it waits for in its work.
func waitsFor(p *poddv1.WatchedPod) string {
	pod := p.GetPod()
	switch n := p.GetApprovals(); {
	case n > 0 && pod.GetQuestions() == n:
		return "your answer"
	case n == 1:
		return "your approval"
	case n > 1:
		return fmt.Sprintf("your %d approvals", n)
	}
	switch needOf(p) {
	case works:
		switch tools := p.GetWork().GetTools(); {
		case len(tools) > 0:
			return strings.Join(tools, ", ")
		case p.GetWork().GetTokensPerSecond() > 0:
			return "the answer"
		}
		return "the model"
	case idle:
		if n := pod.GetJobs(); n > 0 {
			return fmt.Sprintf("jobs: %d", n)
		}
		return ""
	}
	return view.LocalTimes(pod.GetStateReason())
}

// elapsed is how long something takes, in whole seconds.
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", max(d, 0)/time.Second)
	}
	return view.Duration(d)
}

// dollars is a cost; a plus says that it lacks requests without a known price.
func dollars(usd float64, unpriced int64) string {
	more := ""
	if unpriced > 0 {
		more = "+"
	}
	switch {
	case usd > 0 && usd < 0.005:
		return "<$0.01" + more
	case usd > 0:
		return fmt.Sprintf("$%.2f%s", usd, more)
	}
	return "-"
}

// layout is which columns a table shows, and how wide; 0 leaves one out.
type layout [columnCount]int

// layoutOf lays rows out for a terminal.
func layoutOf(rows []row, columns int) (l layout) {
	for _, r := range append([]row{heads}, rows...) {
		for i, c := range r.cells {
			l[i] = max(l[i], cells.Width(show.Safe(c, show.Style{}).Text()))
		}
	}
	l[nameColumn] = min(l[nameColumn], mostName)
	reason := l[waitsColumn]
	l[waitsColumn] = min(reason, leastWaits)
	for _, i := range leftOut {
		if l.width() <= columns {
			break
		}
		l[i] = 0
	}
	l[waitsColumn] += max(min(reason-l[waitsColumn], columns-l.width()), 0)
	return l
}

func (l layout) width() (sum int) {
	for _, w := range l {
		if w > 0 {
			sum += w + gap
		}
	}
	return sum - gap
}

// line is a row without a style. Numbers end their column.
func (l layout) line(r row) string {
	var parts []string
	for i, width := range l {
		if width == 0 {
			continue
		}
		text := cells.Fit(show.Safe(r.cells[i], show.Style{}).Text(), width)
		pad := strings.Repeat(" ", max(width-cells.Width(text), 0))
		if i >= turnColumn && i != dirColumn {
			text, pad = pad, text
		}
		parts = append(parts, text+pad)
	}
	return strings.TrimRight(strings.Join(parts, strings.Repeat(" ", gap)), " ")
}

// style is how a row looks.
func (r row) style() show.Style {
	switch r.need {
	case answer:
		return show.Style{Color: show.Yellow}
	case stopped:
		return show.Style{Color: show.Red}
	case idle, paused:
		return show.Style{Dim: true}
	}
	return show.Style{}
}

// endless is the width of text that no terminal cuts.
const endless = 1 << 20

// Write writes the table as plain text, each pod a line.
func Write(w io.Writer, pods []*poddv1.WatchedPod, now time.Time) error {
	rows := rowsOf(pods, now)
	l := layoutOf(rows, endless)
	for _, r := range append([]row{heads}, rows...) {
		if _, err := fmt.Fprintln(w, l.line(r)); err != nil {
			return err
		}
	}
	return nil
}

func rowsOf(pods []*poddv1.WatchedPod, now time.Time) []row {
	rows := make([]row, 0, len(pods))
	for _, p := range Sorted(pods) {
		rows = append(rows, rowOf(p, now))
	}
	return rows
}
