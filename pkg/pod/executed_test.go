package pod_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

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
