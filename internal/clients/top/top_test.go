package top

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/clients/cells"
	poddv1 "podd/proto/podd/v1"
)

var clock = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

func watched(name string, state poddv1.PodState, change func(*poddv1.WatchedPod)) *poddv1.WatchedPod {
	p := &poddv1.WatchedPod{Pod: &poddv1.Pod{Id: "pod_" + name, Name: name, State: state, Turn: 3, Spec: &poddv1.PodSpec{Dir: "/home/ann/src/" + name}}, Work: &poddv1.PodWork{}}
	if change != nil {
		change(p)
	}
	return p
}

func fleet() []*poddv1.WatchedPod {
	began := timestamppb.New(clock.Add(-72 * time.Second))
	return []*poddv1.WatchedPod{
		watched("api", poddv1.PodState_POD_STATE_IDLE, func(p *poddv1.WatchedPod) { p.Work, p.Pod.Letters = nil, 2 }),
		watched("build", poddv1.PodState_POD_STATE_RUNNING, func(p *poddv1.WatchedPod) {
			p.Work = &poddv1.PodWork{
				TurnBegan: began, Tools: []string{"shell", "read_file"}, ContextTokens: 50_000, Window: 200_000,
				TurnCostUsd: .014, DayCostUsd: 1.5, DayUnpricedRequests: 1,
			}
		}),
		watched("chat", poddv1.PodState_POD_STATE_RUNNING, func(p *poddv1.WatchedPod) {
			p.Work = &poddv1.PodWork{TurnBegan: began, TokensPerSecond: 42, ContextTokens: 5000, TurnCostUsd: .001}
		}),
		watched("docs", poddv1.PodState_POD_STATE_WAITING, func(p *poddv1.WatchedPod) {
			p.Pod.Spec.Checkout = &poddv1.Checkout{Source: "/home/ann/site", Branch: "podd/docs"}
			p.Pod.StateReason = "the endpoint answers 503: over\x1b[2Jloaded; trying again soon, for the third time"
		}),
		watched("eval", poddv1.PodState_POD_STATE_PAUSED, func(p *poddv1.WatchedPod) { p.Pod.StateReason = "paused by a client" }),
		watched("last", poddv1.PodState_POD_STATE_IDLE, func(p *poddv1.WatchedPod) {
			p.Pod.LastOutcome, p.Pod.StateReason = poddv1.Outcome_OUTCOME_FAILED, "turn 3 failed: HTTP 400: no such model"
		}),
		watched("nogo", poddv1.PodState_POD_STATE_IDLE, func(p *poddv1.WatchedPod) {
			p.Pod.CheckFailed, p.Pod.StateReason = true, `The check "make" failed (exit 2).`
		}),
		watched("site", poddv1.PodState_POD_STATE_WAITING, func(p *poddv1.WatchedPod) { p.Approvals = 2 }),
	}
}

// The table has who needs a person first, and nothing that controls a terminal.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, fleet(), clock); err != nil {
		t.Fatal(err)
	}
	const want = `
NAME   STATE    WAITS-FOR                                                                          TURN  LETTERS  ELAPSED  CTX    TOK/S  COST    TODAY   DIR
site   asks     your 2 approvals                                                                      3        -        -      -      -       -       -  src/site
last   failed   turn 3 failed: HTTP 400: no such model                                                3        -        -      -      -       -       -  src/last
nogo   failed   The check "make" failed (exit 2).                                                      3        -        -      -      -       -       -  src/nogo
eval   paused   paused by a client                                                                    3        -        -      -      -       -       -  src/eval
docs   waiting  the endpoint answers 503: over\x1b[2Jloaded; trying again soon, for the third time     3        -        -      -      -       -       -  site (podd/docs)
build  running  shell, read_file                                                                      3        -    1m12s    25%      -   $0.01  $1.50+  src/build
chat   running  the answer                                                                            3        -    1m12s  5,000     42  <$0.01       -  src/chat
api    idle     -                                                                                     3        2        -      -      -       -       -  src/api
`
	if got := squeezed(out.String()); got != squeezed(want[1:]) {
		t.Errorf("it is\n%s", out.String())
	}
	for l := range strings.Lines(out.String()) {
		if strings.Contains(l, "\x1b") {
			t.Errorf("%q", l)
		}
	}
}

// squeezed is text whose runs of blanks are one.
func squeezed(text string) string {
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	return strings.Join(lines, "\n")
}

// A narrow terminal has fewer columns, and no line is wider than it.
func TestNarrow(t *testing.T) {
	for columns, heads := range map[int]string{
		150: "NAME STATE WAITS-FOR TURN LETTERS ELAPSED CTX TOK/S COST TODAY DIR",
		93:  "NAME STATE WAITS-FOR TURN LETTERS ELAPSED CTX TOK/S COST TODAY",
		81:  "NAME STATE WAITS-FOR LETTERS ELAPSED CTX TOK/S COST TODAY",
		73:  "NAME STATE WAITS-FOR LETTERS ELAPSED CTX TOK/S COST",
		66:  "NAME STATE WAITS-FOR LETTERS ELAPSED CTX COST",
		57:  "NAME STATE WAITS-FOR ELAPSED CTX COST",
		46:  "NAME STATE WAITS-FOR ELAPSED",
		34:  "NAME STATE WAITS-FOR",
		9:   "NAME",
	} {
		m := shown(columns, 10)
		var lines []string
		for _, l := range m.screen() {
			text := l.Fit(columns).String()
			if cells.Width(text) > columns {
				t.Errorf("%d columns: %q", columns, text)
			}
			lines = append(lines, text)
		}
		if got := squeezed(lines[1]); len(lines) != 10 || !strings.HasPrefix(got, heads) || columns > 30 && got != heads {
			t.Errorf("%d columns:\n%s", columns, strings.Join(lines, "\n"))
		}
	}
}

