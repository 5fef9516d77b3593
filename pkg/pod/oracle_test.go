package pod_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"podd/internal/questions"
	"podd/pkg/fold"
	"podd/pkg/item"
)

// check compares the log with what the clients learned. house checks the invariants of
// any log.
func (m *machine) check() {
	m.t.Helper()
	log := m.log()
	taken := map[string]int{}
	withdrawn := map[string]int{}
	for _, e := range log {
		switch k := e.Kind.(type) {
		case item.TurnStarted:
			count(taken, k.RequestIDs)
		case item.Promoted:
			count(taken, k.RequestIDs)
		case item.Withdrawn:
			count(withdrawn, k.RequestIDs)
		case item.TurnEnded:
			if k.Outcome == item.OutcomeFailed || k.Outcome == item.OutcomeLimit && k.Reason != "MAX_TURN_TIME" {
				m.t.Errorf("end %+v", k)
			}
		}
	}
	if m.fires != nil {
		m.unaskedOnce(log, taken, withdrawn)
	}
	for _, id := range m.submitted {
		if taken[id]+withdrawn[id] != 1 {
			m.t.Errorf("%s was acknowledged, taken %d times and withdrawn %d times", id, taken[id], withdrawn[id])
		}
		delete(taken, id)
	}
	if len(taken) > 0 {
		m.t.Errorf("turns took %v, without a submit", taken)
	}
	for _, id := range m.withdrawn {
		if withdrawn[id] != 1 {
			m.t.Errorf("%s was withdrawn, and is not", id)
		}
	}
	m.learned(log)
	m.once(log)
	if !m.cut {
		m.toldOnce(log)
	}
}

func count(in map[string]int, ids []string) {
	for _, id := range ids {
		in[id]++
	}
}

// learned checks that the log has the notes, answers, rewinds and forks that podd acknowledged.
func (m *machine) learned(log []item.Entry) {
	var left []string
	for _, k := range kinds[item.Note](log) {
		left = append(left, k.Text)
	}
	p, release, err := m.host.Keep(m.t.Context(), "p")
	if err != nil {
		m.t.Fatal(err)
	}
	defer release()
	said := texts(log)
	for _, text := range m.notes {
		waits := slices.ContainsFunc(p.State.Notes, func(n fold.Note) bool { return n.Text == text })
		if !slices.Contains(left, text) || !waits && !slices.Contains(said, "note: "+text) {
			m.t.Errorf("%s was acknowledged, and is lost", text)
		}
	}
	for _, k := range kinds[item.Promoted](log) {
		for _, id := range k.RequestIDs {
			if !slices.Contains(said, "user: "+id) {
				m.t.Errorf("%s joined a turn, and its text did not", id)
			}
		}
	}
	for _, r := range m.answers {
		k, _ := log[r.CallSeq-log[0].Seq].Kind.(item.ItemAdded)
		call, _ := k.Item.(item.ToolCall)
		if !slices.ContainsFunc(kinds[item.ApprovalResolved](log), func(a item.ApprovalResolved) bool {
			return a.CallID == call.CallID && a.Approved == r.Approve
		}) {
			m.t.Errorf("the answer %+v was acknowledged, and is lost", r)
		}
	}
	for _, to := range m.rewinds {
		if !slices.Contains(kinds[item.Rewind](log), item.Rewind{To: to}) {
			m.t.Errorf("the rewind to #%d was acknowledged, and is lost", to)
		}
	}
	for name, at := range m.forks {
		fork := m.logOf(name)
		if len(fork) < int(at) || !reflect.DeepEqual(fork[:at], log[:at]) {
			m.t.Errorf("%s has not the first %d entries of its source", name, at)
		} else if later := fork[at:]; len(kinds[item.Submitted](later))+len(kinds[item.RequestUsage](later))+len(kinds[item.ToolStarted](later)) > 0 {
			m.t.Errorf("%s has more of its source than its first %d entries", name, at)
		}
	}
}

// once checks that no call ran twice, and none without approval.
func (m *machine) once(log []item.Entry) {
	started := map[string]int{}
	for _, k := range kinds[item.ToolStarted](log) {
		started[strings.Trim(strings.TrimPrefix(k.Arguments, `{"file":`), `"}`)]++
	}
	files, err := os.ReadDir(m.marks)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(m.marks, f.Name()))
		if err != nil {
			m.t.Fatal(err)
		}
		if ran := len(content) / 2; ran > started[f.Name()] {
			m.t.Errorf("%s ran %d times and was started %d times", f.Name(), ran, started[f.Name()])
		}
	}
	yes := 0
	for _, r := range kinds[item.ApprovalResolved](log) {
		if r.Approved && r.Key == "" {
			yes++
		}
	}
	m.answeredOnce(log)
	for _, k := range kinds[item.ToolStarted](log) {
		if strings.Contains(k.Arguments, "asked") {
			yes--
		}
	}
	if yes < 0 {
		m.t.Errorf("%d calls ran without approval", -yes)
	}
}

// answeredOnce checks that each call that asked was asked one question, which has one answer or was taken back, and that its result says so.
func (m *machine) answeredOnce(log []item.Entry) {
	asked, answered := map[string]int{}, map[string]item.ApprovalResolved{}
	for _, k := range kinds[item.ApprovalRequested](log) {
		if k.Form != nil {
			asked[k.CallID]++
		}
	}
	for _, k := range kinds[item.ApprovalResolved](log) {
		if k.Key == "" {
			continue
		}
		if _, twice := answered[k.CallID]; twice || asked[k.CallID] != 1 {
			m.t.Errorf("call %s asked %d times, and has a second answer or one too early: %+v", k.CallID, asked[k.CallID], k)
		}
		answered[k.CallID] = k
	}
	for _, e := range log {
		k, _ := e.Kind.(item.ItemAdded)
		r, _ := k.Item.(item.ToolResult)
		a, ok := answered[r.CallID]
		if r.Tool == questions.Name && ok && !a.Withdrawn && strings.Contains(r.Summary, "answered by") != a.Approved {
			m.t.Errorf("the answer %+v gives the result %q", a, r.Summary)
		}
	}
}
