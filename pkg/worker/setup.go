package worker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// Setup is what the first request of a turn that begins now sends besides the items. It
// may ask the endpoint for its default model.
// old is the last one of the log; a log without one has the zero value.
func (w *Worker) Setup(ctx context.Context, old item.Setup) (item.Setup, error) {
	project, _ := w.project()
	setup, err := w.setup(ctx, w.Model, w.Options, project, old)
	if err != nil {
		return item.Setup{}, err
	}
	setup, _ = w.fitted(setup)
	return setup, nil
}

// setup is what requests to a model send besides the items. options precede those that the
// router has for it; old is the setup before.
func (w *Worker) setup(ctx context.Context, model item.ModelRef, options item.Options, project string, old item.Setup) (item.Setup, error) {
	return w.addressed(ctx, model, item.Setup{
		Options:             options,
		CacheKey:            cmp.Or(old.CacheKey, w.cacheKey()),
		Base:                w.Base,
		Environment:         w.Environment,
		Instructions:        w.Instructions,
		ProjectInstructions: project,
		Tools:               w.specs,
		Renderer:            Renderer,
		FileRefRole:         w.Sending.FileRefRole,
		OutputLimits:        w.Output.Stored(),
	}, old)
}

// cacheKey is the key of the pod's own prompt cache. A fork has the key of its parent in its
// log: their requests begin with the same bytes.
func (w *Worker) cacheKey() string {
	sum := sha256.Sum256([]byte("prompt cache of " + w.Pod))
	return "podd-" + hex.EncodeToString(sum[:12])
}

// project is the workspace's current text.
func (w *Worker) project() (text string, warnings []string) {
	if w.Project == nil {
		return "", nil
	}
	text, warnings = w.Project()
	return w.Output.Redact(text), warnings
}

// setUp stores what requests send besides the items, if it changed. A request for the
// endpoint's default model is retried like any other.
func (t *asker) setUp(ctx context.Context) error {
	project, warnings := t.said()
	kinds, err := t.newSetup(ctx, project, warnings)
	for tries := new(tries); err != nil; {
		if err := t.awaitRetry(ctx, err, tries); err != nil {
			return err
		}
		kinds, err = t.newSetup(ctx, project, warnings)
	}
	t.isSetUp = true
	if len(kinds) == 0 {
		return nil
	}
	return t.j.commit(ctx, Batch{Kinds: kinds})
}

// setUpAtOnce is what setUp would store, if that needs no request: then it is part of the
// claim. ok is false if the endpoint has to name its model.
func (t *asker) setUpAtOnce(ctx context.Context) (kinds []item.Kind, ok bool) {
	if t.model.Model == "" || !t.w.Router.Learned(t.w.Router.Full(t.model).Endpoint) {
		return nil, false
	}
	project, warnings := t.w.project()
	kinds, err := t.newSetup(ctx, project, warnings)
	return kinds, err == nil
}

// newSetup is the setup, and the alerts that belong to it; empty if it has not changed.
func (t *asker) newSetup(ctx context.Context, project string, warnings []string) ([]item.Kind, error) {
	old, ok := t.j.now.Next.Setup, t.j.now.Next.IsSetUp
	options := item.Options{Effort: t.j.turn.Choice.Effort}.Over(t.w.Options)
	setup, err := t.w.setup(ctx, t.model, options, project, old)
	if err != nil {
		return nil, err
	}
	as, left := t.w.fitted(setup)
	if signs(as) && endsUnsigned(t.j.now.Next.Items, as) {
		setup.UnsignedCalls = true
		as, left = t.w.fitted(setup)
	}
	setup = as
	if ok && old.Equal(setup) {
		return nil, nil
	}
	cuts, err := t.cuts(setup)
	if err != nil {
		return nil, err
	}
	kinds := append([]item.Kind{setup}, cuts...)
	kinds = append(kinds, t.leftBehind(old, setup)...)
	kinds = append(kinds, t.leftOut(options, setup, left)...)
	if old.ProjectInstructions == project {
		return kinds, nil
	}
	// The text itself has the warnings: the same text needs no new alert.
	for _, text := range warnings {
		a := t.j.alert(item.LevelWarn, text)
		a.Alert.Source = "workspace"
		kinds = append(kinds, a)
	}
	if ok {
		// Anyone who can write in the workspace may have done it, including the model.
		a := t.j.alert(item.LevelInfo, "the workspace's instructions changed since the last turn: podctl context shows them")
		a.Alert.Source = "workspace"
		kinds = append(kinds, a)
	}
	return kinds, nil
}

