package exchange

import (
	"regexp"
	"strconv"
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

// at is the endpoint's name, with the model that is asked and a status; 0 means none.
func (e *Endpoint) at(status int) string {
	var with []string
	if e.model != "" {
		with = append(with, "model "+e.model)
	}
	if status != 0 {
		with = append(with, strconv.Itoa(status))
	}
	if len(with) == 0 {
		return e.name()
	}
	return e.name() + " (" + strings.Join(with, ", ") + ")"
}

// asked is the endpoint in the errors of a request to a model.
func (e *Endpoint) asked(model string) *Endpoint {
	asked := *e
	asked.model = e.safe(model, 60)
	return &asked
}

// compose makes a message: what happened, what to do next, what the endpoint said. It cuts
// the endpoint's text, and so does whoever shows too little of the message.
func (e *Endpoint) compose(what, quoted, next string) string {
	msg := cut(what, maxMessage-len(next)-2)
	if next != "" {
		msg += "; " + next
	}
	const from = `; it says "`
	if quoted = e.safe(quoted, maxMessage-len(msg)-len(from)-1); quoted == "" {
		return msg
	}
	return msg + from + quoted + `"`
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
