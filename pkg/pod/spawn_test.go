package pod_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/internal/report"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

// spawning is a house whose pod "p" may have the given number of pods at once. The model
// answers each pod by the first word of its prompt.
func spawning(t *testing.T, atOnce int, handlers map[string]scripted.Handler, config ...func(*options)) *house {
	t.Helper()
	h := newHouse(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		for _, m := range r.Messages {
			if m.Role != "user" {
				continue
			}
			word, _, _ := strings.Cut(m.Text, " ")
			if handler, ok := handlers[word]; ok {
				return handler(ctx, r)
			}
			break
		}
		return scripted.Say(scripted.Text("nothing to do"))
	}, config...)
	h.update(item.PodSpec{Dir: h.dir, SubPods: atOnce})
	return h
}

func (h *house) update(spec item.PodSpec) {
	h.t.Helper()
	if _, err := h.host.Update(h.t.Context(), "p", to(spec)); err != nil {
		h.t.Fatal(err)
	}
}

// pods are all pods but p.
func (h *house) pods() []item.Pod {
	h.t.Helper()
	all, err := h.host.List(context.Background(), "")
	if err != nil {
		h.t.Fatal(err)
	}
	var others []item.Pod
	for _, r := range all {
		if r.Name != "p" {
			others = append(others, r)
		}
	}
	return others
}

// only is the only sub-pod.
func (h *house) only() item.Pod {
	h.t.Helper()
	all := h.pods()
	if len(all) != 1 {
		h.t.Fatalf("%d pods were spawned: %+v", len(all), all)
	}
	return all[0]
}

// ends are the ends of a pod's turns.
func (h *house) ends(id string) []item.TurnEnded {
	var out []item.TurnEnded
	for _, e := range h.logOf(id) {
		if k, ok := e.Kind.(item.TurnEnded); ok {
			out = append(out, k)
		}
	}
	return out
}

// spawn is a call of spawn_pod.
func spawn(arguments string, more ...any) scripted.Call {
	return scripted.Call{Name: "spawn_pod", Arguments: fmt.Sprintf(arguments, more...)}
}

func usageOf(in, out int64, parts ...scripted.Part) scripted.Reply {
	r := scripted.Say(parts...)
	r.Usage = &item.Usage{Input: in, Output: out}
	return r
}

// A sub-pod gets the task, works under its parent's spec, and its answer is the result.
// The parent's log has its bill as one sum.
func TestSpawn(t *testing.T) {
	h := spawning(t, 2, map[string]scripted.Handler{
		"go": steps(
			usageOf(100, 10, spawn(`{"task":"child: look at @a.txt","name":"Look & see"}`)),
			usageOf(200, 10, scripted.Text("thanks"))),
		"child:": steps(usageOf(1000, 100, scripted.Text("hm"), shell("echo found > b.txt")), usageOf(2000, 100, scripted.Text("It says x."))),
	})
	h.write("a.txt", "x")
	end := h.run("go")
	if end.Outcome != item.OutcomeFinished || end.Steps != 2 || end.Usage.Input != 3300 {
		t.Errorf("end %+v", end)
	}
	r := results(h.log())[0]
	child := h.only()
	want := "spawn_pod: " + child.Name + " finished: 2 steps, 1 tool call, 3200 tokens"
	if r.IsError || r.Summary != want || r.Content != "It says x." || r.Kind != item.OutputTask {
		t.Errorf("result %+v, want %q", r, want)
	}
	p, err := h.host.Get(t.Context(), "p")
	if err != nil || p.Status.Usage.Input != 3300 || p.Status.Usage.Requests != 4 {
		t.Errorf("pod %+v, %v", p.Status, err)
	}
	if !strings.HasPrefix(child.Name, "p-look-see-") || child.Spec.Parent != p.ID || child.Spec.ParentCall != r.CallID || child.Spec.SubPods != 1 || child.Spec.Dir != p.Spec.Dir {
		t.Errorf("child %+v", child)
	}
	if h.read("b.txt") != "found\n" {
		t.Error("the child has not worked in the workspace")
	}
	if m, ok := items(h.logOf(child.ID))[0].(item.UserMessage); !ok || m.Text != "child: look at @a.txt" {
		t.Errorf("the child was asked %+v", m)
	}
	all, err := report.Count(t.Context(), h.host, "")
	if err != nil || all.Usage.Input != 3300 || all.Usage.Requests != 4 {
		t.Errorf("stats of all %+v, %v", all, err)
	}
	one, err := report.Count(t.Context(), h.host, "p")
	if err != nil || one.Usage.Input != 3300 {
		t.Errorf("stats of p %+v, %v", one, err)
	}
	if here, err := h.host.List(t.Context(), h.dir); err != nil || len(here) != 1 || here[0].Name != "p" {
		t.Errorf("pods of the workspace %+v, %v", here, err)
	}
}

