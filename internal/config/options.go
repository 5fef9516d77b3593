package config

import (
	"math"
	"strconv"

	"podd/pkg/catalog"
	"podd/pkg/item"
	"podd/pkg/lazy"
	"podd/pkg/llm"
)

// ModelOptions are the options of [models."NAME"], and what it says of the model.
type ModelOptions struct {
	Model item.ModelRef
	item.Options
	Facts catalog.Facts
}

// optionWord is what an effort or a service tier looks like.
var optionWord = lazy.Regexp(`^[A-Za-z0-9_-]{0,32}$`)

func isOptionWord(s string) bool { return optionWord().MatchString(s) }

// optionSettings are the keys of [options], of an endpoint and of a model.
func optionSettings(o *item.Options) []*setting {
	const follows = "the model's"
	effort := text("effort", `a word such as "low" or "high"`, &o.Effort, isOptionWord).hinting(follows).like(`"high"`)
	tier := text("service_tier", `a word such as "flex"`, &o.ServiceTier, isOptionWord).hinting(follows).like(`"flex"`)
	all := []*setting{
		effort,
		choice("verbosity", &o.Verbosity, "low", "medium", "high").hinting(follows).like(`"low"`),
		temperature("temperature", &o.Temperature).hinting(follows).like("0.5"),
		number("max_output", &o.MaxOutput, 0, 1<<30).hinting(follows),
		tier,
		choice("cache_ttl", &o.CacheTTL, "5m", "1h").hinting(follows).like(`"1h"`),
	}
	for _, s := range all {
		s.quiet = true
	}
	return all
}

// temperature is a setting of a decimal number that requests have as it is.
func temperature(key string, target *string) *setting {
	return of(key, "a number from 0 to 2", target, func(value any) (string, bool) {
		f, ok := value.(float64)
		if n, whole := value.(int64); whole {
			f, ok = float64(n), true
		}
		f = math.Round(math.Abs(f)*1e6) / 1e6
		return strconv.FormatFloat(f, 'f', -1, 64), ok && f >= 0 && f <= 2
	}, func(text string) string { return text })
}

// modelTable begins [models."NAME"].
func (l *loader) modelTable(t *table) {
	o := new(ModelOptions)
	const follows = "what the endpoint or the catalogue says"
	facts := []*setting{
		number("window", &o.Facts.Window, 0, 1<<30).hinting(follows).like("65536"),
		answer("images", &o.Facts.Images).hinting(follows).like("true"),
		texts("efforts", `a list of words such as ["low", "high"]`, &o.Facts.Effort, func(word string) bool { return word != "" && isOptionWord(word) }).
			hinting(follows).like(`["low", "high"]`),
	}
	for _, s := range facts {
		s.quiet = true
	}
	t.keys = append(optionSettings(&o.Options), facts...)
	typed := t.name
	shown := &setting{}
	l.refs = append(l.refs, naming{t.path, shown, func(known *llm.Router) (err error) {
		shown.origin = t.origin
		if o.Model, err = known.Find(typed); err != nil {
			return err
		}
		o.Model = known.Full(o.Model)
		l.ModelOptions = append(l.ModelOptions, *o)
		o.Facts.Output = int(o.MaxOutput)
		l.Pods.Models.Own[o.Model] = o.Facts
		return nil
	}})
}
