package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"podd/internal/extend/extern"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// Config configures Hooks. All fields are required.
type Config struct {
	// Runner runs the commands.
	Runner *extern.Runner
	// In are the hooks in effect for a pod, and one sentence on each that does not run. project is the
	// directory of the workspace whose hooks count.
	In func(ctx context.Context, p item.Pod) (project string, hooks []Hook, refused []string)
	// Dir keeps the transcripts that hooks read; Open makes it anew.
	Dir    string
	Logger *slog.Logger
}

// Hooks asks and tells the hooks of Claude Code. It may be used from any goroutine.
type Hooks struct {
	interceptor.Base
	Config
	// base is the context of what no turn waits for; the Runner ends it.
	base context.Context
	// aside are the hooks in the background.
	aside sync.WaitGroup

	mu   sync.Mutex
	pods map[string]*memory
}

// memory is what Hooks knows of a pod while podd runs.
type memory struct {
	// session is how the next session begins; empty while one runs.
	session string
	// told are the sentences that the pod's log has.
	told map[string]bool
	// asked is the call whose arguments hooks changed, and their verdict.
	asked  interceptor.Call
	answer interceptor.CallVerdict
	// context is text for the result of a call, by its id.
	context map[string]string
}

// Open makes Hooks. It lives until Close, not until ctx ends.
func Open(ctx context.Context, c Config) (*Hooks, error) {
	if err := os.RemoveAll(c.Dir); err != nil {
		return nil, err
	}
	return &Hooks{Config: c, base: context.WithoutCancel(ctx), pods: map[string]*memory{}}, os.MkdirAll(c.Dir, 0o700)
}

// Close waits for hooks in the background, which the Runner ends.
func (h *Hooks) Close() { h.aside.Wait() }

// Name is "hooks".
func (h *Hooks) Name() string { return "hooks" }

// of changes what is known of a pod.
func (h *Hooks) of(pod string, change func(m *memory)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.pods[pod]
	if m == nil {
		m = &memory{session: "resume", told: map[string]bool{}, context: map[string]string{}}
		h.pods[pod] = m
	}
	change(m)
}

// first says whether a pod hears a sentence for the first time.
func (h *Hooks) first(pod, text string) (first bool) {
	h.of(pod, func(m *memory) { first, m.told[text] = !m.told[text], true })
	return first
}

// scene is a pod with the hooks in effect.
type scene struct {
	pod     item.Pod
	project string
	hooks   []Hook
	refused []string
}

// look finds the pod and its hooks, and says what the pod's log has not. The file system of a
// workspace may hang: a turn that ends does not wait for it.
func (h *Hooks) look(ctx context.Context, pod string) (s scene, warnings []string) {
	p, err := h.Runner.Find(ctx, pod)
	if err != nil {
		return s, []string{"could not find the pod: " + err.Error()}
	}
	answer := make(chan scene, 1)
	go func() {
		found := scene{pod: p}
		found.project, found.hooks, found.refused = h.In(ctx, p)
		answer <- found
	}()
	select {
	case <-ctx.Done():
		return scene{pod: p}, nil
	case s = <-answer:
	}
	for _, why := range s.refused {
		if h.first(pod, why) {
			warnings = append(warnings, why)
		}
	}
	return s, warnings
}

// PromptSubmit asks SessionStart when a session begins, and UserPromptSubmit. A sub-pod has
// SubagentStart alone.
func (h *Hooks) PromptSubmit(ctx context.Context, s interceptor.Submit) interceptor.SubmitVerdict {
	in, warnings := h.look(ctx, s.Pod)
	v := verdict{warnings: warnings}
	if len(in.hooks) > 0 {
		h.write(s.Pod, in.pod.Spec.Dir, s.Conversation)
		v.join(h.begin(ctx, in, s.Conversation))
		if in.pod.Spec.Parent == "" && !v.stopped {
			v.join(h.ask(ctx, in, question{event: promptSubmit, fields: map[string]any{"prompt": s.Text}, goesOn: "the message goes on"}))
		}
	}
	said := strings.Join(v.warnings, "; ")
	if v.blocked || v.stopped {
		return s.Cancel(v.reason).Warn(said)
	}
	h.of(s.Pod, func(m *memory) { m.session = "" })
	return s.ContinueWith(v.items()...).Warn(said)
}

