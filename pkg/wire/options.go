package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// optionsToProto omits empty options.
func optionsToProto(o item.Options) *poddv1.Options {
	if o == (item.Options{}) {
		return nil
	}
	return &poddv1.Options{
		Effort: clean(o.Effort), Verbosity: clean(o.Verbosity), Temperature: clean(o.Temperature), MaxOutput: o.MaxOutput, ServiceTier: clean(o.ServiceTier),
		CacheTtl: clean(o.CacheTTL),
	}
}

func optionsFromProto(p *poddv1.Options) item.Options {
	return item.Options{
		Effort: p.GetEffort(), Verbosity: p.GetVerbosity(), Temperature: p.GetTemperature(), MaxOutput: p.GetMaxOutput(), ServiceTier: p.GetServiceTier(),
		CacheTTL: p.GetCacheTtl(),
	}
}

// choiceToProto omits an empty choice.
func choiceToProto(c item.Choice) *poddv1.Choice {
	if c == (item.Choice{}) {
		return nil
	}
	return &poddv1.Choice{Endpoint: clean(c.Model.Endpoint), Model: clean(c.Model.Model), Effort: clean(c.Effort)}
}

func choiceFromProto(p *poddv1.Choice) item.Choice {
	return item.Choice{Model: item.ModelRef{Endpoint: p.GetEndpoint(), Model: p.GetModel()}, Effort: p.GetEffort()}
}
