package item

import (
	"cmp"
	"strconv"
)

// The names of options, as the configuration has them.
const (
	OptionEffort      = "effort"
	OptionVerbosity   = "verbosity"
	OptionTemperature = "temperature"
	OptionMaxOutput   = "max_output"
	OptionServiceTier = "service_tier"
	OptionCacheTTL    = "cache_ttl"
)

// OptionNames are all of them.
func OptionNames() []string {
	return []string{OptionEffort, OptionVerbosity, OptionTemperature, OptionMaxOutput, OptionServiceTier, OptionCacheTTL}
}

// Options shape the answers of a model. A zero field follows wider settings, and in a
// setup is not sent.
type Options struct {
	// Effort is how much the model reasons: "low", "high", or another of the model's values.
	Effort string
	// Verbosity is how long it answers: "low", "medium", "high".
	Verbosity string
	// Temperature is a decimal number from 0 to 2, as text.
	Temperature string
	// MaxOutput bounds an answer, in tokens.
	MaxOutput int64
	// ServiceTier is a class of service of the endpoint, such as "flex".
	ServiceTier string
	// CacheTTL is how long the endpoint keeps what a request marks for its prompt cache: "5m"
	// or "1h".
	CacheTTL string
}

// Over is the options with those of wider settings in place of zero fields.
func (o Options) Over(wider Options) Options {
	return Options{
		Effort: cmp.Or(o.Effort, wider.Effort), Verbosity: cmp.Or(o.Verbosity, wider.Verbosity), Temperature: cmp.Or(o.Temperature, wider.Temperature),
		MaxOutput: cmp.Or(o.MaxOutput, wider.MaxOutput), ServiceTier: cmp.Or(o.ServiceTier, wider.ServiceTier),
		CacheTTL: cmp.Or(o.CacheTTL, wider.CacheTTL),
	}
}

// Value is the option with a name, as text; empty if it is not set.
func (o Options) Value(name string) string {
	limit := ""
	if o.MaxOutput > 0 {
		limit = strconv.FormatInt(o.MaxOutput, 10)
	}
	return map[string]string{
		OptionEffort: o.Effort, OptionVerbosity: o.Verbosity, OptionTemperature: o.Temperature, OptionMaxOutput: limit,
		OptionServiceTier: o.ServiceTier, OptionCacheTTL: o.CacheTTL,
	}[name]
}

// Choice is what a submit chooses for its turn. A zero field follows the pod.
type Choice struct {
	Model  ModelRef
	Effort string
}
