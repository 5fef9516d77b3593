package leases

import (
	"bytes"
	_ "embed" // For Record.
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// Record is the SQL that lets a database of podd record a trace from now on; Recorded is the query for it, a change a row.
var (
	//go:embed record.sql
	Record   string
	Recorded = "SELECT to_jsonb(c) FROM trace.changes c JOIN trace.commits t USING (tx) ORDER BY t.n, c.n"
)

// Change is a change of one row by a transaction that was committed. A new row has no Old, a deleted one no New.
type Change struct {
	N int64 `json:"n"`
	// Writer is the name of the node that wrote.
	Writer string `json:"writer"`
	// Began is the database's clock when the transaction began, At when it wrote.
	Began time.Time `json:"began"`
	At    time.Time `json:"at"`
	Old   *Row      `json:"old"`
	New   *Row      `json:"new"`
}

// Row is a row of heads, which has a Pod, or of nodes.
type Row struct {
	Pod   string `json:"pod,omitempty"`
	Place string `json:"place,omitempty"`
	Epoch int64  `json:"epoch,omitempty"`
	Last  int64  `json:"last,omitempty"`

	Node     string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	Start    string `json:"start,omitempty"`
	Draining bool   `json:"draining,omitempty"`
	Lease    string `json:"lease_until,omitempty"`
}

// noLease is the lease of a node that stopped in order.
const noLease = "-infinity"

// over says that the lease of a node is over by a clock.
func (r *Row) over(clock time.Time) bool {
	until, err := time.Parse(time.RFC3339Nano, r.Lease)
	return err != nil || !until.After(clock)
}

// Read reads what Recorded finds.
func Read(rows []byte) (trace []Change, err error) {
	for d := json.NewDecoder(bytes.NewReader(rows)); ; {
		var c Change
		if err := d.Decode(&c); errors.Is(err, io.EOF) {
			return trace, nil
		} else if err != nil {
			return nil, err
		}
		trace = append(trace, c)
	}
}

// key names the row that a change is of.
func (c Change) key() string {
	r := c.New
	if r == nil {
		r = c.Old
	}
	return r.Pod + r.Node
}

// pod is the pod whose head a change is of, if it is.
func (c Change) pod() string {
	if c.New == nil {
		return c.Old.Pod
	}
	return c.New.Pod
}

// hidden are the actions of the same node that no row shows and that may come before one that a row shows.
var hidden = map[action][][]action{
	starts:      {{}, {exits}, {sends, exits}},
	storesWrite: {{}, {sends}},
	stops:       {{}, {drains}},
	releases:    {{}, {drains}},
}

// Check explains each change by an action of the model that its node could do then. It returns how many actions the trace shows, and as an
// error the first change that no action allows.
func Check(trace []Change) (actions int, err error) {
	w := &watched{ids: map[string]int{"": nowhere}, names: map[string]int{}}
	pods := []string{""} // The nodes without a pod are explained too.
	first, last := len(trace), map[string]*Row{}
	for i, c := range trace {
		if was := last[c.key()]; i < first && !same(was, c.Old) {
			first, err = i, fmt.Errorf("change %d: the row was %+v, and is changed from %+v", c.N, was, c.Old)
		}
		last[c.key()] = c.New
		switch r := c.New; {
		case r == nil:
		case r.Pod != "" && !slices.Contains(pods, r.Pod):
			pods = append(pods, r.Pod)
		case r.Node != "":
			if _, known := w.ids[r.Node]; !known {
				w.ids[r.Node] = len(w.names)
			}
			w.names[r.Name] = w.ids[r.Node]
		}
	}
	if len(w.names) > modelNodes {
		return 0, fmt.Errorf("%d nodes; the model has %d", len(w.names), modelNodes)
	}
	for _, pod := range pods {
		n, at, wrong := w.explain(trace[:first], pod)
		actions += n
		if wrong != nil {
			first, err = at, wrong
		}
	}
	return actions, err
}

func same(a, b *Row) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// watched are the nodes of a trace, by their ids and their names, and the states in which they and one pod may be.
type watched struct {
	ids, names map[string]int
	rows       [modelNodes]*Row
	states     map[model]bool
	// wrong is why the model refused the last action.
	wrong string
}

// explain explains the changes of the nodes and of one pod; at is the change that it cannot explain.
func (w *watched) explain(trace []Change, pod string) (actions, at int, err error) {
	w.states, w.rows = map[model]bool{beginning(): true}, [modelNodes]*Row{}
	for i, c := range trace {
		if c.pod() != "" && c.pod() != pod {
			continue
		}
		w.wrong = ""
		does, shows := w.meaning(c)
		if shows {
			if c.pod() == pod {
				actions++ // Those of nodes count with the empty pod alone.
			}
			w.allow(c, does)
		}
		if len(w.states) == 0 {
			return actions, i, fmt.Errorf("change %d, by %s at %s, from %+v to %+v: the model does not allow that node %d of %v %s, with a new epoch: %v, to %d %s",
				c.N, c.Writer, c.At.Format(time.TimeOnly), c.Old, c.New, does.node, w.names, does.action, does.bumps, does.to, w.wrong)
		}
		if c.pod() == "" {
			w.rows[w.ids[c.key()]] = c.New
		}
	}
	return actions, 0, nil
}

// meaning is the action that a change shows, if it shows any.
func (w *watched) meaning(c Change) (does event, shows bool) {
	if c.pod() == "" {
		return w.ofNode(c)
	}
	if c.Old == nil { // The model has each pod from its beginning on.
		made := map[model]bool{}
		for m := range w.states {
			m.pods[0] = modelPod{place: uint8(w.ids[c.New.Place])}
			made[m] = true
		}
		w.states = made
		return does, false
	}
	if c.New == nil {
		return does, false
	}
	by, known := w.names[c.Writer]
	does = event{node: by, to: w.ids[c.New.Place], bumps: c.New.Epoch != c.Old.Epoch}
	switch {
	case !known || does.bumps && (c.New.Epoch != c.Old.Epoch+1 || c.New.Last != c.Old.Last) || c.New.Last < c.Old.Last:
		does.action = "writes an epoch or a length that no action of the model writes"
	case c.New.Place == c.Old.Place && !does.bumps:
		does.action = storesWrite
		return does, c.New.Last > c.Old.Last
	case c.New.Place == c.Old.Place:
		does.action = claims
	case c.New.Place == "":
		does.action = releases
	case does.to == by:
		does.action = takesOver
	default:
		does.action = moves
	}
	return does, true
}

// ofNode is meaning for a row of nodes.
func (w *watched) ofNode(c Change) (does event, shows bool) {
	does.node = w.ids[c.key()]
	switch was, is := c.Old, c.New; {
	case is == nil:
		does.action = isRemoved
	case is.Start != "" && (was == nil || was.Start != is.Start):
		does.action = starts
	case was != nil && was.Start != "" && is.Start == "":
		does.action = isFenced
	case was == nil || was.Lease == is.Lease:
		return does, false
	case is.Lease == noLease:
		does.action = stops
	default:
		does.action = renews
	}
	return does, true
}

// allow keeps the states that follow by an action.
func (w *watched) allow(c Change, does event) {
	after := map[model]bool{}
	ways := hidden[does.action]
	switch {
	case ways == nil:
		ways = [][]action{{}}
	case does.action == renews && c.New.Draining && !c.Old.Draining:
		ways = [][]action{{}, {drains}}
	}
	for _, clock := range []time.Time{c.Began, c.At} {
		now := w.at(clock)
		for _, way := range ways {
			states := now
			for _, a := range way {
				states = w.do(states, event{action: a, node: does.node, to: nowhere})
			}
			maps.Copy(after, w.do(states, does))
		}
	}
	w.states = after
}

// at lets the leases be what they are by a clock.
func (w *watched) at(clock time.Time) map[model]bool {
	now := w.states
	for n, r := range w.rows {
		if r == nil {
			continue
		}
		a := clockGoes
		if r.over(clock) {
			a = leaseEnds
		}
		next := maps.Clone(now)
		for m := range now {
			for other := range w.do(map[model]bool{m: true}, event{action: a, node: n}) {
				delete(next, m)
				next[other] = true
			}
		}
		now = next
	}
	return now
}

// do are the states that follow from these by an event. Where a row does not show it, to is nothing.
func (w *watched) do(from map[model]bool, does event) map[model]bool {
	after := map[model]bool{}
	for m := range from {
		m.next(0, func(next model, by event, wrong string) {
			if by.action != does.action || by.node != does.node || by.pod != 0 || by.bumps != does.bumps {
				return
			}
			if (by.action == moves || by.action == takesOver) && by.to != does.to {
				return
			}
			if wrong == "" {
				wrong = next.wrong()
			}
			if wrong != "" {
				w.wrong = wrong
				return
			}
			after[next] = true
		})
	}
	return after
}
