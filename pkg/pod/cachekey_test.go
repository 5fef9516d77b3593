package pod_test

import (
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

// A pod and its forks have one key of the prompt cache, over restarts; other pods have
// another. So the setup of a fork does not change because of it.
func TestCacheKeyIsThatOfTheRoot(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(scripted.Text("done"))))
	h.run("go")
	for _, name := range []string{"fork", "fork-2"} {
		from := map[string]string{"fork": "p", "fork-2": "fork"}[name]
		if _, err := h.host.Fork(t.Context(), from, name, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.host.Create(t.Context(), "other", item.PodSpec{Dir: h.dir}); err != nil {
		t.Fatal(err)
	}
	h.restart()
	keys := map[string]string{}
	for _, name := range []string{"p", "fork", "fork-2", "other"} {
		s, err := h.host.Submit(t.Context(), pod.Submit{Pod: name, Segments: []item.Segment{item.TextSegment{Text: "and?"}}})
		if err != nil {
			t.Fatal(err)
		}
		for e := range h.followPod(t.Context(), name, s.Seq) {
			if ended(e) {
				break
			}
		}
		setups := kinds[item.Setup](h.logOf(name))
		if len(setups) != 1 || setups[0].CacheKey == "" {
			t.Fatalf("%s has the setups %+v", name, setups)
		}
		keys[name] = setups[0].CacheKey
	}
	if keys["fork"] != keys["p"] || keys["fork-2"] != keys["p"] || keys["other"] == keys["p"] {
		t.Errorf("keys %v", keys)
	}
}
