package exchange

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"podd/pkg/llm"
)

// errorRule gives an endpoint's error a class; see quirks.toml.
type errorRule struct {
	Class   llm.Class `toml:"class"`
	Status  []int     `toml:"status"`
	Says    []string  `toml:"says"`
	About   string    `toml:"about"`
	Delayed bool      `toml:"delayed"`
	TooMuch bool      `toml:"too_much"`
	From    string    `toml:"from"`
}

// classOf is the class of an error.
func classOf(rules []errorRule, s said) llm.Class {
	text := strings.ToLower(s.code + " " + s.kind + " " + s.message + " " + s.quota)
	for _, r := range rules {
		if r.fits(s, text) {
			return r.Class
		}
	}
	return llm.ClassInvalid
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

// said is what an endpoint says in the body of an error.
type said struct {
	message, code, kind string
	// quota names the quotas that Google reports as exceeded.
	quota string
	// status is the HTTP status, otherwise the status in the body; 0 for neither.
	status int
	// waits are the waits in the body, headers those of a provider behind a router.
	waits   []string
	headers gjson.Result
	// wait is how long the endpoint asks to wait; see hint. final says that it asks not to
	// retry.
	wait  time.Duration
	final bool
}

// readSaid reads the bodies that endpoints really send: OpenAI's error object, the same
// in a list (Google), the fields at the top (vLLM, Mistral), one string (Ollama), detail
// (FastAPI), or text that is not JSON.
func readSaid(body []byte) said {
	if !IsJSON(body) {
		return said{message: string(body)}
	}
	root := gjson.ParseBytes(body)
	if root.IsArray() {
		root = root.Get("0")
	}
	at := root
	for _, path := range []string{"error", "response.error"} {
		if e := root.Get(path); e.IsObject() {
			at = e
		}
	}
	s := said{code: at.Get("code").String(), kind: First(at, "type", "status").String(), headers: at.Get("metadata.headers")}
	for _, path := range []string{"code", "status_code", "status"} {
		if n := at.Get(path).Int(); s.status == 0 && n >= 400 && n < 600 {
			s.status = int(n)
		}
	}
	s.message = First(at, "message", "detail", "error").String()
	// OpenRouter keeps the provider's own text separately, Groq what the model wrote.
	for _, path := range []string{"metadata.raw", "failed_generation"} {
		if more := at.Get(path).String(); more != "" {
			s.message += ": " + more
		}
	}
	for _, detail := range at.Get("details").Array() {
		if wait := detail.Get("retryDelay").String(); wait != "" {
			s.waits = append(s.waits, wait)
		}
		for _, v := range detail.Get("violations").Array() {
			s.quota += v.Get("quotaId").String() + " "
		}
	}
	return s
}