// begin asks the hooks of a session's beginning. They block nothing.
func (h *Hooks) begin(ctx context.Context, in scene, past interceptor.Conversation) (v verdict) {
	p := in.pod
	q := question{event: sessionStart, goesOn: "the session goes on"}
	h.of(p.ID, func(m *memory) { q.kinds = []string{m.session} })
	if q.kinds[0] == "" {
		return v
	}
	if q.kinds[0] == "resume" {
		q.kinds[0] = "startup"
		for _, err := range past.History() {
			if err == nil {
				q.kinds[0] = "resume"
			}
			break
		}
	}
	q.fields = map[string]any{"source": q.kinds[0]}
	if p.Spec.Parent != "" {
		q.event, q.kinds, q.fields = subagentStart, []string{agentType}, map[string]any{"agent_id": p.ID, "agent_type": agentType}
	}
	v = h.ask(ctx, in, q)
	if v.blocked {
		v.warnings, v.blocked = append(v.warnings, v.reason), false
	}
	return v
}

// join adds a later verdict.
func (v *verdict) join(w verdict) {
	v.stopped, v.blocked, v.reason = v.stopped || w.stopped, v.blocked || w.blocked, reason(w.reason, v.reason)
	v.context, v.warnings = append(v.context, w.context...), append(v.warnings, w.warnings...)
}

func (v verdict) items() (items []item.Item) {
	for _, text := range v.context {
		items = append(items, item.SystemMessage{Origin: item.OriginInterceptor, Text: text})
	}
	return items
}

// BeforeRequest asks SessionStart after a compaction.
func (h *Hooks) BeforeRequest(ctx context.Context, r interceptor.Request) interceptor.RequestVerdict {
	compacted := false
	h.of(r.Pod, func(m *memory) { compacted = m.session == "compact" })
	if !compacted {
		return r.Continue()
	}
	in, _ := h.look(ctx, r.Pod)
	v := h.begin(ctx, in, r.Conversation)
	h.of(r.Pod, func(m *memory) { m.session = "" })
	return r.ContinueWith(v.items()...).Warn(strings.Join(v.warnings, "; "))
}

// BeforeTool asks PreToolUse. What a hook allows is still podd's to decide. Hooks that changed a
// call are not asked about their own change again.
func (h *Hooks) BeforeTool(ctx context.Context, c interceptor.Call) (answer interceptor.CallVerdict) {
	again := false
	h.of(c.Pod, func(m *memory) {
		again = m.asked.CallID == c.CallID && m.asked.Turn == c.Turn && equal(m.asked.Arguments, c.Arguments)
		answer = m.answer
	})
	if again {
		return answer
	}
	in, warnings := h.look(ctx, c.Pod)
	v, changed := verdict{warnings: warnings}, ""
	for _, theirs := range callsOf(c.Tool, c.Arguments, in.pod.Spec.Dir) {
		w := h.ask(ctx, in, question{
			event: preToolUse, kinds: theirs.names, call: theirs, goesOn: "the call goes on",
			fields: map[string]any{"tool_name": theirs.names[0], "tool_input": theirs.input, "tool_use_id": c.CallID},
		})
		if v.join(w); w.asks {
			v.asks = true
		}
		if w.updated != nil && !w.blocked && !w.stopped {
			changed, _ = theirs.rewritten(c.Arguments, w.updated)
		}
		if v.blocked || v.stopped {
			break
		}
	}
	said := strings.Join(v.warnings, "; ")
	switch {
	case v.stopped:
		return c.Abort(v.reason).Warn(said)
	case v.blocked:
		return c.Deny(strings.Join(append([]string{v.reason}, v.context...), "\n")).Warn(said)
	}
	answer = c.Continue()
	if v.asks {
		answer = c.Ask(v.reason)
	}
	h.of(c.Pod, func(m *memory) {
		if len(v.context) > 0 {
			m.context[c.CallID] = strings.Join(v.context, "\n")
		}
		if changed != "" {
			m.asked, m.answer = c, answer
			m.asked.Arguments = changed
			answer = c.Rewrite(changed)
		}
	})
	return answer.Warn(said)
}

// equal says whether two texts are the same JSON object.
func equal(a, b string) bool {
	one, _ := json.Marshal(object(a))
	other, _ := json.Marshal(object(b))
	return string(one) == string(other)
}

