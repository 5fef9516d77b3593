package subpods

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"podd/internal/tools/builtin"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

const description = `Give a task to a new pod, an agent like you with a conversation of its own, and wait for its answer. ` +
	`It knows nothing but the task. It works in your workspace with your tools, and what it uses counts against your limits. ` +
	`Calls of one step run side by side. With background its answer comes as a letter, and you go on.`

type arguments struct {
	Task  string   `json:"task" jsonschema:"what to do, where, and what to answer with"`
	Name  string   `json:"name,omitempty" jsonschema:"a word"`
	Tools []string `json:"tools,omitempty" jsonschema:"which of yours; default all"`
	Dir   string   `json:"dir,omitempty" jsonschema:"its workspace, a directory that you may write; default yours. With dir, read or write it has only these"`
	Read  []string `json:"read,omitempty" jsonschema:"further directories that it may read"`
	Write []string `json:"write,omitempty" jsonschema:"further ones that it may write"`

	Background bool    `json:"background,omitempty"`
	MaxSteps   int     `json:"max_steps,omitempty"`
	MaxTokens  int64   `json:"max_tokens,omitempty" jsonschema:"in and out; default an equal share of what you have left"`
	MaxCost    float64 `json:"max_cost,omitempty" jsonschema:"USD; default likewise"`
	MaxSeconds int     `json:"max_seconds,omitempty"`

	Agent string `json:"agent,omitempty" jsonschema:"a preset, by its name: its instructions and tools"`
}

// notInName matches what a word for a name can't have.
var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// maxLabel bounds the word in a spawned pod's name, in bytes.
const maxLabel = 24

func (a *arguments) check() error {
	if strings.TrimSpace(a.Task) == "" {
		return errors.New("task is empty: say what to do")
	}
	if a.MaxSteps < 0 || a.MaxTokens < 0 || a.MaxCost < 0 || a.MaxSeconds < 0 {
		return errors.New("max_steps, max_tokens, max_cost and max_seconds can't be below 0")
	}
	a.Name = notInName.ReplaceAllString(strings.ToLower(a.Name), "-")
	a.Name = strings.Trim(a.Name[:min(len(a.Name), maxLabel)], "-")
	return nil
}

// errNoTurn is the error of a call outside of a turn: nothing would bill the sub-pod.
var errNoTurn = errors.New("not run: a sub-pod needs a turn that counts what it uses")

// spawner is the spawn_pod tool of one pod.
type spawner struct {
	*Wing
	// parent is the pod's id, depth how many pods are above it.
	parent string
	depth  int
	// files is the pod's scope, tools are the names of its tools.
	files *scopefs.FS
	tools []string
	// agents are the presets.
	agents []skills.Agent
	// slots has an element for each running sub-pod.
	slots  chan struct{}
	budget *budget
}

// Tools makes the tools of a pod that has depth pods above it and works in a scope; tools are the pod's other tools. nil
// files are enough to find the outcome of calls. wing is called when the tools are made.
func Tools(wing func() *Wing) func(parent item.Pod, depth int, files *scopefs.FS) (beside func(tools []string, agents []skills.Agent) []tool.Tool) {
	return func(parent item.Pod, depth int, files *scopefs.FS) func([]string, []skills.Agent) []tool.Tool {
		w := wing()
		s := spawner{
			Wing: w, parent: parent.ID, depth: depth, files: files,
			slots: make(chan struct{}, parent.Spec.SubPods), budget: newBudget(),
		}
		return func(tools []string, agents []skills.Agent) []tool.Tool {
			with := s
			with.tools, with.agents = append(slices.Clip(tools), pod.SpawnTool), agents
			made := []tool.Tool{with.tool()}
			if depth == 0 {
				made = append(made, with.waitTool())
			}
			return made
		}
	}
}

// tool is spawn_pod. Its argument agent is listed if there are any, and known to what only finds the outcome of calls.
func (s *spawner) tool() tool.Tool {
	options := []tool.Option[arguments]{tool.Validate((*arguments).check), tool.Touches(s.access), tool.Recovers(s.recover)}
	if len(s.agents) == 0 && s.files != nil {
		options = append(options, tool.Without[arguments]("agent"))
	}
	return tool.New(pod.SpawnTool, description+listed(s.agents), s.run, options...)
}

// access is what a call passes on. Policy decides on the sub-pod's own calls separately.
func (s *spawner) access(a arguments) tool.Access {
	dirs := slices.Concat(a.Write, a.Read)
	if a.Dir != "" {
		dirs = append(dirs, a.Dir)
	}
	for i, dir := range dirs {
		dirs[i] = s.files.Rel(dir)
	}
	return tool.Access{Paths: dirs, Targets: builtin.Targets(s.files, dirs), Writes: a.Dir != "" || len(a.Write) > 0, Confined: true, Obeys: true}
}