// Without sub_pods the tool does not exist, and no client can make a pod another's child.
func TestNoSpawn(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(spawn(`{"task":"x"}`))))
	h.run("go")
	if r := results(h.log())[0]; !strings.Contains(r.Summary, `no tool "spawn_pod"`) || len(h.pods()) > 0 {
		t.Errorf("result %+v", r)
	}
	p, err := h.host.Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.host.Create(t.Context(), "q", item.PodSpec{Dir: h.dir, Parent: p.ID, ParentCall: "x"})
	wantError(t, err, item.KindInvalid, "PARENT")
	h.update(item.PodSpec{Dir: h.dir, Parent: "pod_x", ParentCall: "y"})
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Spec.Parent != "" || p.Spec.ParentCall != "" {
		t.Errorf("spec %+v, %v", p.Spec, err)
	}
}

// A child that does not finish is an error that says why.
func TestSpawnFails(t *testing.T) {
	h := spawning(t, 1, map[string]scripted.Handler{
		"go": steps(scripted.Say(spawn(`{"task":"fails"}`), spawn(`{"task":"endless","max_steps":2}`), spawn(`{"task":" "}`))),
		"fails": func(context.Context, scripted.Request) scripted.Reply {
			return scripted.Fail(401, "x", "no such key", 0)
		},
		"endless": func(_ context.Context, r scripted.Request) scripted.Reply {
			return scripted.Say(scripted.Text("on"), shell("true"))
		},
	})
	h.run("go")
	for i, want := range []string{"did not finish (failed)", "did not finish (limit): the turn reached its limit of 2 model requests", "task is empty"} {
		if r := results(h.log())[i]; !r.IsError || !strings.Contains(r.Summary, want) {
			t.Errorf("result %+v, want %q", r, want)
		}
	}
}