// AfterTool asks PostToolUse, or PostToolUseFailure. What hooks say follows the output.
func (h *Hooks) AfterTool(ctx context.Context, r interceptor.Result) interceptor.ResultVerdict {
	in, warnings := h.look(ctx, r.Pod)
	v, out := verdict{warnings: warnings}, r.Output
	h.of(r.Pod, func(m *memory) {
		if text := m.context[r.CallID]; text != "" {
			v.context = append(v.context, text)
			delete(m.context, r.CallID)
		}
	})
	for _, theirs := range callsOf(r.Tool, r.Arguments, in.pod.Spec.Dir) {
		q := question{
			event: postToolUse, kinds: theirs.names, call: theirs, goesOn: "the turn goes on",
			fields: map[string]any{"tool_name": theirs.names[0], "tool_input": theirs.input, "tool_use_id": r.CallID, "tool_response": theirs.response(r.Output)},
		}
		if r.Output.IsError {
			q.event, q.fields["error"], q.fields["is_interrupt"] = postFailure, r.Output.Summary+"\n"+r.Output.Content, false
			delete(q.fields, "tool_response")
		}
		w := h.ask(ctx, in, q)
		if v.join(w); w.output != nil {
			out.Content, out.Cut = text(w.output), nil
		}
	}
	said := strings.Join(v.warnings, "; ")
	if v.stopped {
		return r.Abort(v.reason).Warn(said)
	}
	if v.blocked {
		v.context = append(v.context, v.reason)
	}
	if len(v.context) > 0 {
		out.Content = strings.TrimPrefix(out.Content+"\n", "\n") + "[hooks]\n" + strings.Join(v.context, "\n")
	}
	if out == r.Output {
		return r.Continue().Warn(said)
	}
	return r.Replace(out).Warn(said)
}

// text is a value of a hook as text for the model.
func text(value any) string {
	if text, ok := value.(string); ok {
		return cut(text)
	}
	line, _ := json.Marshal(value)
	return cut(string(line))
}

// feedback begins what a hook of Stop tells the model.
const feedback = "Stop hook feedback:\n"

// TurnEnd asks Stop, or SubagentStop.
func (h *Hooks) TurnEnd(ctx context.Context, t interceptor.Turn) interceptor.TurnVerdict {
	in, warnings := h.look(ctx, t.Pod)
	p := in.pod
	h.of(t.Pod, func(m *memory) { m.asked, m.context = interceptor.Call{}, map[string]string{} })
	if len(in.hooks) == 0 {
		return t.Finish().Warn(strings.Join(warnings, "; "))
	}
	h.write(t.Pod, p.Spec.Dir, t.Conversation)
	active := false
	for past, err := range t.ThisTurn() {
		m, ok := past.Item.(item.SystemMessage)
		active = active || err == nil && ok && m.Origin == item.OriginInterceptor && strings.HasPrefix(m.Text, feedback)
	}
	q := question{event: stop, goesOn: "the turn ends", fields: map[string]any{"stop_hook_active": active, "last_assistant_message": t.Answer}}
	if p.Spec.Parent != "" {
		q.event, q.kinds = subagentStop, []string{agentType}
		q.fields["agent_id"], q.fields["agent_type"], q.fields["agent_transcript_path"] = p.ID, agentType, h.transcript(p.ID)
	}
	v := h.ask(ctx, in, q)
	said := strings.Join(append(warnings, v.warnings...), "; ")
	if v.blocked && !v.stopped {
		return t.ContinueWith(item.SystemMessage{Origin: item.OriginInterceptor, Text: feedback + v.reason}).Warn(said)
	}
	return t.Finish().Warn(said)
}

// Entry tells hooks of questions to a person and of compactions.
func (h *Hooks) Entry(pod string, e item.Entry) {
	q := question{goesOn: "nothing waits for it"}
	switch k := e.Kind.(type) {
	case item.Compaction:
		trigger := "auto"
		if strings.HasSuffix(k.Reason, "by a client") {
			trigger = "manual"
		}
		q.event, q.kinds, q.fields = preCompact, []string{trigger}, map[string]any{"trigger": trigger, "custom_instructions": ""}
		h.of(pod, func(m *memory) { m.session = "compact" })
	case item.ApprovalRequested:
		kind := "permission_prompt"
		if k.Form != nil {
			kind = "elicitation_dialog"
		}
		q.event, q.kinds = notification, []string{kind}
		q.fields = map[string]any{"message": fmt.Sprintf("podd: %s", k.AlertText()), "title": "podd", "notification_type": kind}
	default:
		return
	}
	in, _ := h.look(h.base, pod)
	h.ask(h.base, in, q)
}

// Alert tells no hook.
func (h *Hooks) Alert(item.Alert) {}

// Edge tells no hook.
func (h *Hooks) Edge(hook.Edge) {}

// Pod forgets a pod that is deleted.
func (h *Hooks) Pod(e hook.PodEvent) {
	if e.Change == hook.PodDeleted {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.pods, e.ID)
		_ = os.Remove(h.transcript(e.ID))
	}
}

// transcript is where hooks read the conversation of a pod.
func (h *Hooks) transcript(pod string) string {
	return filepath.Join(h.Dir, filepath.Base(pod)+".jsonl")
}
