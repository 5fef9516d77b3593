package llm_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// named is a model that answers nothing.
type named struct{ name string }

func (n named) API() string { return "chat" }

func (n named) Resolve(_ context.Context, model string) (string, error) {
	if model == "" {
		model = "first-of-" + n.name
	}
	return model, nil
}

func (n named) Body(llm.Request) ([]byte, error) { return []byte(n.name), nil }

func (n named) Stream(context.Context, ...[]byte) iter.Seq2[llm.Event, error] {
	return func(func(llm.Event, error) bool) {}
}

func router(noVendors bool) *llm.Router {
	return &llm.Router{Default: "own", Endpoints: map[string]llm.Endpoint{
		"own": {Model: named{"own"}, NoVendors: noVendors}, "work": {Model: named{"work"}},
	}}
}

func TestRouterFindsEndpoints(t *testing.T) {
	for name, want := range map[string]item.ModelRef{
		"":                {},
		"gpt":             {Model: "gpt"},
		"work":            {Model: "work"},
		"work/gpt":        {Endpoint: "work", Model: "gpt"},
		"work/openai/gpt": {Endpoint: "work", Model: "openai/gpt"},
		"work/":           {Endpoint: "work"},
		"own/gpt":         {Endpoint: "own", Model: "gpt"},
		"openai/gpt":      {Model: "openai/gpt"},
	} {
		if got, err := router(false).Find(name); got != want || err != nil {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
		if want.Endpoint != "" && want.String() != name {
			t.Errorf("%+v is shown as %q", want, want.String())
		}
	}
	if ref, err := router(true).Find("wark/gpt"); item.KindOf(err) != item.KindInvalid || !strings.Contains(err.Error(), "the endpoints are own, work;") {
		t.Errorf("%+v, %v", ref, err)
	}
}

func TestRouterResolves(t *testing.T) {
	r := router(false)
	for ref, want := range map[item.ModelRef]item.ModelRef{
		{}:                                 {Endpoint: "own", Model: "first-of-own"},
		{Endpoint: "work"}:                 {Endpoint: "work", Model: "first-of-work"},
		{Endpoint: "work", Model: "gpt"}:   {Endpoint: "work", Model: "gpt"},
		{Model: "gpt"}:                     {Endpoint: "own", Model: "gpt"},
		{Endpoint: "own", Model: "gpt/5"}:  {Endpoint: "own", Model: "gpt/5"},
		{Endpoint: "", Model: "vendor/gp"}: {Endpoint: "own", Model: "vendor/gp"},
	} {
		if got, err := r.Resolve(t.Context(), ref); got != want || err != nil {
			t.Errorf("%+v: %+v, %v", ref, got, err)
		}
	}
	if _, err := r.Resolve(t.Context(), item.ModelRef{Endpoint: "gone", Model: "gpt"}); llm.ClassOf(err) != llm.ClassNoModel || !strings.Contains(err.Error(), "[endpoints.gone]") {
		t.Errorf("%v", err)
	}
	if body, err := r.Body(llm.Request{Setup: item.Setup{Endpoint: "work"}}); string(body) != "work" || err != nil {
		t.Errorf("%s, %v", body, err)
	}
	// Setups of older versions name no endpoint.
	if body, err := llm.One(named{"one"}).Body(llm.Request{}); string(body) != "one" || err != nil {
		t.Errorf("%s, %v", body, err)
	}
}

// What only its model can read goes nowhere else.
func TestOpaqueFits(t *testing.T) {
	mine := item.Opaque{API: "chat", Endpoint: "work", Model: "m", JSON: "{}"}
	setup := item.Setup{API: "chat", Endpoint: "work", Model: "m"}
	if !mine.Fits("chat", setup) {
		t.Error("it does not go back")
	}
	for name, other := range map[string]item.Setup{
		"endpoint": {Endpoint: "own", Model: "m"}, "model": {Endpoint: "work", Model: "n"}, "default": {Model: "m"},
	} {
		if mine.Fits("chat", other) {
			t.Errorf("it goes to another %s", name)
		}
	}
	if mine.Fits("responses", setup) {
		t.Error("it goes to another API")
	}
	old := item.Opaque{API: "chat", JSON: "{}"}
	if !old.Fits("chat", item.Setup{Endpoint: item.DefaultEndpoint, Model: "m"}) || old.Fits("chat", setup) {
		t.Error("what an older version stored is not the default endpoint's")
	}
}
