package pod_test

import (
	"slices"
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/item"
	"podd/pkg/pod"
)

func against(c *options) {
	c.Rules = []item.Rule{
		{Path: "**/.env", Decision: policy.Deny, Source: "config.toml:1"},
		{Tool: "read_file", Path: "secret/**", Decision: policy.Ask, Source: "config.toml:5"},
		{Tool: "write_file", Path: "plain", Decision: policy.Deny, Source: "config.toml:9"},
	}
	c.Ask = policy.Always
}

// A reference is read like a call of read_file: not if a rule denies or asks about it, by
// whatever link, and the sentence names the rule. The mode does not apply.
func TestRulesSeeReferences(t *testing.T) {
	h := newHouse(t, steps(), against)
	for _, name := range []string{".env", "sub/.env", "secret/key", "plain", "sub/code"} {
		h.plant(name, "CONTENT of "+name)
	}
	h.link(".env", "notes")
	h.link("secret", "m")
	for ref, want := range map[string]string{
		".env": `is denied by config.toml:1 (path "**/.env")`, "sub/.env": "is denied by config.toml:1",
		"notes": "notes leads to .env and is denied by config.toml:1", "secret/key": "needs approval by config.toml:5",
		"m/key": "m/key leads to secret/key and needs approval by config.toml:5", "secret/": "config.toml:5", "m": "config.toml:5",
		"plain": "", "sub/code": "", "sub/": "",
	} {
		for _, typed := range []bool{true, false} {
			s := pod.Submit{Pod: "p", Segments: []item.Segment{item.FileRef{Path: ref}}}
			if typed {
				s = pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "see @" + ref}}, ParseRefs: true}
			}
			got, err := h.host.Submit(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			h.ended(got)
			var said []string
			for _, a := range got.Alerts {
				said = append(said, a.Text)
			}
			if text := strings.Join(said, "; "); !strings.Contains(text, want) || (want == "") != (text == "") {
				t.Errorf("@%s: %q, want %q", ref, text, want)
			}
			entries := kinds[item.Submitted](h.log())
			last := entries[len(entries)-1]
			if read := len(last.Items) > 0; read != (want == "") {
				t.Errorf("@%s adds %+v", ref, last.Items)
			}
		}
	}
}

// A path that a reference could not name is not offered.
func TestRulesSeeCompletions(t *testing.T) {
	h := newHouse(t, steps(), against)
	for _, name := range []string{".env", "secret/key", "sub/key", "sub/.env"} {
		h.plant(name, "")
	}
	h.link("secret", "m")
	for prefix, want := range map[string][]string{
		"": {"sub/"}, ".e": nil, "secret/": nil, "m/": nil, "sub/.e": nil, "key": {"sub/key"},
	} {
		got, err := h.host.CompletePath(t.Context(), "p", prefix, 0)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("completing %q gives %q, %v; want %q", prefix, got, err, want)
		}
	}
}

// A workspace's file of instructions passes on no file that a rule denies, nor through a
// link one that a rule asks about.
func TestRulesSeeInstructions(t *testing.T) {
	h := newHouse(t, steps(), against, func(c *options) {
		c.Rules = append(c.Rules, item.Rule{Path: "AGENTS.md", Decision: policy.Ask, Source: "config.toml:13"})
	})
	h.plant(".env", "DENIED")
	h.plant("secret/key", "ASKED")
	h.plant("AGENTS.md", "Use tabs.")
	h.run("one")
	h.link(".env", "AGENTS.md")
	h.run("two")
	h.link("secret/key", "AGENTS.md")
	h.run("three")
	h.plant("AGENTS.md", "")
	bodies := h.body(1) + h.body(2) + h.body(3)
	if !strings.Contains(bodies, "Use tabs.") || strings.Contains(bodies, "DENIED") || strings.Contains(bodies, "ASKED") ||
		!strings.Contains(bodies, "AGENTS.md leads to .env and is denied by config.toml:1") {
		t.Errorf("sent: %s", bodies)
	}
}
