package exchange

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage bounds an error's message, in bytes.
const maxMessage = 400

// keyPattern finds keys of the common form that an endpoint echoes, masked or not.
var keyPattern = regexp.MustCompile(`\b(sk|rk|pk)-[A-Za-z0-9_*.-]{6,}`)

// name is the endpoint's name in messages.
func (e *Endpoint) name() string {
	address := cut(strings.TrimSuffix(e.Base.Redacted(), "/"), 100)
	if !e.named() {
		return address
	}
	return "endpoint " + e.Name + " at " + address
}

// url is the address that requests go to.
func (e *Endpoint) url() string { return e.name() + "/" + e.path }

// compose makes a message: what happened, what the endpoint said, what to do next. It
// cuts the endpoint's text so that the rest always fits.
func (e *Endpoint) compose(what, quoted, next string) string {
	msg := what
	if quoted = e.safe(quoted, maxMessage-len(what)-len(next)-10); quoted != "" {
		msg += `: "` + quoted + `"`
	}
	if next != "" {
		msg += "; " + next
	}
	return msg
}

// safe makes foreign text safe for a message: one line, no control or format characters,
// no secret, at most n bytes.
func (e *Endpoint) safe(s string, n int) string {
	s = cut(s, 16<<10)
	if e.Redact != nil {
		s = e.Redact(s)
	}
	if len(e.APIKey) >= 4 {
		s = strings.ReplaceAll(s, e.APIKey, "[key]")
	}
	for _, value := range e.Headers {
		if len(value) >= 8 {
			s = strings.ReplaceAll(s, value, "[header]")
		}
	}
	s = keyPattern.ReplaceAllString(s, "[key]")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	return cut(strings.Join(strings.Fields(s), " "), n)
}

// cut shortens s to at most n bytes, on a rune edge.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "…"
	n = max(n-len(mark), 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}
