package pod_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

func called(name string, pairs ...string) scripted.Call {
	var fields []string
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, fmt.Sprintf("%q:%q", pairs[i], pairs[i+1]))
	}
	return scripted.Call{Name: name, Arguments: "{" + strings.Join(fields, ",") + "}"}
}

// plant writes a file, and creates its directories.
func (h *house) plant(name, content string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(h.dir, name)), 0o755); err != nil {
		h.t.Fatal(err)
	}
	h.write(name, content)
}

// link puts a link in place of the file with the name.
func (h *house) link(to, name string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.RemoveAll(path); err != nil {
		h.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		h.t.Fatal(err)
	}
}

// A person approves the target that a path has when the question is asked. If it leads
// elsewhere by the time of the answer, the call does not run: it asks again, and says
// where it leads. podd may have been restarted in between.
func TestApprovedWriteStaysWhereItLed(t *testing.T) {
	for _, again := range []bool{false, true} {
		write := called("write_file", "path", "testdata/repo/.git/hooks/x", "content", "#!/bin/sh\n")
		h := newHouse(t, steps(scripted.Say(write)))
		h.plant("testdata/repo/.git/hooks/keep", "")
		h.plant(".git/hooks/keep", "")
		s := h.submit("go")
		first := h.asked(1)[0]
		if strings.Contains(first.Question, "leads to") {
			t.Errorf("question %s", first.Question)
		}
		if again {
			h.restart()
		}
		h.link("..", "testdata/repo")
		h.resolve(pod.Resolution{CallSeq: first.CallSeq, Approve: true, Digest: first.Digest})
		second := h.asked(1)[0]
		if second.Digest == first.Digest || h.exists(".git/hooks/x") || !strings.Contains(second.Question, `"testdata/repo/.git/hooks/x", which leads to ".git/hooks/x",`) {
			t.Errorf("question %s", second.Question)
		}
		h.resolve(pod.Resolution{CallSeq: second.CallSeq, Approve: true, Digest: second.Digest})
		h.ended(s)
		if !h.exists(".git/hooks/x") {
			t.Error("what was approved the second time was not done")
		}
	}
}

// The same with another directory in place of the first, which no link reveals.
func TestApprovedWriteStaysInItsDirectory(t *testing.T) {
	for _, again := range []bool{false, true} {
		h := newHouse(t, steps(scripted.Say(called("write_file", "path", "a/f", "content", "new"))), with(asks("a/f")))
		h.plant("a/keep", "")
		h.plant("b/keep", "")
		s := h.submit("go")
		first := h.asked(1)[0]
		if again {
			h.restart()
		}
		h.move("a", "old")
		h.move("b", "a")
		h.resolve(pod.Resolution{CallSeq: first.CallSeq, Approve: true, Digest: first.Digest})
		second := h.asked(1)[0]
		if h.exists("a/f") || h.exists("old/f") {
			t.Error("the call was carried out")
		}
		h.resolve(pod.Resolution{CallSeq: second.CallSeq, Reason: "no"})
		h.ended(s)
	}
}

// Always applies to the target in the question: a path that leads elsewhere by now makes
// no rule.
func TestAlwaysIsForWhatWasAsked(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(called("write_file", "path", "m/f", "content", "new"))), func(c *options) { c.Ask = policy.Always })
	h.plant("a/keep", "")
	h.plant("b/keep", "")
	h.link("a", "m")
	s := h.submit("go")
	asked := h.asked(1)[0]
	h.link("b", "m")
	_, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: asked.CallSeq, Approve: true, Always: true})
	wantError(t, err, item.KindPrecondition, "APPROVAL_CHANGED")
	h.link("a", "m")
	rule := h.resolve(pod.Resolution{CallSeq: asked.CallSeq, Approve: true, Always: true})
	if h.ended(s); rule == nil || rule.Path != "{m/f,a/f}" || !h.exists("a/f") {
		t.Errorf("rule %+v", rule)
	}
}

