package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"podd/internal/extend/extern"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// maxText bounds a text of a hook, in bytes.
const maxText = 16 << 10

// question is an event that hooks are asked about.
type question struct {
	event string
	// kinds are what matchers match: the names of the tool, or how a session began.
	kinds []string
	// call is the tool call; zero for an event without one.
	call call
	// fields are the event's own.
	fields map[string]any
	// goesOn says what happens if a hook fails.
	goesOn string
}

// verdict is what all hooks of an event decided together.
type verdict struct {
	// stopped says that a hook wants nothing to go on, blocked that it says no, asks that a
	// person decides. reason belongs to the strongest of them.
	stopped, blocked, asks bool
	reason                 string
	// context is text for the model.
	context  []string
	updated  map[string]any
	output   any
	warnings []string
}

// said is the JSON of a hook.
type said struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	SystemMessage string `json:"systemMessage"`
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	Specific      struct {
		Decision  string         `json:"permissionDecision"`
		Reason    string         `json:"permissionDecisionReason"`
		Context   string         `json:"additionalContext"`
		Updated   map[string]any `json:"updatedInput"`
		Output    any            `json:"updatedToolOutput"`
		OutputMCP any            `json:"updatedMCPToolOutput"`
	} `json:"hookSpecificOutput"`
}

// ask runs the hooks of an event, all at once, and waits for those that are not in the background.
func (h *Hooks) ask(ctx context.Context, in scene, q question) (v verdict) {
	input, err := h.input(in.pod, q)
	if err != nil {
		v.warnings = append(v.warnings, "could not deliver an event: "+err.Error())
		return v
	}
	var chosen []Hook
	for _, k := range in.hooks {
		if k.Event == q.event && k.matcher.fits(q.kinds) && permits(k.only, q.call) && !slices.ContainsFunc(chosen, k.same) {
			chosen = append(chosen, k)
		}
	}
	answers, failures := make([]extern.Answer, len(chosen)), make([]error, len(chosen))
	var wg sync.WaitGroup
	for i, k := range chosen {
		if k.background {
			h.aside.Go(func() { _, _ = h.run(h.base, k, in, input) }) // It has logged its error.
			continue
		}
		wg.Go(func() { answers[i], failures[i] = h.run(ctx, k, in, input) })
	}
	wg.Wait()
	for i, k := range chosen {
		if ctx.Err() == nil && !k.background {
			v.add(h, k, in.pod.ID, q, answers[i], failures[i])
		}
	}
	return v
}

// same says whether two hooks run the same command.
func (k Hook) same(other Hook) bool {
	return slices.Equal(k.argv, other.argv) && k.plugin == other.plugin
}

// input is what a hook reads.
func (h *Hooks) input(p item.Pod, q question) ([]byte, error) {
	fields := map[string]any{
		"session_id": p.ID, "transcript_path": h.transcript(p.ID), "cwd": p.Spec.Dir, "permission_mode": "default", "hook_event_name": q.event,
	}
	for key, value := range q.fields {
		fields[key] = value
	}
	line, err := json.Marshal(fields)
	return append(line, '\n'), err
}

func (h *Hooks) run(ctx context.Context, k Hook, in scene, input []byte) (extern.Answer, error) {
	c := extern.Command{Name: k.shown, Argv: k.argv, Timeout: k.timeout, Env: []string{"CLAUDE_PROJECT_DIR=" + in.project}}
	if k.plugin != (Plugin{}) {
		c.Env = append(c.Env, "CLAUDE_PLUGIN_ROOT="+k.plugin.Root, "CLAUDE_PLUGIN_DATA="+k.plugin.Data, "PYTHONDONTWRITEBYTECODE=1")
	}
	if name := c.Argv[0]; strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		c.Argv = append([]string{filepath.Join(in.project, name)}, c.Argv[1:]...)
	}
	a, err := h.Runner.Foreign(ctx, c, in.pod, k.Event, input)
	switch {
	case err == nil && a.Status != 0 && a.Status != refusal:
		err = fmt.Errorf("ended with exit status %d%s", a.Status, lastLine(a.Stderr))
	case err == nil:
		return a, nil
	}
	h.Logger.Warn("a hook failed", "hook", k.shown, "pod", in.pod.ID, "error", err)
	return a, err
}

// refusal is the exit status of a hook that says no; its standard error is the reason.
const refusal = 2

var errForm = errors.New("printed JSON that podd cannot read")

// add adds the answer of one hook.
func (v *verdict) add(h *Hooks, k Hook, pod string, q question, a extern.Answer, err error) {
	s, text := said{}, strings.TrimSpace(a.Stdout)
	if err == nil && a.Status == 0 && strings.HasPrefix(text, "{") {
		if s, err = parseSaid(text); err != nil {
			s = said{}
		}
		text = ""
	}
	switch {
	case err != nil:
		if h.first(pod, k.shown+err.Error()) {
			v.warnings = append(v.warnings, fmt.Sprintf("%s %v; %s", k.shown, err, q.goesOn))
		}
		return
	case a.Status == refusal:
		v.decide(&v.blocked, reason(a.Stderr, k.shown+" gave no reason"))
		return
	case text != "" && (q.event == promptSubmit || q.event == sessionStart || q.event == subagentStart):
		s.Specific.Context = text
	}
	v.take(k, s)
}

// parseSaid reads what a hook said in one JSON object, or in several: a hook that calls itself
// asynchronous says that in the first.
func parseSaid(text string) (s said, err error) {
	for values := json.NewDecoder(strings.NewReader(text)); ; {
		err := values.Decode(&s)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, fmt.Errorf("%w (%s)", errForm, plain(err))
		}
	}
}

// take takes what a hook said in JSON.
func (v *verdict) take(k Hook, s said) {
	if s.SystemMessage != "" {
		v.warnings = append(v.warnings, cut(s.SystemMessage))
	}
	if text := strings.TrimSpace(s.Specific.Context); text != "" {
		v.context = append(v.context, cut(text))
	}
	if s.Specific.Updated != nil {
		v.updated = s.Specific.Updated
	}
	for _, out := range []any{s.Specific.Output, s.Specific.OutputMCP} {
		if out != nil {
			v.output = out
		}
	}
	none := k.shown + " gave no reason"
	switch decision := s.Specific.Decision + " " + s.Decision; {
	case s.Continue != nil && !*s.Continue:
		v.decide(&v.stopped, reason(s.StopReason, none))
	case strings.HasPrefix(decision, "deny"), strings.HasSuffix(decision, "block"), strings.HasSuffix(decision, " deny"):
		v.decide(&v.blocked, reason(s.Specific.Reason, reason(s.Reason, none)))
	case strings.HasPrefix(decision, "ask"):
		v.decide(&v.asks, reason(s.Specific.Reason, none))
	}
}

// decide notes a decision. The strongest one keeps its reason: stopped, blocked, asks.
func (v *verdict) decide(what *bool, why string) {
	weaker := what == &v.asks && (v.blocked || v.stopped) || what == &v.blocked && v.stopped
	switch {
	case weaker:
	case *what:
		v.reason += "\n" + why
	default:
		v.reason = why
	}
	*what = true
}

func reason(text, otherwise string) string {
	if text = strings.TrimSpace(text); text == "" {
		return otherwise
	}
	return cut(text)
}

// cut leaves out what is beyond the most of a text.
func cut(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "\n[cut]"
	}
	return tool.Repair(text)
}

// lastLine is the last line of a hook's standard error, as the end of a sentence.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + clip(last)
	}
	return ""
}