// Sub-pods can spawn pods up to three levels below the first pod, each level with fewer
// at once.
func TestSpawnDepth(t *testing.T) {
	var mu sync.Mutex
	var offered []bool
	h := spawning(t, 9, map[string]scripted.Handler{
		"down": func(_ context.Context, r scripted.Request) scripted.Reply {
			can := slices.Contains(r.Tools, "spawn_pod")
			if r.Steps() > 0 || !can {
				mu.Lock()
				defer mu.Unlock()
				offered = append(offered, can)
				return scripted.Say(scripted.Text("up"))
			}
			return scripted.Say(spawn(`{"task":"down"}`))
		},
	})
	if end := h.run("down"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if want := []bool{false, true, true, true}; !slices.Equal(offered, want) {
		t.Errorf("offered %v", offered)
	}
	var left []int
	for _, p := range h.pods() {
		left = append(left, p.Spec.SubPods)
	}
	slices.Sort(left)
	if !slices.Equal(left, []int{0, 7, 8}) {
		t.Errorf("pods at once %v", left)
	}
}

// At most the allowed number runs at once; the others wait.
func TestSpawnNumber(t *testing.T) {
	var mu sync.Mutex
	asked, most := 0, 0
	two := make(chan struct{})
	var h *house
	h = spawning(t, 2, map[string]scripted.Handler{
		"go": steps(scripted.Say(spawn(`{"task":"child 1"}`), spawn(`{"task":"child 2"}`), spawn(`{"task":"child 3"}`), spawn(`{"task":"child 4"}`))),
		"child": func(context.Context, scripted.Request) scripted.Reply {
			running := slices.DeleteFunc(h.pods(), func(p item.Pod) bool { return p.Status.State != item.StateRunning })
			mu.Lock()
			defer mu.Unlock()
			if asked++; asked == 2 {
				close(two)
			}
			most = max(most, len(running))
			return scripted.Say(scripted.Wait(two), scripted.Text("done"))
		},
	})
	h.run("go")
	if n := len(h.pods()); n != 4 || most != 2 {
		t.Errorf("%d pods, %d at once", n, most)
	}
}

// A child gets a part of what its parent has, or the call is refused.
func TestSpawnScope(t *testing.T) {
	h := spawning(t, 1, map[string]scripted.Handler{
		"go": steps(scripted.Say(
			spawn(`{"task":"child","dir":"sub","read":["."],"tools":["write_file","read_file"]}`),
			spawn(`{"task":"x","dir":".."}`), spawn(`{"task":"x","dir":"/"}`), spawn(`{"task":"x","write":["out"]}`), spawn(`{"task":"x","read":["none"]}`),
			spawn(`{"task":"x","dir":".git"}`), spawn(`{"task":"x","write":[".git/hooks"]}`), spawn(`{"task":"x","dir":%q}`, "/does/not/exist"),
			spawn(`{"task":"x","tools":["todo","teleport"]}`), spawn(`{"task":"x","read":["/usr"]}`), spawn(`{"task":"x","dir":"/usr"}`),
			spawn(`{"task":"x","write":["file"]}`),
		)),
		"child": steps(scripted.Say(
			scripted.Call{Name: "write_file", Arguments: `{"path":"in.txt","content":"x"}`},
			scripted.Call{Name: "write_file", Arguments: `{"path":"../out.txt","content":"x"}`},
			scripted.Call{Name: "read_file", Arguments: `{"path":"../a.txt"}`},
			shell("touch ran"),
		)),
	})
	h.write("a.txt", "x")
	h.write("file", "x")
	for _, dir := range []string{"sub", ".git/hooks"} {
		if err := os.MkdirAll(filepath.Join(h.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/usr", filepath.Join(h.dir, "out")); err != nil {
		t.Fatal(err)
	}
	h.update(item.PodSpec{Dir: h.dir, SubPods: 1, Read: []string{"/usr"}, Tools: []string{"read_file", "write_file", "shell", "todo", "spawn_pod"}})
	h.run("go")
	refused := 0
	for _, r := range results(h.log())[1:] {
		if r.IsError && strings.Contains(r.Summary, "not run: ") {
			refused++
		}
	}
	pods := h.pods()
	i := slices.IndexFunc(pods, func(p item.Pod) bool { return p.Spec.Dir == filepath.Join(h.dir, "sub") })
	if i < 0 || len(pods) != 2 || refused != 10 {
		t.Fatalf("%d refused, pods %+v, results %+v", refused, pods, results(h.log()))
	}
	if child := pods[i].Spec; len(child.Write) > 0 || !slices.Equal(child.Read, []string{h.dir}) {
		t.Errorf("child %+v", child)
	}
	got := results(h.logOf(pods[i].ID))
	if got[0].IsError || !got[1].IsError || got[2].IsError || !got[3].IsError || h.read("sub/in.txt") != "x" || h.exists("out.txt") || h.exists("sub/ran") {
		t.Errorf("results %+v", got)
	}
}

// Rules name the same files for a sub-pod as for the first pod, wherever its workspace
// is, and so does the rule that an approval adds.
func TestRulesOfSpawnedPods(t *testing.T) {
	write := func(path string) scripted.Call {
		return scripted.Call{Name: "write_file", Arguments: fmt.Sprintf(`{"path":%q,"content":"x"}`, path)}
	}
	h := spawning(t, 1, map[string]scripted.Handler{
		"go":    steps(scripted.Say(spawn(`{"task":"child","dir":"lib"}`))),
		"child": steps(scripted.Say(write("secret/a"), write("lib/b"), write("c"), write("../lib/d")), scripted.Say(write("c"))),
	})
	for _, dir := range []string{"lib/secret", "lib/lib"} {
		if err := os.MkdirAll(filepath.Join(h.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.update(item.PodSpec{Dir: h.dir, SubPods: 1, Rules: []item.Rule{
		{Path: "lib/secret/**", Decision: "deny"}, {Path: "lib/c", Decision: "ask"}, {Path: "lib/b", Decision: "deny"},
	}})
	s := h.submit("go")
	asked := h.asked(1)[0]
	if !strings.Contains(asked.Arguments, `"c"`) {
		t.Errorf("asked %+v", asked)
	}
	rule, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: asked.Pod, CallSeq: asked.CallSeq, Approve: true, Always: true})
	if err != nil || rule.Path != "lib/c" {
		t.Errorf("rule %+v, %v", rule, err)
	}
	again := h.asked(1)[0]
	if _, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: again.Pod, CallSeq: again.CallSeq}); err != nil {
		t.Fatal(err)
	}
	h.ended(s)
	if h.exists("lib/secret/a") || !h.exists("lib/lib/b") || !h.exists("lib/c") || !h.exists("lib/d") {
		t.Errorf("results %+v", results(h.logOf(h.only().ID)))
	}
}

// The rest of the parent's limits is shared out: never more than there is, and the next
// share accounts for what was used.
func TestSpawnBudget(t *testing.T) {
	var mu sync.Mutex
	asked, four := 0, make(chan struct{})
	h := spawning(t, 4, map[string]scripted.Handler{
		"go": steps(
			usageOf(900, 100, spawn(`{"task":"equal 1"}`), spawn(`{"task":"equal 2"}`), spawn(`{"task":"equal 3"}`), spawn(`{"task":"equal 4"}`)),
			// The second call waits until the first one has left something.
			usageOf(900, 100, spawn(`{"task":"all 1","max_tokens":1000000}`), spawn(`{"task":"all 2","max_tokens":1000000}`)),
			usageOf(900, 100, spawn(`{"task":"one"}`)),
			usageOf(900, 100, spawn(`{"task":"greedy","max_tokens":1000000,"max_steps":100}`)),
			usageOf(900, 100, spawn(`{"task":"late"}`))),
		"equal": func(context.Context, scripted.Request) scripted.Reply {
			mu.Lock()
			defer mu.Unlock()
			if asked++; asked == 4 {
				close(four)
			}
			return usageOf(3000, 0, scripted.Wait(four), scripted.Text("done"))
		},
		"all": steps(usageOf(3000, 0, scripted.Text("done"))),
		"one": steps(usageOf(3000, 0, scripted.Text("done"))),
		"greedy": func(context.Context, scripted.Request) scripted.Reply {
			return usageOf(40_000, 0, scripted.Text("on"), shell("true"))
		},
	})
	h.update(item.PodSpec{Dir: h.dir, SubPods: 4, Limits: item.PodLimits{MaxSteps: 20, MaxTokens: 101_000, TotalTokens: 500_000}})
	if end := h.run("go"); end.Outcome != item.OutcomeLimit || end.Reason != "MAX_TOKENS" {
		t.Errorf("end %+v", end)
	}
	var shares []string
	for _, p := range h.pods() {
		task := items(h.logOf(p.ID))[0].(item.UserMessage).Text
		l := p.Spec.Limits
		if l.TotalTokens != l.MaxTokens || l.MaxSteps == 0 || l.MaxSteps > 19 {
			t.Errorf("%s: limits %+v", task, l)
		}
		shares = append(shares, fmt.Sprint(strings.Fields(task)[0], " ", l.MaxTokens))
	}
	slices.Sort(shares)
	// Used before each step: 1,000; 14,000; 21,000; 25,000.
	want := []string{"all 84000", "all 87000", "equal 25000", "equal 25000", "equal 25000", "equal 25000", "greedy 76000", "one 20000"}
	if !slices.Equal(shares, want) {
		t.Errorf("shares %v, want %v", shares, want)
	}
	r := results(h.log())
	if got := r[7]; len(r) != 8 || !got.IsError || !strings.Contains(got.Summary, "its limit is 76000") {
		t.Errorf("results %+v", r)
	}
}