func (h *house) move(from, to string) {
	h.t.Helper()
	if err := os.Rename(filepath.Join(h.dir, from), filepath.Join(h.dir, to)); err != nil {
		h.t.Fatal(err)
	}
}

// Whatever causes it, the question says where paths lead; a call for which that is too
// long to show in full does not run.
func TestQuestionsSayWherePathsLead(t *testing.T) {
	var many strings.Builder
	for i := range 400 {
		fmt.Fprintf(&many, "*** Add File: m/%040d\\n+x\\n", i)
	}
	h := newHouse(t, steps(
		scripted.Say(called("write_file", "path", "m/f", "content", "x")),
		scripted.Say(scripted.Call{Name: "apply_patch", Arguments: `{"input":"*** Begin Patch\n` + many.String() + `*** End Patch"}`}),
	), with(asks("m/")))
	h.plant("a/keep", "")
	h.link("a", "m")
	s := h.submit("go")
	q := h.asked(1)[0]
	if q.Question != "asks asks: may it run?; it writes m/f, which leads to a/f" {
		t.Errorf("question %s", q.Question)
	}
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true})
	h.ended(s)
	if r := results(h.log()); len(r) != 2 || r[0].IsError || !h.exists("a/f") || !strings.Contains(r[1].Summary, "too many of its paths are links") {
		t.Errorf("results %+v", r)
	}
}

// A path that leads elsewhere when the call begins than when it was decided on is decided
// on again: a protected target asks, a denied one is denied, any other is used.
func TestAPathIsDecidedOnWhereItLeads(t *testing.T) {
	for to, check := range map[string]func(h *house){
		"b/.git/hooks": func(h *house) {
			q := h.asked(1)[0]
			if !strings.Contains(q.Question, "protected") || !strings.Contains(q.Question, "which leads to \"b/.git/hooks/f\"") || h.exists("b/.git/hooks/f") {
				h.t.Errorf("question %s", q.Question)
			}
			h.restart() // The question is still open, and the call did not run.
			h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, Approve: true})
		},
		"secret": func(*house) {},
		"c":      func(*house) {},
	} {
		var h *house
		// When the second call is decided on, the first one was decided on and has not begun.
		swap := &edges{name: "swap", call: func(c interceptor.Call) interceptor.CallVerdict {
			if c.Tool == "list_dir" {
				h.link(to, "m")
			}
			return c.Continue()
		}}
		h = newHouse(t, steps(scripted.Say(called("write_file", "path", "m/f", "content", "new"), called("list_dir"))),
			with(swap), func(c *options) {
				c.Rules = []item.Rule{{Path: "secret/**", Decision: policy.Deny, Source: "config.toml:1"}}
			})
		for _, dir := range []string{"a", "b/.git/hooks", "secret", "c"} {
			h.plant(dir+"/keep", "")
		}
		h.link("a", "m")
		s := h.submit("go")
		check(h)
		if end := h.ended(s); end.Outcome != item.OutcomeFinished {
			t.Errorf("%s: end %+v", to, end)
		}
		r := results(h.log())
		denied := to == "secret"
		if h.exists("a/f") || h.exists(to+"/f") == denied || len(r) != 2 || r[0].IsError != denied {
			t.Errorf("%s: results %+v", to, r)
		}
		if denied && !strings.Contains(r[0].Summary, `"m/f", which leads to "secret/f", is denied by config.toml:1`) {
			t.Errorf("the model reads %s", r[0].Summary)
		}
	}
}

// A call that is changed each time it begins ends in an error, not in a loop.
func TestACallThatKeepsChanging(t *testing.T) {
	ran := 0
	fickle := tool.New("fickle", "d", func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) {
		ran++
		return tool.Output{}, tool.ErrChanged
	}, tool.Confined[struct{}]())
	h := newHouse(t, steps(scripted.Say(called("fickle"))), func(c *options) { c.Tools = append(c.Tools, fickle) })
	h.run("go")
	if r := results(h.log()); len(r) != 1 || !strings.Contains(r[0].Summary, "keep changing") || ran != 4 {
		t.Errorf("ran %d times: %+v", ran, r)
	}
}

