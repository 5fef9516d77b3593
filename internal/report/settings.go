package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/pod"
	"podd/pkg/worker"
)

// ModelSetting is a setting of a pod's requests to its model.
type ModelSetting struct {
	// Name is endpoint, address, api, model, body, window, price, images, fallbacks, or an
	// option's.
	Name string
	// Value is empty if there is none.
	Value string
	// Source is where the value is from: FromPod, FromDefault, a key of the configuration, or
	// one of fold's words; empty without a value.
	Source string
	// LeftOut is why requests leave the value out, or why there is none; may be empty.
	LeftOut string
}

// Where a setting is from, besides the configuration and what is known of the model.
const (
	FromPod     = "pod"
	FromDefault = "default"
)

// listTime bounds how long ModelSettings waits for an endpoint's default model.
const listTime = 2 * time.Second

// ModelSettings are what the next turn of a pod asks its model with, when its submit
// chooses nothing else. It may ask the endpoint for its list of models.
func ModelSettings(ctx context.Context, h *pod.Host, spec item.PodSpec) []ModelSetting {
	s := h.Settings()
	e := &explainer{set: s, spec: spec, target: s.Target(spec)}
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, errors.New("its endpoint did not answer in time"))
	defer cancel()
	var err error
	if e.setup, e.left, err = e.target.Setup(ctx); err != nil {
		model, from := e.target.Model.String(), ""
		if model != "" {
			from = e.modelFrom()
		}
		e.add("model", model, from, err.Error())
		return e.list
	}
	e.ref = e.setup.ModelRef()
	e.addressed()
	for _, name := range item.OptionNames() {
		e.option(name)
	}
	if e.setup.Body != "" {
		e.add("body", e.setup.Body, llm.EndpointKey(e.ref.Endpoint, "body"), "")
	}
	e.facts()
	if len(s.Fallbacks) > 0 {
		e.add("fallbacks", names(s.Fallbacks), "fallback_models", "")
	}
	return e.list
}

// explainer lists settings.
type explainer struct {
	set    *pod.Settings
	spec   item.PodSpec
	target worker.Target
	setup  item.Setup
	left   []llm.LeftOut
	// ref is the setup's model.
	ref  item.ModelRef
	list []ModelSetting
}

func (e *explainer) add(name, value, source, leftOut string) {
	e.list = append(e.list, ModelSetting{name, value, source, leftOut})
}

// addressed adds where requests go.
func (e *explainer) addressed() {
	at := e.set.Router.Endpoints[e.ref.Endpoint]
	from := FromDefault
	switch {
	case e.spec.Endpoint != "":
		from = FromPod
	case e.target.Model.Endpoint != "":
		from = "model"
	case e.set.Router.Default != item.DefaultEndpoint:
		from = "endpoint"
	}
	e.add("endpoint", e.ref.Endpoint, from, "")
	e.add("address", at.Address, llm.EndpointKey(e.ref.Endpoint, "base_url"), "")
	from = llm.EndpointKey(e.ref.Endpoint, "api")
	if at.HostsAPI {
		from = fold.FromBuiltin
	}
	e.add("api", e.setup.API, from, "")
	e.add("model", e.ref.Model, e.modelFrom(), "")
}

// modelFrom is where the model's name is from.
func (e *explainer) modelFrom() string {
	switch {
	case e.spec.ModelRef().Model != "":
		return FromPod
	case e.target.Model.Model != "":
		return "model"
	case e.set.Router.Endpoints[e.ref.Endpoint].NoVendors:
		return fold.FromBuiltin
	}
	return fold.FromEndpoint
}

// option adds an option, whether it is sent or not.
func (e *explainer) option(name string) {
	from := e.set.Router.Source(e.ref, name)
	value := e.set.Router.Options(e.ref).Value(name)
	if own := e.spec.Options.Value(name); own != "" {
		value, from = own, FromPod
	}
	why := ""
	for _, l := range e.left {
		if l.Option == name {
			why = l.Why
		}
	}
	if limit := e.setup.AnswerLimit; name == item.OptionMaxOutput && limit > 0 {
		k := e.set.Known(e.ref)
		value, from = fmt.Sprint(limit), fold.FromBuiltin
		if limit == int64(k.Output) {
			from = e.key(k, fold.FactOutput)
		}
	}
	if value != "" {
		e.add(name, value, from, why)
	}
}

// facts adds what is known of the model.
func (e *explainer) facts() {
	k := e.set.Known(e.ref)
	if k.Window > 0 {
		e.add("window", fmt.Sprint(k.Window), e.key(k, fold.FactWindow), "")
	}
	if p := k.Price; p != nil {
		text := fmt.Sprintf("input $%g, output $%g", p.Input, p.Output)
		if p.CachedInput > 0 {
			text += fmt.Sprintf(", cached input $%g", p.CachedInput)
		}
		if p.CacheWrite > 0 {
			text += fmt.Sprintf(", written to the cache $%g", p.CacheWrite)
		}
		e.add("price", text+" per million tokens", e.key(k, fold.FactPrice), "")
	}
	if e.setup.NoImages {
		e.add("images", "no", e.key(k, fold.FactImages), "")
	}
}

// key is where a fact is from, as a key where the configuration says it.
func (e *explainer) key(k fold.Known, fact string) string {
	own := map[string]string{fold.FactWindow: "window", fold.FactOutput: item.OptionMaxOutput, fold.FactImages: "images"}
	switch from := k.From[fact]; {
	case from != fold.FromConfig:
		return from
	case fact == fold.FactPrice:
		return k.PriceKey
	case fact == fold.FactImages && k.ImagesKey != "":
		return k.ImagesKey
	}
	return e.set.Router.ModelKey(e.ref) + "." + own[fact]
}

// names are models as a person writes them, in order.
func names(models []item.ModelRef) string {
	var list []string
	for _, m := range models {
		list = append(list, m.String())
	}
	return strings.Join(list, ", ")
}
