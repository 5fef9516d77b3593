package pod_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"podd/internal/guard/secrets"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// runs is a question's text about a file that a command executes.
func runs(name, content string) string {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	return fmt.Sprintf("it runs %s (sha256 %s…, ", name, sum[:12])
}

// A question about a command names the files that it executes, and an approval applies to
// their content at that time: if a file has changed since, the call asks again, also
// after a restart.
func TestApprovedScriptRunsAsItWas(t *testing.T) {
	for _, again := range []bool{false, true} {
		h := newHouse(t, steps(scripted.Say(shell("sh sub/build.sh && make"))), unsandboxed)
		h.plant("sub/build.sh", "echo one > ran\n")
		h.plant("Makefile", "all:\n\techo made > made\n")
		s := h.submit("go")
		first := h.asked(1)[0]
		if !strings.Contains(first.Question, runs("sub/build.sh", "echo one > ran\n")+"1 line)") ||
			!strings.Contains(first.Question, runs("Makefile", "all:\n\techo made > made\n")+"2 lines)") {
			t.Errorf("question %s", first.Question)
		}
		h.plant("sub/build.sh", "echo two > ran\n")
		if again {
			h.restart()
		}
		h.resolve(pod.Resolution{CallSeq: first.CallSeq, Approve: true, Digest: first.Digest})
		second := h.asked(1)[0]
		if second.Digest == first.Digest || !strings.Contains(second.Question, runs("sub/build.sh", "echo two > ran\n")) ||
			!strings.Contains(second.Question, "changed after its approval") || h.exists("ran") {
			t.Errorf("question %s", second.Question)
		}
		h.resolve(pod.Resolution{CallSeq: second.CallSeq, Approve: true, Digest: second.Digest})
		h.ended(s)
		if h.read("ran") != "two\n" {
			t.Errorf("ran %q", h.read("ran"))
		}
	}
}

// A question shows the text of what a command executes, without secrets, and says what it leaves
// out.
func TestQuestionShowsScripts(t *testing.T) {
	secret := "sk-" + strings.Repeat("a1B2c3D4", 6)
	redactor := secrets.New()
	redactor.Add(secret)
	limits, err := tool.NewLimits(tool.LimitsConfig{Redactor: redactor})
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]item.Preview{
		"echo one\n\nrm -r out\n":            {Diff: "@@ -1,3 +1,3 @@\n echo one\n \n rm -r out\n"},
		"echo one\r\n":                       {Diff: "@@ -1 +1 @@\n echo one\r\n"},
		"echo one":                           {Diff: "@@ -1 +1 @@\n echo one\n\\ No newline at end of file\n"},
		"one\ncaf\xe9":                       {Diff: "@@ -1,2 +1,2 @@\n one\n caf\\xe9\n\\ No newline at end of file\n"},
		"key " + secret + "\n":               {Diff: "@@ -1 +1 @@\n key [redacted]\n"},
		"":                                   {},
		"\x7fELF\x00\n":                      {Omitted: "the file is binary: 6 bytes"},
		strings.Repeat("0123456\n", 1<<14):   {Omitted: "left out: 9105 lines (72840 bytes)"},
		strings.Repeat("0", 1<<17):           {Omitted: "left out: 1 line (131072 bytes)"},
		strings.Repeat("0", 1<<17) + "\nx\n": {Omitted: "left out: 2 lines (131075 bytes)"},
	} {
		h := newHouse(t, steps(scripted.Say(shell("sh x.sh"))), unsandboxed, func(o *options) { o.ToolOutput = limits })
		h.plant("x.sh", content)
		turn := h.submit("go")
		asked := h.asked(1)[0]
		want.Path, want.Runs, want.Base = "x.sh", true, fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
		got := asked.Previews
		if len(got) == 1 && strings.HasPrefix(got[0].Diff, "@@ -1,16384 ") {
			if n := strings.Count(got[0].Diff, "\n 0123456"); n+9105 != 1<<14 || len(got[0].Diff) > item.MaxPreviewBytes {
				t.Errorf("%d lines in %d bytes of a long script", n, len(got[0].Diff))
			}
			got[0].Diff = ""
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("of %.40q: %+v, want %+v", content, got, want)
		}
		h.resolve(pod.Resolution{CallSeq: asked.CallSeq, Digest: asked.Digest, Reason: "no"})
		h.ended(turn)
	}
}

// The texts of several scripts have one bound together.
func TestQuestionShowsManyScripts(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("sh a.sh && sh b.sh && make"))), unsandboxed)
	h.plant("a.sh", strings.Repeat("0123456\n", 7000))
	h.plant("b.sh", strings.Repeat("0123456\n", 7000))
	h.plant("Makefile", "all:\n\ttrue\n")
	turn := h.submit("go")
	asked, total := h.asked(1)[0], 0
	for _, p := range asked.Previews {
		total += len(p.Diff)
	}
	if len(asked.Previews) != 3 || total > item.MaxPreviewBytes || asked.Previews[0].Omitted != "" || asked.Previews[1].Omitted == "" || asked.Previews[2].Path != "Makefile" {
		t.Errorf("%d bytes: %+v", total, asked.Previews)
	}
	h.resolve(pod.Resolution{CallSeq: asked.CallSeq, Digest: asked.Digest, Reason: "no"})
	h.ended(turn)
}

// A command waits for earlier calls that write files: what runs is what was approved,
// even if such a call was running when the answer came.
func TestAStepThatEditsItsScript(t *testing.T) {
	var h *house
	release := make(chan struct{})
	slow := tool.New("slow", "d", func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) {
		<-release
		h.plant("x.sh", "echo two > ran\n")
		return tool.FromString("edited"), nil
	}, tool.Touches(func(struct{}) tool.Access { return tool.Access{Writes: true, Confined: true} }))
	h = newHouse(t, steps(scripted.Say(called("slow"), shell("sh x.sh"))), unsandboxed, func(c *options) { c.Tools = append(c.Tools, slow) })
	h.plant("x.sh", "echo one > ran\n")
	s := h.submit("go")
	h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, Approve: true})
	for len(kinds[item.ToolStarted](h.log())) < 2 {
	}
	close(release)
	second := h.asked(1)[0]
	if !strings.Contains(second.Question, runs("x.sh", "echo two > ran\n")) || h.exists("ran") {
		t.Errorf("question %s", second.Question)
	}
	h.resolve(pod.Resolution{CallSeq: second.CallSeq, Approve: true})
	h.ended(s)
	if h.read("ran") != "two\n" {
		t.Errorf("ran %q", h.read("ran"))
	}
}

// A script is identified by the file that its name leads to: another file with the same
// content asks again.
func TestApprovedScriptIsOneFile(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("sh x.sh"))), unsandboxed)
	h.plant("x.sh", "echo one > ran\n")
	s := h.submit("go")
	first := h.asked(1)[0]
	h.plant("y.sh", "echo one > ran\n")
	h.link("y.sh", "x.sh")
	h.resolve(pod.Resolution{CallSeq: first.CallSeq, Approve: true})
	second := h.asked(1)[0]
	if !strings.Contains(second.Question, "it runs x.sh, which leads to y.sh (sha256") || h.exists("ran") {
		t.Errorf("question %s", second.Question)
	}
	h.resolve(pod.Resolution{CallSeq: second.CallSeq, Reason: "no"})
	h.ended(s)
	if h.exists("ran") {
		t.Error("it ran")
	}
}
