package scripted

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"podd/pkg/lazy"
)

// claudeName finds the family and the version in a model's name: claude-opus-4-1-20250805,
// claude-3-7-sonnet-20250219, claude-sonnet-4.6.
var claudeName = lazy.Regexp(`claude-(?:(?:opus|sonnet|haiku|fable)-)?([1-9])(?:[-.]([0-9]))?(?:[^0-9.]|$)`)

// claude is the version of a model, as tenths: 37 for 3.7. It is 0 for models of others,
// of which the server knows nothing.
func claude(model string) int {
	m := claudeName().FindStringSubmatch(model)
	if m == nil {
		return 0
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return 10*major + minor
}

func (c *cacheControl) check() error {
	switch {
	case c == nil:
	case c.Type != "ephemeral":
		return errors.New("cache_control.type: Input should be 'ephemeral'")
	case c.TTL != "" && c.TTL != "5m" && c.TTL != "1h":
		return errors.New("cache_control.ttl: Input should be '5m' or '1h'")
	}
	return nil
}

// checkReasoning refuses what models of Anthropic refuse about thinking and effort.
func (w *messagesRequest) checkReasoning() error {
	version := claude(w.Model)
	if w.Output != nil && w.Output.Effort != "" {
		if !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, w.Output.Effort) {
			return errors.New("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
		}
		if version > 0 && version < 45 {
			return errors.New("this model does not support the effort parameter")
		}
	}
	if version >= 47 && w.Temperature != nil {
		return errors.New("`temperature` is deprecated for this model")
	}
	if w.Thinking == nil || w.Thinking.Type == "disabled" {
		return nil
	}
	switch {
	case w.Temperature != nil && *w.Temperature != 1:
		return errors.New("`temperature` may only be set to 1 when thinking is enabled")
	case w.Thinking.Type == "adaptive":
		if version > 0 && version < 46 {
			return errors.New("adaptive thinking is not supported on this model")
		}
		return nil
	case w.Thinking.Type != "enabled":
		return fmt.Errorf("thinking: Input tag '%s' does not match any of the expected tags: 'enabled', 'disabled', 'adaptive'", w.Thinking.Type)
	case version >= 47:
		return errors.New(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior`)
	case version > 0 && version < 37:
		return errors.New("thinking is not supported on this model")
	case w.Thinking.Budget < 1024:
		return errors.New("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case w.Thinking.Budget >= w.MaxTokens:
		return errors.New("`max_tokens` must be greater than `thinking.budget_tokens`")
	}
	return nil
}
