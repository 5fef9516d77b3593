package pod

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"podd/pkg/item"
)

// optionWord is what an effort or a service tier looks like.
var optionWord = regexp.MustCompile(`^[A-Za-z0-9_-]{0,32}$`)

// checkOptions refuses options that no model takes, and an effort that this one is known
// not to take.
func (s *settings) checkOptions(o item.Options, model item.ModelRef) error {
	bad := func(format string, args ...any) error {
		return item.Errorf(item.KindInvalid, "BAD_OPTION", format, args...)
	}
	switch {
	case !optionWord.MatchString(o.Effort):
		return bad("the effort %q is not a word such as low or high", o.Effort)
	case !slices.Contains([]string{"", "low", "medium", "high"}, o.Verbosity):
		return bad("the verbosity %q is not low, medium or high", o.Verbosity)
	case !isTemperature(o.Temperature):
		return bad("the temperature %q is not a decimal number from 0 to 2", o.Temperature)
	case o.MaxOutput < 0 || o.MaxOutput > 1<<30:
		return bad("the output limit %d is not a number of tokens up to %d", o.MaxOutput, 1<<30)
	case !optionWord.MatchString(o.ServiceTier):
		return bad("the service tier %q is not a word such as flex", o.ServiceTier)
	case !slices.Contains([]string{"", "5m", "1h"}, o.CacheTTL):
		return bad("the time %q of the prompt cache is not 5m or 1h", o.CacheTTL)
	}
	ref := s.Router.Full(cmp.Or(model, s.Model))
	if k := s.Known(ref); !k.Takes(o.Effort) {
		return bad("the model %s takes the effort %s, not %s", ref.Model, strings.Join(k.Effort, ", "), o.Effort)
	}
	return nil
}

// isTemperature says whether JSON and every endpoint can read a temperature.
func isTemperature(text string) bool {
	n, err := strconv.ParseFloat(text, 64)
	return text == "" || err == nil && n >= 0 && n <= 2 && decimal.MatchString(text)
}

var decimal = regexp.MustCompile(`^[0-9](\.[0-9]{1,6})?$`)

// choice is what a submit chooses for its turn.
func (s *settings) choice(submit Submit) (item.Choice, error) {
	if submit.Model == "" && submit.Effort == "" {
		return item.Choice{}, nil
	}
	if submit.Mode == item.ModeSteer {
		return item.Choice{}, item.Errorf(item.KindInvalid, "MODEL_STEER", "a submit that steers joins a turn that has its model: leave out model and effort, or submit without steering")
	}
	ref, err := s.Router.Find(submit.Model)
	if err != nil {
		return item.Choice{}, err
	}
	return item.Choice{Model: ref, Effort: submit.Effort}, s.checkOptions(item.Options{Effort: submit.Effort}, ref)
}
