package pod_test

import (
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

// A pod with nothing to do soon drops the bytes of its last request. The next turn sends the
// same bytes as otherwise, and knows how many of them a prompt cache has.
func TestRestingPodDropsItsRequest(t *testing.T) {
	pod.RestAfter(t, time.Nanosecond)
	h := newHouse(t, steps(scripted.Say(shell("echo one")), scripted.Say(scripted.Text("done")), scripted.Say(scripted.Text("again"))))
	h.run("go")
	p, err := h.host.Get(t.Context(), "p")
	if err == nil {
		err = h.host.Rested(t.Context(), p.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.run("more")
	last, next := h.body(2), h.body(3)
	shared := 0
	for shared < len(last) && last[shared] == next[shared] {
		shared++
	}
	usage := kinds[item.RequestUsage](h.log())
	if len(usage) != 3 || shared < 1000 || usage[2].PrefixBytes != int64(shared) {
		t.Errorf("%d bytes are those of the last request, the log has %+v", shared, usage)
	}
}
