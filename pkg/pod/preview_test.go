package pod_test

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

func always(c *options) { c.Ask = policy.Always }

// yes answers the one question.
func (h *house) yes() {
	h.t.Helper()
	q := h.asked(1)[0]
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, Digest: q.Digest})
}

// A question about an edit has what the edit makes of the file. It is the same after a
// restart, and the edit applies then, too.
func TestPreviewOfAnEdit(t *testing.T) {
	for _, again := range []bool{false, true} {
		h := newHouse(t, steps(
			scripted.Say(called("edit_file", "path", "f", "old", "b", "new", "B")),
			scripted.Say(called("read_file", "path", "f")),
			scripted.Say(called("write_file", "path", "f", "content", "whole\n")),
		), with(asks(`"path":"f","`)))
		h.write("f", "a\nb\n")
		s := h.submit("go")
		q := h.asked(1)[0]
		want := item.Preview{Path: "f", Base: item.BaseOf([]byte("a\nb\n")), Diff: "@@ -1,2 +1,2 @@\n a\n-b\n+B\n"}
		if len(q.Previews) != 1 || q.Previews[0] != want || h.read("f") != "a\nb\n" {
			t.Errorf("asked %+v", q)
		}
		h.yes()
		if q = h.asked(1)[0]; h.read("f") != "a\nB\n" || q.Tool != "write_file" || len(q.Previews) != 1 {
			t.Fatalf("asked %+v, f %q", q, h.read("f"))
		}
		if again {
			h.restart()
			if now := h.asked(1)[0]; len(now.Previews) != 1 || now.Previews[0] != q.Previews[0] || now.Digest != q.Digest {
				t.Errorf("asked %+v", now)
			}
		}
		h.yes()
		if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.read("f") != "whole\n" {
			t.Errorf("end %+v, f %q", end, h.read("f"))
		}
	}
}

// If the file has another content when the answer comes, podd asks anew and applies nothing
// that no one saw.
func TestPreviewIsOfTheFileAsItIs(t *testing.T) {
	for name, change := range map[string]func(h *house){
		"edited":  func(h *house) { h.write("f", "a\nb\nc\n") },
		"swapped": func(h *house) { h.write("other", "z\nb\n"); h.link("other", "f") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, steps(scripted.Say(called("edit_file", "path", "f", "old", "b", "new", "B"))), always)
			h.write("f", "a\nb\n")
			s := h.submit("go")
			first := h.asked(1)[0]
			change(h)
			h.resolve(pod.Resolution{CallSeq: first.CallSeq, Approve: true, Digest: first.Digest})
			second := h.asked(1)[0]
			if second.Digest == first.Digest || len(second.Previews) != 1 || second.Previews[0].Diff == first.Previews[0].Diff ||
				!strings.Contains(second.Question, "the call changed after its approval") || strings.Contains(h.read("f"), "B") {
				t.Errorf("asked %+v", second)
			}
			_, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: first.CallSeq, Approve: true, Digest: first.Digest})
			wantError(t, err, item.KindPrecondition, "APPROVAL_CHANGED")
			h.yes()
			if h.ended(s); !strings.Contains(h.read("f"), "B") {
				t.Errorf("f is %q", h.read("f"))
			}
		})
	}
}

// Nobody is asked about an edit that cannot be applied, before the question or after the
// answer. The model learns why if it may read the file, else only that it does not fit.
func TestNobodyIsAskedAboutWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name   string
		adjust func(*options)
		tells  bool
	}{
		{"readable", func(c *options) {
			c.Rules = append(c.Rules, item.Rule{Tool: "edit_file", Path: "f", Decision: policy.Ask})
		}, true},
		{"asks", always, false},
		{"interceptor", with(asks("edit")), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, steps(scripted.Say(called("edit_file", "path", "f", "old", "key=1 hidden", "new", "edit"))), c.adjust)
			h.write("f", "key=2 hidden\n")
			if end := h.run("go"); end.Outcome != item.OutcomeFinished {
				t.Errorf("end %+v", end)
			}
			if n := len(kinds[item.ApprovalRequested](h.log())); n != 0 {
				t.Errorf("%d questions", n)
			}
			if told := strings.Contains(h.body(2), "key=2"); told != c.tells || !c.tells && !strings.Contains(h.body(2), "it does not fit the files as they are") {
				t.Errorf("the model is sent %s", h.body(2)[len(h.body(2))-600:])
			}
		})
	}
	h := newHouse(t, steps(scripted.Say(called("edit_file", "path", "f", "old", "b", "new", "B"))), always)
	h.write("f", "b\n")
	s := h.submit("go")
	q := h.asked(1)[0]
	if err := os.Remove(h.dir + "/f"); err != nil {
		t.Fatal(err)
	}
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, Digest: q.Digest})
	h.ended(s)
	if h.exists("f") || !strings.Contains(h.body(2), "it does not fit the files as they are") {
		t.Errorf("the model is sent %s", h.body(2))
	}
}