// A call that was changed when it began is looked up by what it made of its files then, not by what it
// planned at first.
func TestAChangedCallIsPlannedAgain(t *testing.T) {
	began, plans := make(chan struct{}), 0
	found := make(chan []item.PlannedChange, 1)
	plan := func(context.Context, *tool.Invocation, struct{}) []item.PlannedChange {
		plans++
		return []item.PlannedChange{{Path: "f", Before: fmt.Sprint(plans), After: "x"}}
	}
	runs := 0
	fickle := tool.New("fickle", "d", func(ctx context.Context, _ *tool.Invocation, _ struct{}) (tool.Output, error) {
		if runs++; runs == 1 {
			return tool.Output{}, tool.ErrChanged
		}
		close(began)
		<-ctx.Done()
		return tool.Output{}, context.Cause(ctx)
	}, tool.Touches(func(struct{}) tool.Access { return tool.Access{Writes: true, Confined: true} }), tool.Plans(plan),
		tool.Recovers(func(_ context.Context, call *tool.Invocation, _ struct{}) (tool.Output, item.Recovery, error) {
			found <- call.Planned
			return tool.FromString("found"), item.RecoveryFound, nil
		}))
	h, f := newFaultyHouse(t, steps(scripted.Say(called("fickle"))), func(c *options) { c.Tools = append(c.Tools, fickle) })
	s := h.submit("go")
	<-began
	h.kill(f)
	h.ended(s)
	if got := <-found; len(got) != 1 || got[0].Before != "2" {
		t.Errorf("looked up by %+v", got)
	}
	if started := kinds[item.ToolStarted](h.log()); len(started) != 2 {
		t.Errorf("started %+v", started)
	}
}

// A rule about a path applies whatever links lead there, for every tool that names paths.
func TestRulesFollowLinks(t *testing.T) {
	calls := []scripted.Call{
		called("read_file", "path", "m/x"),
		called("read_file", "path", "l"),
		called("write_file", "path", "m/new", "content", "new"),
		called("edit_file", "path", "m/x", "old", "hidden", "new", "new"),
		called("apply_patch", "input", "*** Begin Patch\n*** Update File: m/x\n@@\n-hidden\n+new\n*** End Patch"),
		called("apply_patch", "input", "*** Begin Patch\n*** Add File: m/y\n+new\n*** End Patch"),
		called("apply_patch", "input", "*** Begin Patch\n*** Delete File: m/x\n*** End Patch"),
		called("list_dir", "path", "m"),
		called("search", "pattern", "hidden", "path", "m"),
		called("search", "pattern", "hidden", "glob", "m/*"),
		called("search", "pattern", "hidden", "path", "m/.."), // The workspace: search follows no links.
		called("glob", "pattern", "m/*"),
		called("repo_map", "path", "m"),
		called("repo_structure", "path", "m"),
	}
	var parts []scripted.Part
	for _, c := range calls {
		parts = append(parts, c)
	}
	h := newHouse(t, steps(scripted.Say(parts...)), func(c *options) {
		c.Rules = []item.Rule{{Path: "secret/**", Decision: policy.Deny, Source: "config.toml:1"}}
	})
	h.plant("secret/x", "hidden\n")
	h.plant(".gitignore", "secret\n")
	h.link("secret", "m")
	h.link("secret/x", "l")
	h.run("go")
	for i, r := range results(h.log()) {
		if calls[i].Arguments == `{"pattern":"hidden","path":"m/.."}` {
			if r.IsError || strings.Contains(r.Content, "hidden\n") {
				t.Errorf("%+v", r)
			}
			continue
		}
		if !r.IsError || !strings.Contains(r.Summary, "denied by config.toml:1") || !strings.Contains(r.Summary, "which leads to") {
			t.Errorf("%s: %s", calls[i].Arguments, r.Summary)
		}
	}
	if h.read("secret/x") != "hidden\n" || h.exists("secret/new") {
		t.Error("something was changed")
	}
}