// signs says whether a model signs its reasoning, and may refuse to go on with calls that
// it did not reason about.
func signs(s item.Setup) bool { return s.API == "messages" && s.Options.Effort != "" }

// endsUnsigned says whether a conversation ends in steps with calls, and their first step
// has no reasoning that the model of a setup could read, or one of them has another
// model's.
func endsUnsigned(items []item.Item, setup item.Setup) bool {
	open, unsigned := false, false
	for len(items) > 0 {
		var calls, own, foreign bool
		n := 0
	step:
		for _, it := range items {
			switch v := it.(type) {
			case item.ToolCall:
				calls = true
			case item.Reasoning:
				fits := v.Opaque.Fits(setup.API, setup)
				own, foreign = own || fits, foreign || !fits
			case item.AssistantMessage:
			default:
				break step
			}
			n++
		}
		switch {
		case n == 0:
			n = 1
		case !calls:
			open, unsigned = false, false
		default:
			unsigned = unsigned || foreign || !open && !own
			open = true
		}
		items = items[n:]
	}
	return open && unsigned
}

// leftBehind is the alert about reasoning that goes no further when a log moves to another
// model or API, because only the one that made it can read it.
func (t *asker) leftBehind(old, setup item.Setup) []item.Kind {
	n := 0
	for _, it := range t.j.now.Next.Items {
		if r, ok := it.(item.Reasoning); ok && r.Opaque.Fits(old.API, old) && !r.Opaque.Fits(setup.API, setup) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	to, from := setup.Model, old.Model
	if a, b := setup.ModelRef(), old.ModelRef(); a.Endpoint != b.Endpoint {
		to, from = a.String(), b.String()
	}
	what := "1 piece of reasoning, which"
	if n > 1 {
		what = fmt.Sprintf("%d pieces of reasoning, which", n)
	}
	a := t.j.alert(item.LevelInfo, fmt.Sprintf("requests to %s (%s) leave out %s only %s (%s) can read; messages, calls and results go along",
		to, setup.API, what, from, old.API))
	a.Alert.Source = "model"
	return []item.Kind{a}
}

// leftOut is the alert about an effort that the model does not take.
func (t *asker) leftOut(options item.Options, setup item.Setup, left []llm.LeftOut) []item.Kind {
	ref := setup.ModelRef()
	for _, l := range left {
		if l.Option == item.OptionEffort {
			wanted := options.Over(t.w.Router.Options(ref)).Effort
			a := t.j.alert(item.LevelInfo, fmt.Sprintf("requests to %s leave out the effort %s: %s", ref, wanted, l.Why))
			a.Alert.Source = "model"
			return []item.Kind{a}
		}
	}
	return nil
}

// cuts is the alert about what requests lose under the limits of a new setup.
func (t *asker) cuts(setup item.Setup) ([]item.Kind, error) {
	var e fold.Excess
	err := t.j.view(func(s *fold.Context) { e = s.Excess(setup.OutputLimits) })
	if err != nil || e.Results == 0 {
		return nil, err
	}
	what := "1 earlier result is"
	if e.Results > 1 {
		what = fmt.Sprintf("%d earlier results are", e.Results)
	}
	a := t.j.alert(item.LevelWarn, fmt.Sprintf("%s over the current limits of tool output and sent cut: %s; requests lose %d bytes, the log keeps them",
		what, strings.Join(e.Tools, ", "), e.Bytes))
	a.Alert.Source = "output"
	return []item.Kind{a}, nil
}

// said is the workspace's text from the beginning of the turn. A resumed turn has it in
// its log, once it has asked the model.
func (t *asker) said() (text string, warnings []string) {
	if t.j.now.Next.IsSetUp && (t.isSetUp || t.j.now.Turn.Step > 0) {
		return t.j.now.Next.Setup.ProjectInstructions, nil
	}
	return t.w.project()
}
