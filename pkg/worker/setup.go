package worker

import (
	"context"
	"fmt"
	"strings"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Setup is what the first request of a turn that begins now sends beside the items. It
// may ask the endpoint for its default model.
func (w *Worker) Setup(ctx context.Context) (item.Setup, error) {
	project, _ := w.project()
	return w.setup(ctx, w.ModelName, project)
}

func (w *Worker) setup(ctx context.Context, model, project string) (item.Setup, error) {
	name, err := w.Model.Resolve(ctx, model)
	if err != nil {
		return item.Setup{}, err
	}
	return item.Setup{
		Model:               name,
		API:                 w.Model.API(),
		Instructions:        w.Instructions,
		ProjectInstructions: project,
		Tools:               w.specs,
		Renderer:            Renderer,
		FileRefRole:         w.FileRefRole,
		OutputLimits:        w.Output.Stored(),
	}, nil
}

// project is what the workspace says now.
func (w *Worker) project() (text string, warnings []string) {
	if w.Project == nil {
		return "", nil
	}
	text, warnings = w.Project()
	return w.Output.Redact(text), warnings
}

// setUp stores what requests send beside the items, when it changed. Asking the
// endpoint for its default model is tried again like a request.
func (t *asker) setUp(ctx context.Context) error {
	project, warnings := t.said()
	kinds, err := t.newSetup(ctx, project, warnings)
	for tries := new(tries); err != nil; {
		if err := t.again(ctx, err, tries); err != nil {
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

// setUpAtOnce is what setUp would store, where nobody has to be asked for it: then it is
// part of the claim. ok is false where the endpoint has to say what its model is.
func (t *asker) setUpAtOnce(ctx context.Context) (kinds []item.Kind, ok bool) {
	if t.model == "" {
		return nil, false
	}
	project, warnings := t.w.project()
	kinds, err := t.newSetup(ctx, project, warnings)
	return kinds, err == nil
}

// newSetup is the setup, and the alerts that belong to it; nothing when it is as before.
func (t *asker) newSetup(ctx context.Context, project string, warnings []string) ([]item.Kind, error) {
	setup, err := t.w.setup(ctx, t.model, project)
	if err != nil {
		return nil, err
	}
	old, ok := t.j.now.Next.Setup, t.j.now.Next.IsSetUp
	if ok && old.Equal(setup) {
		return nil, nil
	}
	cuts, err := t.cuts(setup)
	if err != nil {
		return nil, err
	}
	kinds := append([]item.Kind{setup}, cuts...)
	if old.ProjectInstructions == project {
		return kinds, nil
	}
	// The text says itself what there is to warn of: the same text needs no new alert.
	for _, text := range warnings {
		a := t.j.alert(item.LevelWarn, text)
		a.Alert.Source = "workspace"
		kinds = append(kinds, a)
	}
	if ok {
		// Whoever may write in the workspace may have done it, the model included.
		a := t.j.alert(item.LevelInfo, "what the workspace says to the model is not what it was in the turn before: podctl context shows it")
		a.Alert.Source = "workspace"
		kinds = append(kinds, a)
	}
	return kinds, nil
}

// cuts is the alert about what requests lose under the limits of a new setup.
func (t *asker) cuts(setup item.Setup) ([]item.Kind, error) {
	var e fold.Excess
	err := t.j.look(func(s *fold.Context) { e = s.Excess(setup.OutputLimits) })
	if err != nil || e.Results == 0 {
		return nil, err
	}
	what := "1 earlier result is"
	if e.Results > 1 {
		what = fmt.Sprintf("%d earlier results are", e.Results)
	}
	a := t.j.alert(item.LevelWarn, fmt.Sprintf("%s over the limits of tool output that count now, and sent cut: %s; requests lose %d bytes, the log keeps them",
		what, strings.Join(e.Tools, ", "), e.Bytes))
	a.Alert.Source = "output"
	return []item.Kind{a}, nil
}

// said is what the workspace said when the turn began. A turn that goes on has it in its
// log, once it has asked the model.
func (t *asker) said() (text string, warnings []string) {
	if t.j.now.Next.IsSetUp && (t.isSetUp || t.j.now.Turn.Step > 0) {
		return t.j.now.Next.Setup.ProjectInstructions, nil
	}
	return t.w.project()
}
