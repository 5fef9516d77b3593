package letters_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"podd/internal/letters"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// joined are the letters that joined a conversation.
func joined(log []item.Entry) (all []string) {
	for _, e := range log {
		if k, ok := e.Kind.(item.ItemAdded); ok {
			if m, ok := k.Item.(item.SystemMessage); ok && m.Origin == item.OriginLetter {
				all = append(all, m.Text)
			}
		}
	}
	return all
}

// wrote says that an entry of the wing has such a line.
func wrote(line string) func(item.Entry) bool {
	return func(e item.Entry) bool {
		k, ok := e.Kind.(item.WingEntry)
		return ok && strings.Contains(k.Line, line)
	}
}

// log is a pod's log.
func (h *house) log(name string) (log []item.Entry) {
	h.t.Helper()
	check(h.t, h.host.Logs.Entries(h.t.Context(), h.id(name), 0, nil, func(e item.Entry) bool { log = append(log, e); return true }))
	return log
}

// Letters to a pod whose node is away arrive once, in their order, when it is back: over restarts and a rewind, and without
// a turn or a client of the sender. A fork of the sender sends nothing.
func TestOnItsWay(t *testing.T) {
	h := newHouse(t, writes, "lead", "reviewer")
	h.away.Store(h.id("reviewer"))
	h.submit("lead", "tell reviewer: one~")
	place := h.after("lead", 1)
	h.submit("lead", "tell reviewer: two~")
	for i, got := range results(h.after("lead", 2)) {
		if !strings.Contains(got, "to reviewer: on its way; podd delivers it when that pod can be reached") {
			t.Errorf("the result of letter %d is %q", i, got)
		}
	}
	h.want("lead", "lead>reviewer one on its way", "lead>reviewer two on its way")
	if p, err := h.host.Get(t.Context(), "lead"); err != nil || p.Status.State != item.StateIdle || p.Status.Pending != 2 {
		t.Errorf("the sender is %+v, %v", p.Status, err)
	}
	_, err := h.host.Fork(t.Context(), "lead", "copy", 0)
	check(t, err)
	_, err = h.host.Rewind(t.Context(), "lead", place[len(place)-1].Seq)
	check(t, err)
	h.stop()
	h.open()
	h.want("reviewer")
	h.away.Store("")
	h.until("lead", wrote("to reviewer arrived"))
	h.stop()
	h.open()
	h.until("reviewer", func(e item.Entry) bool { return strings.Contains(fmt.Sprint(e.Kind), "two") && isItem(e) })
	h.until("copy", func(e item.Entry) bool { k, ok := e.Kind.(item.WingEntry); return ok && k.Done > 0 })
	if got := joined(h.log("reviewer")); len(got) != 2 || !strings.Contains(got[0], "one") || !strings.Contains(got[1], "two") {
		t.Errorf("the recipient got %q", got)
	}
	h.want("lead", "lead>reviewer one taken", "lead>reviewer two taken")
	h.want("copy")
	if got := joined(h.log("lead")); len(got) > 0 {
		t.Errorf("the sender got %q", got)
	}
}

// podd tells the sender once that a letter can't arrive any more. What the sender writes because of that counts the hops of the lost letter.
func TestFailsOnItsWay(t *testing.T) {
	h := newHouse(t, writes, "lead", "reviewer")
	h.away.Store(h.id("reviewer"))
	h.submit("lead", "tell reviewer: look~")
	h.after("lead", 1)
	_, err := h.trash.Discard(t.Context(), "reviewer")
	check(t, err)
	h.away.Store("")
	h.after("lead", 2)
	h.stop()
	h.open()
	got := joined(h.log("lead"))
	if len(got) != 1 || !strings.HasPrefix(got[0], "Your letter ") || !strings.Contains(got[0], " to pod reviewer did not arrive: ") {
		t.Errorf("the sender got %q", got)
	}
	h.want("lead", "lead>reviewer look failedthe pod was deleted")
	_, err = h.trash.Restore(t.Context(), "reviewer", "")
	check(t, err)
	if got := h.lists("lead"); len(got) != 1 || got[0] != "lead>reviewer look failedthe pod was deleted" {
		t.Errorf("the letters are %q", got)
	}
}

// A podd that ends after it recorded that a letter is on its way neither sends nor records it again.
func TestRecoverOnItsWay(t *testing.T) {
	h := newHouse(t, writes, "lead", "reviewer")
	lead := h.id("lead")
	h.away.Store(h.id("reviewer"))
	c := tool.Invocation{Arguments: call("reviewer", "look", 0).Arguments, CallID: "c1", Turn: 1}
	out, err := h.mail.Tool(lead).Run(t.Context(), &c)
	check(t, err)
	again, how, err := h.mail.Tool(lead).Recover(t.Context(), &c)
	if err != nil || again.Summary != out.Summary || how != item.RecoveryFound {
		t.Errorf("recovered: %s, %s, %v; the first was %s", again.Summary, how, err, out.Summary)
	}
	if n := len(slices.DeleteFunc(h.log("lead"), func(e item.Entry) bool { return !wrote("is on its way")(e) })); n != 1 {
		t.Errorf("it is on its way %d times", n)
	}
	h.away.Store("")
	h.after("reviewer", 1)
	h.until("lead", wrote("arrived"))
	h.want("lead", "lead>reviewer look taken")
}

// Restarts do not give a pod more letters a minute.
func TestRateOverRestarts(t *testing.T) {
	h := newHouse(t, writes, "lead", "reviewer")
	_, err := h.host.Pause(t.Context(), "reviewer", "")
	check(t, err)
	lead := h.id("lead")
	for i := range 20 {
		data, _ := json.Marshal(map[string]any{"from": lead, "call": fmt.Sprint("c", i), "to": h.id("reviewer"), "name": "reviewer", "hops": 1})
		_, err := h.host.Record(t.Context(), "lead", item.WingEntry{Wing: "letters", Name: "sent", Data: string(data)})
		check(t, err)
	}
	h.stop()
	h.open()
	out, err := h.mail.Tool(lead).Run(t.Context(), &tool.Invocation{Arguments: call("reviewer", "one more", 0).Arguments, CallID: "c", Turn: 1})
	if err != nil || !strings.Contains(out.Summary, "20 letters in the last minute") {
		t.Errorf("after a restart: %s, %v", out.Summary, err)
	}
	if list, err := h.mail.List(t.Context(), "lead"); err != nil || len(list) != 20 || list[0].State != letters.OnItsWay {
		t.Errorf("the letters are %v, %v", list, err)
	}
}
