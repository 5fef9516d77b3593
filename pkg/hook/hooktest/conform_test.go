package hooktest_test

import (
	"reflect"
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/hook"
	"podd/pkg/hook/hooktest"
	"podd/pkg/item"
	"podd/pkg/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counts counts its events.
type counts struct {
	entries, alerts, edges, pods int
}

func (c *counts) Name() string             { return "counts" }
func (c *counts) Entry(string, item.Entry) { c.entries++ }
func (c *counts) Alert(item.Alert)         { c.alerts++ }
func (c *counts) Edge(hook.Edge)           { c.edges++ }
func (c *counts) Pod(hook.PodEvent)        { c.pods++ }

func TestConform(t *testing.T) {
	c := &counts{}
	hooktest.Conform(t, c)
	if c.entries != 2*len(hooktest.Kinds()) || c.alerts != 4 || c.edges != 28 || c.pods != 18 {
		t.Errorf("it saw %+v", *c)
	}
}

// A new kind of entry belongs in the suite.
func TestEveryKind(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range hooktest.Kinds() {
		seen[wire.KindName(kind)] = true
		if reflect.ValueOf(kind).IsZero() && wire.KindName(kind) != "" {
			t.Errorf("%T says nothing", kind)
		}
	}
	for _, name := range wire.KindNames() {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