// Calls of one answer on one file ask one after the other, so that each shows the file as the
// one before leaves it. Others ask at once. A restart in between asks on.
func TestEditsOfOneFileAskInTurn(t *testing.T) {
	for _, again := range []bool{false, true} {
		h := newHouse(t, steps(scripted.Say(
			called("write_file", "path", "f", "content", "a\n"),
			called("edit_file", "path", "f", "old", "a", "new", "b"),
			called("write_file", "path", "g", "content", "g\n"),
			called("edit_file", "path", "f", "old", "b", "new", "c"),
		)), always)
		s := h.submit("go")
		g := h.asked(2)[1]
		h.resolve(pod.Resolution{CallSeq: g.CallSeq, Approve: true, Digest: g.Digest})
		// A restart before this call ran would end it unrun.
		for e := range h.follow(t.Context(), s.Seq) {
			if k, ok := e.Kind.(item.ItemAdded); ok {
				if _, ok := k.Item.(item.ToolResult); ok {
					break
				}
			}
		}
		var last item.Seq
		for _, want := range []string{"+a\n", "-a\n+b\n", "-b\n+c\n"} {
			q := h.asked(1)[0]
			for q.CallSeq == last || q.CallSeq == g.CallSeq {
				q = h.asked(1)[0]
			}
			if again {
				h.restart()
				q = h.asked(1)[0]
			}
			if last = q.CallSeq; !strings.HasSuffix(q.Previews[0].Diff, want) {
				t.Errorf("the question shows %q, want %q", q.Previews[0].Diff, want)
			}
			h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, Digest: q.Digest})
		}
		h.ended(s)
		if h.read("f") != "c\n" || h.read("g") != "g\n" {
			t.Errorf("f %q, g %q", h.read("f"), h.read("g"))
		}
	}
}

// Without questions they begin one after the other too, and the log has what each is about to make
// of the file. Interceptors decide on each once.
func TestEditsOfOneFileArePlannedInTurn(t *testing.T) {
	var decided atomic.Int32
	h := newHouse(t, steps(scripted.Say(
		called("write_file", "path", "f", "content", "a\n"),
		called("edit_file", "path", "f", "old", "a", "new", "b"),
		called("edit_file", "path", "f", "old", "b", "new", "c"),
	)), with(&edges{call: func(c interceptor.Call) interceptor.CallVerdict {
		decided.Add(1)
		return c.Continue()
	}}))
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || h.read("f") != "c\n" {
		t.Fatalf("end %+v, f %q", end, h.read("f"))
	}
	var planned []item.PlannedChange
	for _, e := range h.log() {
		if k, ok := e.Kind.(item.ToolStarted); ok {
			planned = append(planned, k.Planned...)
		}
	}
	want := []item.PlannedChange{
		{Path: "f", Before: item.NoFile, After: item.BaseOf([]byte("a\n"))},
		{Path: "f", Before: item.BaseOf([]byte("a\n")), After: item.BaseOf([]byte("b\n"))},
		{Path: "f", Before: item.BaseOf([]byte("b\n")), After: item.BaseOf([]byte("c\n"))},
	}
	if !slices.Equal(planned, want) || decided.Load() != 3 {
		t.Errorf("planned %+v, decided %d times", planned, decided.Load())
	}
}
