package llmtest

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// fits checks that a fitted setup gives the bytes of the setup, that it has no option whose
// absence changes nothing, and that each option which it lacks has a reason.
func (s *suite) fits(t *testing.T) {
	m := s.open(t).Model
	f, ok := m.(llm.Fitter)
	if !ok {
		t.Skip("no llm.Fitter")
	}
	rapid.Check(t, func(t *rapid.T) {
		setup := drawSetup(t)
		setup.Model = rapid.SampledFrom([]string{"llama", "claude-opus-4-8", "claude-opus-4-6", "claude-haiku-4-5", "claude-3-5-haiku"}).Draw(t, "fitted model")
		setup.Options = drawOptions(t)
		setup.UnsignedCalls = setup.Options.Effort != "" && rapid.Bool().Draw(t, "unsigned calls")
		setup.Body = rapid.SampledFrom([]string{"", `{"max_tokens":3000}`}).Draw(t, "body")
		items := []item.Item{item.UserMessage{Text: "hi"}}
		whole := mustBody(t, m, setup, items)
		fitted, left := f.Fit(setup)
		if body := mustBody(t, m, fitted, items); !bytes.Equal(whole, body) {
			t.Fatalf("%+v: the fitted setup gives another body:\n%s\n%s", setup, whole, body)
		}
		why := make(map[string]string)
		for _, l := range left {
			why[l.Option] = l.Why
		}
		for _, name := range item.OptionNames() {
			if lost := fitted.Options.Value(name) != setup.Options.Value(name); lost != (why[name] != "") {
				t.Fatalf("%+v: %s is left out: %v, and the reason is %q", setup, name, lost, why[name])
			}
			bare := fitted
			bare.Options = without(fitted.Options, name)
			idle := name == item.OptionEffort && (bare.UnsignedCalls || fitted.Options.Effort == "none")
			if fitted.Options.Value(name) != "" && !idle && bytes.Equal(whole, mustBody(t, m, bare, items)) {
				t.Fatalf("%+v: %s changes no byte and is not left out", setup, name)
			}
		}
	})
}

func drawOptions(t *rapid.T) item.Options {
	draw := func(name string, values ...string) string {
		return rapid.SampledFrom(append(values, "")).Draw(t, name)
	}
	return item.Options{
		Effort: draw("effort", "low", "none"), Verbosity: draw("verbosity", "low"), Temperature: draw("temperature", "0.5"),
		MaxOutput:   rapid.SampledFrom([]int64{0, 1000, 20_000}).Draw(t, "output"),
		ServiceTier: draw("tier", "flex"), CacheTTL: draw("ttl", "1h"),
	}
}

// without is options without one.
func without(o item.Options, name string) item.Options {
	switch name {
	case item.OptionEffort:
		o.Effort = ""
	case item.OptionVerbosity:
		o.Verbosity = ""
	case item.OptionTemperature:
		o.Temperature = ""
	case item.OptionMaxOutput:
		o.MaxOutput = 0
	case item.OptionServiceTier:
		o.ServiceTier = ""
	case item.OptionCacheTTL:
		o.CacheTTL = ""
	}
	return o
}