// run creates the pod, submits the task and waits for the end of its turn.
func (s *spawner) run(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, error) {
	if call.Meter == nil {
		return tool.Output{}, errNoTurn
	}
	if args.Background {
		return s.start(ctx, call, args)
	}
	if err := s.acquireSlot(ctx, call); err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	defer s.free()
	parent, err := s.Host.Get(ctx, s.parent)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	spec, err := s.spec(ctx, call, parent, args)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	made, err := s.spawn(ctx, namesOf(parent, call.CallID, args.Name), spec)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	return s.wait(ctx, call, made, args.Task)
}

// spawn creates the pod of a call, with the first of its names that is free. A call that is cancelled meanwhile has the
// pod: it has to remove it.
func (s *spawner) spawn(ctx context.Context, names []string, spec item.PodSpec) (item.Pod, error) {
	if ctx.Err() != nil {
		return item.Pod{}, context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx)
	for _, name := range names {
		made, err := s.Host.Spawn(ctx, name, spec)
		if item.KindOf(err) != item.KindExists || err == nil {
			return made, err
		}
	}
	return item.Pod{}, item.Errorf(item.KindExists, "POD_EXISTS", "not run: podd's names for this sub-pod are taken: give it a name")
}

// namesOf are the names of a call's pod, the same for the same call: a later one is for when a pod that is not the call's
// has those before.
func namesOf(parent item.Pod, call, label string) (names []string) {
	for _, sum := range sumsOf(parent.ID, call) {
		names = append(names, childName(parent.Name, label, sum))
	}
	return names
}

// sumsOf are the ends of the names of a call's pod.
func sumsOf(parent, call string) []string {
	sum := strings.TrimPrefix(pod.TaskID(item.PodSpec{Parent: parent, ParentCall: call}), "spawn-")
	return []string{sum[:6], sum[:12], sum[:24]}
}

// childName is PARENT-SUM or PARENT-LABEL-SUM, the parent's name cut to fit.
func childName(parent, label, sum string) string {
	rest := "-" + sum
	if label != "" {
		rest = "-" + label + rest
	}
	return parent[:min(len(parent), maxName-len(rest))] + rest
}

// maxName is the longest name of a pod, in bytes.
const maxName = 63

// recover finds the pod of a call that an earlier podd started and waits for its turn.
// The pod gets the task once: its request id is known, or was never admitted.
func (s *spawner) recover(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, item.Recovery, error) {
	if call.Meter == nil {
		return tool.Output{}, item.RecoveryUnknown, errNoTurn
	}
	if args.Background {
		return s.findStarted(context.WithoutCancel(ctx), call, args)
	}
	// Also for a cancelled call: its pod has to end.
	children, err := s.Host.Family.Children(context.WithoutCancel(ctx), s.parent)
	if err != nil {
		return tool.Output{}, item.RecoveryUnknown, s.unless(ctx, err)
	}
	children = slices.DeleteFunc(children, func(p item.Pod) bool { return p.Spec.ParentCall != call.CallID })
	if len(children) == 0 {
		return s.childless(ctx, call)
	}
	// A call's id may occur again when the first one is no longer in the log.
	made := slices.MaxFunc(children, func(p, q item.Pod) int { return p.CreatedAt.Compare(q.CreatedAt) })
	if err := s.acquireSlot(ctx, call); err != nil {
		return tool.Output{}, item.RecoveryUnknown, s.unless(ctx, err)
	}
	defer s.free()
	s.budget.promise(call.CallID, share{tokens: made.Spec.Limits.MaxTokens, cost: made.Spec.Limits.MaxCost})
	out, err := s.wait(ctx, call, made, args.Task)
	return out, item.RecoveryFound, err
}

// childless is the outcome of a call that has no sub-pod: podd stopped before it created one, or somebody deleted it.
func (s *spawner) childless(ctx context.Context, call *tool.Invocation) (tool.Output, item.Recovery, error) {
	trashed, err := s.Host.Store.TrashedPods(context.WithoutCancel(ctx))
	if err != nil {
		return tool.Output{}, item.RecoveryUnknown, s.unless(ctx, err)
	}
	if slices.ContainsFunc(trashed, func(p store.TrashedPod) bool { return p.Spec.Parent == s.parent && p.Spec.ParentCall == call.CallID }) {
		return tool.Error("%s: interrupted: the sub-pod was deleted", pod.SpawnTool), item.RecoveryFound, nil
	}
	return tool.Error("%s: not run: podd stopped before it created the sub-pod; call again if you still need it", pod.SpawnTool), item.RecoveryNoEffect, nil
}

// acquireSlot waits until fewer pods than the allowed number run.
func (s *spawner) acquireSlot(ctx context.Context, call *tool.Invocation) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	default:
	}
	call.Progress(fmt.Sprintf("waiting until fewer than %d sub-pods run\n", cap(s.slots)))
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *spawner) free() { <-s.slots }

// unless returns an error of the call, or tool.ErrGoesOn when the error is because podd
// stops.
func (s *spawner) unless(ctx context.Context, err error) error {
	if pod.Stopping(err) || errors.Is(context.Cause(ctx), worker.ErrShutdown) {
		return tool.ErrGoesOn
	}
	return err
}
