package leases

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// recorded is a trace of three podd on one PostgreSQL, which clients moved pods between, and of which some were killed.
func recorded(t *testing.T) []Change {
	t.Helper()
	rows, err := os.ReadFile(filepath.Join("testdata", "trace"))
	if err != nil {
		t.Fatal(err)
	}
	trace, err := Read(rows)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestTraceIsExplained(t *testing.T) {
	actions, err := Check(recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d actions", actions)
}

// wrongs change what a change writes, and so what the later ones of its row change; or say that it does not apply.
var wrongs = map[string]func(trace []Change, i int) bool{
	"an epoch goes back": func(trace []Change, i int) bool {
		c := trace[i]
		return taken(c) && c.Old.Epoch > 0 && write(trace, i, func(r *Row) { r.Epoch -= 2 })
	},
	"a takeover keeps the epoch": func(trace []Change, i int) bool {
		return taken(trace[i]) && write(trace, i, func(r *Row) { r.Epoch-- })
	},
	"a node writes that does not have the pod": func(trace []Change, i int) bool {
		c := &trace[i]
		if c.Old == nil || c.New == nil || c.pod() == "" || c.New.Last == c.Old.Last {
			return false
		}
		c.Writer = others[c.Writer]
		return true
	},
	"a node writes with the epoch that it had before another took the pod": func(trace []Change, i int) bool {
		if !taken(trace[i]) {
			return false
		}
		last := slices.IndexFunc(trace[:i], func(c Change) bool { return c.pod() == trace[i].pod() && c.Old != nil && c.New.Last > c.Old.Last })
		next := slices.IndexFunc(trace[i:], func(c Change) bool { return c.pod() == trace[i].pod() && c.New != nil && c.New.Last > c.Old.Last })
		if last < 0 || next < 0 || trace[last].Writer == trace[i+next].Writer {
			return false
		}
		trace[i+next].Writer = trace[last].Writer
		return true
	},
	"a pod is taken while another's lease lasts": func(trace []Change, i int) bool {
		if c := trace[i]; !taken(c) || c.Writer != nameOf(trace, c.New.Place) || c.Old.Place == "" {
			return false
		}
		for j := i - 1; j >= 0; j-- {
			if c := trace[j]; c.New != nil && c.New.Node == trace[i].Old.Place && c.New.Start == "" && c.Old.Start != "" {
				return write(trace, j, func(r *Row) { r.Start, r.Lease = c.Old.Start, trace[i].At.Add(time.Hour).Format(time.RFC3339Nano) })
			}
		}
		return false
	},
	"a fenced node renews its lease": func(trace []Change, i int) bool {
		c := trace[i]
		if c.New == nil || c.New.Node == "" || c.Old == nil || c.Old.Start != "" || c.New.Start == "" {
			return false
		}
		return write(trace, i, func(r *Row) { r.Start = "" })
	},
}

var others = map[string]string{"n1": "n2", "n2": "n3", "n3": "n1"}

// taken says that a change gives a pod to another node.
func taken(c Change) bool {
	return c.pod() != "" && c.Old != nil && c.New != nil && c.Old.Place != c.New.Place
}

func nameOf(trace []Change, id string) string {
	i := slices.IndexFunc(trace, func(c Change) bool { return c.New != nil && c.New.Node == id })
	return trace[i].New.Name
}

// write changes what a change leaves, for the next one of the row too.
func write(trace []Change, i int, do func(*Row)) bool {
	do(trace[i].New)
	for j := i + 1; j < len(trace); j++ {
		if trace[j].key() == trace[i].key() {
			if trace[j].Old != nil {
				do(trace[j].Old)
			}
			break
		}
	}
	return true
}

func TestWrongTracesAreRefused(t *testing.T) {
	for name, spoil := range wrongs {
		applied, trace := 0, recorded(t)
		for i := range trace {
			if !spoil(trace, i) {
				continue
			}
			applied++
			if _, err := Check(trace); err == nil {
				t.Errorf("%s at change %d: it was explained", name, trace[i].N)
			} else if applied == 1 {
				t.Logf("%s: %v", name, err)
			}
			trace = recorded(t)
			if applied == 5 {
				break
			}
		}
		if applied == 0 {
			t.Errorf("%s: the trace has no place for it", name)
		}
	}
}
