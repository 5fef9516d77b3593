package worker

import (
	"cmp"
	"context"
	"strings"

	"podd/pkg/catalog"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// Target says which model answers. Router is required.
type Target struct {
	// Router has the endpoints.
	Router *llm.Router
	// Model is the one to request; zero means the default of the default endpoint.
	Model item.ModelRef
	// Known is what is known about a model; nil knows nothing.
	Known func(item.ModelRef) fold.Known
	// Options precede those that the router has for the model.
	Options item.Options
	// Fallbacks are models to use, in this order, when one is unavailable for long.
	Fallbacks []item.ModelRef
}

// Setup is the part of a setup that says which model is asked, and how, when nothing was
// asked before; left is what requests leave out of the options. It may ask the endpoint
// for its list.
func (t Target) Setup(ctx context.Context) (setup item.Setup, left []llm.LeftOut, err error) {
	setup, err = t.addressed(ctx, t.Model, item.Setup{Options: t.Options}, item.Setup{})
	if err == nil {
		setup, left = t.fitted(setup)
	}
	return setup, left, err
}

// addressed is a setup for requests to a model. The router adds what the setup's options
// leave open; old is the setup before.
func (t Target) addressed(ctx context.Context, model item.ModelRef, setup, old item.Setup) (item.Setup, error) {
	ref, err := t.Router.Resolve(ctx, model)
	if err != nil {
		return item.Setup{}, err
	}
	at, err := t.Router.At(ref.Endpoint)
	if err != nil {
		return item.Setup{}, err
	}
	setup.Endpoint, setup.Model, setup.API, setup.Body = ref.Endpoint, ref.Model, at.API(), at.Adds
	setup.Options = setup.Options.Over(t.Router.Options(ref))
	t.Router.Learn(ctx, ref.Endpoint)
	k := t.knows(ref)
	setup.NoImages, setup.Window, setup.AnswerLimit = k.Images == catalog.No, 0, int64(k.Output)
	if from := k.From[fold.FactWindow]; from == fold.FromConfig || from == fold.FromEndpoint {
		setup.Window = k.Window
	}
	if _, answered := t.Router.Listed(ref); !answered && old.ModelRef() == ref && old.Window > 0 && setup.Window == 0 {
		// The endpoint said so when it last answered.
		setup.NoImages, setup.Window, setup.AnswerLimit = old.NoImages, old.Window, cmp.Or(old.AnswerLimit, setup.AnswerLimit)
	}
	return setup, nil
}

// fitted is a setup without the options that its model is known not to take, and those
// that its requests leave out.
func (t Target) fitted(setup item.Setup) (item.Setup, []llm.LeftOut) {
	var left []llm.LeftOut
	if k := t.knows(setup.ModelRef()); !k.Takes(setup.Options.Effort) {
		setup.Options.Effort = ""
		left = append(left, llm.LeftOut{Option: item.OptionEffort, Why: "the model takes " + strings.Join(k.Effort, ", ")})
	}
	setup, more := t.Router.Fit(setup)
	return setup, append(left, more...)
}

func (t Target) knows(ref item.ModelRef) fold.Known {
	if t.Known == nil {
		return fold.Known{}
	}
	return t.Known(ref)
}

// terms are what a request of a setup costs besides the prices that its model has
// elsewhere.
func (t Target) terms(setup item.Setup) item.Terms {
	terms := item.Terms{CacheTTL: setup.Options.CacheTTL}
	if k := t.knows(setup.ModelRef()); k.From[fold.FactPrice] == fold.FromEndpoint {
		terms.IsListed, terms.Listed = true, item.Rates(k.Price.Rates)
	}
	return terms
}
