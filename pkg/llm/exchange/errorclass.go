package exchange

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"podd/pkg/llm"
)

// errorRule gives an endpoint's error a class; see quirks.toml.
type errorRule struct {
	Class   llm.Class      `toml:"class"`
	Status  []int          `toml:"status"`
	Says    []string       `toml:"says"`
	Like    *regexp.Regexp `toml:"like"`
	About   string         `toml:"about"`
	Delayed bool           `toml:"delayed"`
	TooMuch bool           `toml:"too_much"`
	From    string         `toml:"from"`
}

// classOf is the class of an error. byWords says that its words decide, not its status alone.
func classOf(rules []errorRule, s said) (class llm.Class, byWords bool) {
	text := strings.ToLower(s.code + " " + s.kind + " " + s.message + " " + s.quota)
	for _, r := range rules {
		if r.fits(s, text) {
			return r.Class, len(r.Says) > 0 || r.Like != nil
		}
	}
	return llm.ClassInvalid, false
}

func (r *errorRule) fits(s said, text string) bool {
	status := s.status
	if status > 500 && !slices.Contains(r.Status, status) {
		status = 500
	}
	switch {
	case len(r.Status) > 0 && !slices.Contains(r.Status, status):
		return false
	case len(r.Says) > 0 && !containsAny(text, r.Says...):
		return false
	case r.Like != nil && !r.Like.MatchString(text):
		return false
	case r.Delayed && s.wait == 0:
		return false
	}
	return strings.Contains(text, r.About) && (!r.TooMuch || asksTooMuch(text))
}

// limited finds what a limit allows and what a request needs of it.
var limited = regexp.MustCompile(`\blimit:? (\d+).*\brequested:? (\d+)`)

// asksTooMuch says whether an error is about a request that exceeds its limit by itself.
func asksTooMuch(text string) bool {
	m := limited.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	limit, _ := strconv.Atoi(m[1])
	requested, _ := strconv.Atoi(m[2])
	return requested > limit
}

func containsAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