// shown is a view that has all pods.
func shown(columns, rows int) *model {
	m := &model{Config: Config{Now: func() time.Time { return clock }}, fleet: NewFleet()}
	m.Update(tea.WindowSizeMsg{Width: columns, Height: rows})
	for _, p := range fleet() {
		m.Update(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Pod{Pod: p}})
	}
	m.Update(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Complete{Complete: true}})
	return m
}

func screenOf(m *model) string {
	var lines []string
	for _, l := range m.screen() {
		lines = append(lines, l.String())
	}
	return strings.Join(lines, "\n")
}

// The mark follows its pod through the table and scrolls it; a loss of podd shows, and what
// is not sent again is gone.
func TestMark(t *testing.T) {
	m := shown(100, 6)
	m.Update(triggers("2, next due 02:30"))
	if s := screenOf(m); !strings.Contains(s, "pods: 8 · need you: 3 · at work: 3 · triggers: 2, next due 02:30") || !strings.Contains(s, "> site") || !strings.Contains(s, "3 of 8 pods") || strings.Contains(s, "api") {
		t.Errorf("at first\n%s", s)
	}
	m.press("end")
	if s := screenOf(m); !strings.Contains(s, "> api") || strings.Contains(s, "site") {
		t.Errorf("at the end\n%s", s)
	}
	m.press("up")
	if s := screenOf(m); !strings.Contains(s, "> chat") {
		t.Errorf("one up\n%s", s)
	}
	m.Update(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Pod{Pod: watched("chat", poddv1.PodState_POD_STATE_WAITING, func(p *poddv1.WatchedPod) { p.Approvals = 1 })}})
	if s := screenOf(m); !strings.Contains(s, "> chat   asks     your approval") {
		t.Errorf("it moved\n%s", s)
	}
	m.Update(lost{})
	if s := screenOf(m); !strings.Contains(s, "lost the connection to podd; retrying") || !strings.Contains(s, "> chat") {
		t.Errorf("podd is away\n%s", s)
	}
	if m.press("enter"); m.chosen != "" {
		t.Errorf("chosen %q while podd is away", m.chosen)
	}
	m.Update(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Pod{Pod: watched("site", poddv1.PodState_POD_STATE_IDLE, nil)}})
	m.Update(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Complete{Complete: true}})
	if s := screenOf(m); !strings.Contains(s, "pods: 1 ·") || !strings.Contains(s, "> site") {
		t.Errorf("podd is back\n%s", s)
	}
	if cmd := m.press("enter"); cmd == nil || m.chosen != "pod_site" {
		t.Errorf("chosen %q", m.chosen)
	}
	m.Update(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Removed{Removed: "pod_site"}})
	if s := screenOf(m); !strings.Contains(s, "no pods yet") {
		t.Errorf("without pods\n%s", s)
	}
	m.press("enter")
	m.press("down")
}

// Any size has as many lines as the screen, and a thousand pods take no longer.
func TestSizes(t *testing.T) {
	m := shown(80, 24)
	for i := range 1000 {
		m.Update(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Pod{Pod: watched(fmt.Sprintf("p%d", i), poddv1.PodState_POD_STATE_IDLE, nil)}})
	}
	for rows := 1; rows < 30; rows++ {
		m.Update(tea.WindowSizeMsg{Width: 3 * rows, Height: rows})
		m.press("pgdown")
		if n := len(m.screen()); n != rows {
			t.Errorf("%d rows: %d lines", rows, n)
		}
		m.View()
	}
}

// Without a pod the tree has all, each below its parent if that is known. One in the background is marked.
func TestTree(t *testing.T) {
	below := func(parent, call string) func(*poddv1.WatchedPod) {
		return func(p *poddv1.WatchedPod) { p.Pod.Spec.Parent, p.Pod.Spec.ParentCall = parent, call }
	}
	idle := poddv1.PodState_POD_STATE_IDLE
	pods := []*poddv1.WatchedPod{
		watched("lead", idle, nil), watched("a", idle, below("pod_lead", "c1")), watched("b", idle, below("pod_lead", "")),
		watched("c", idle, below("pod_a", "c2")), watched("apart", idle, below("pod_gone", "")), watched("web", idle, nil),
	}
	for top, want := range map[string]string{
		"":         "apart (background)|lead|  a|    c|  b (background)|web",
		"pod_lead": "lead|  a|    c|  b (background)",
		"pod_b":    "b (background)",
		"pod_none": "",
	} {
		var out bytes.Buffer
		some, depths := Tree(pods, top)
		if err := WriteTree(&out, some, depths, clock); err != nil {
			t.Fatal(err)
		}
		var names []string
		for line := range strings.Lines(out.String()) {
			names = append(names, strings.TrimRight(strings.Split(line, "idle")[0], " \n"))
		}
		if got := strings.Join(names[1:], "|"); got != want {
			t.Errorf("below %q are %q, want %q", top, got, want)
		}
	}
}
