package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"podd/pkg/llm"
)

// httpError is the error of an answer whose status is not 2xx.
func (e *endpoint) httpError(resp *http.Response, body []byte, model string) *llm.Error {
	status := resp.StatusCode
	if status < 400 {
		return e.protocol(status, fmt.Sprintf("%s redirects elsewhere (%d); set base_url to the address that answers itself", e.name(), status))
	}
	said := readSaid(body)
	class := classOf(status, said)
	err := &llm.Error{Class: class, Status: status, Code: e.safe(said.code, 64)}
	what, next := e.sentence(class, status, model)
	err.Message = e.compose(what, said.message, next)
	if class == llm.ClassRateLimit || class == llm.ClassOverloaded {
		err.RetryAfter = retryAfter(resp.Header, time.Now())
	}
	return err
}

// streamError is the error that an endpoint sent in place of an answer, or in the
// middle of one.
func (e *endpoint) streamError(data string) *llm.Error {
	said := readSaid([]byte(data))
	status, _ := strconv.Atoi(said.code)
	class := classOf(status, said)
	err := &llm.Error{Class: class, Code: e.safe(said.code, 64)}
	what, next := e.sentence(class, 0, "")
	err.Message = e.compose(what, said.message, next)
	return err
}

// sentence says what happened and what to do next.
func (e *endpoint) sentence(class llm.Class, status int, model string) (what, next string) {
	at := e.name()
	if status != 0 {
		at += " (" + strconv.Itoa(status) + ")"
	}
	switch class {
	case llm.ClassAuth:
		if e.APIKey == "" {
			return at + " wants a key and none is set", "set OPENAI_API_KEY"
		}
		return at + " refused the key", "set OPENAI_API_KEY to a key that it accepts"
	case llm.ClassUnknownModel:
		return at + " does not know the model " + strconv.Quote(e.safe(model, 60)), "set model to one that it lists"
	case llm.ClassRateLimit:
		return at + " limits the rate of requests", "wait, or run fewer pods"
	case llm.ClassQuota:
		return at + " says that the account is used up", "add credit or use another key"
	case llm.ClassContext:
		return at + " says that the request is larger than the model's window", "use a model with a larger window, or go on in a new pod"
	case llm.ClassOverloaded:
		return at + " failed on its side", "try again"
	case llm.ClassProtocol:
		return at + " has no " + e.API + " API at this address", "set base_url to the address that ends in /v1, or api to the other API"
	}
	return at + " refused the request", "see what it says"
}

// connectionError is the error of a connection that failed before or within an
// answer. ctx is the request's own, whose cause may be that the endpoint stalled.
func (e *endpoint) connectionError(ctx context.Context, err error, begun bool) *llm.Error {
	stall, isStall := errors.AsType[stalled](context.Cause(ctx))
	if isStall {
		err = stall
	}
	out := &llm.Error{Class: llm.ClassNetwork, Cause: err}
	if begun {
		out.Class = llm.ClassCut
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, errTooLong):
		out.Class = llm.ClassProtocol
		out.Message = e.compose(e.name()+" sent a message or an answer that is too long to be one", "", "check that base_url is a model endpoint")
	case isStall && begun:
		out.Message = fmt.Sprintf("%s stopped in the middle of an answer and sent nothing for %s; try again", e.name(), stall.after)
	case isStall:
		out.Message = fmt.Sprintf("%s did not begin to answer in %s; try again", e.name(), stall.after)
	case begun:
		out.Message = e.compose(e.name()+" broke the connection in the middle of an answer", "", "try again")
	case errors.Is(err, syscall.ECONNREFUSED):
		out.Message = e.compose("nothing answers at "+e.name(), "", "start the server there or set base_url to another endpoint")
	case isDNS:
		out.Message = e.compose("the host "+e.safe(dns.Name, 100)+" is not known", "", "check base_url and the network")
	default:
		out.Message = e.compose(e.name()+" cannot be reached", err.Error(), "check base_url and the network")
	}
	return out
}

func (e *endpoint) cutError() *llm.Error {
	return &llm.Error{Class: llm.ClassCut, Message: e.name() + " ended the answer before it was whole; try again"}
}

func (e *endpoint) wrongType(kind string) *llm.Error {
	return e.protocol(http.StatusOK, e.compose(
		"the endpoint answered "+e.safe(kind, 60)+" at "+e.url(), "", "set base_url to the address of a model API; it ends in /v1"))
}

func (e *endpoint) notJSON(data []byte) *llm.Error {
	return e.protocol(http.StatusOK, e.compose(
		e.name()+" sent a message that is not JSON", string(data[:min(len(data), 200)]), "check that base_url is a model endpoint"))
}

func (e *endpoint) tooMany() *llm.Error {
	return e.protocol(http.StatusOK, fmt.Sprintf("%s sent more than %d items in one answer; use another model", e.name(), maxItems))
}

func (e *endpoint) protocol(status int, message string) *llm.Error {
	return &llm.Error{Class: llm.ClassProtocol, Status: status, Message: message}
}

// said is what an endpoint says in the body of an error.
type said struct {
	message, code, kind string
}

// readSaid reads the bodies that endpoints really send: OpenAI's error object, the
// same in a list (Google), the fields at the top (vLLM, Mistral), one string
// (Ollama), detail (FastAPI), or no JSON at all.
func readSaid(body []byte) said {
	if !isJSON(body) {
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
		} else if e.Type == gjson.String {
			return said{message: e.Str, code: root.Get("code").String(), kind: root.Get("type").String()}
		}
	}
	s := said{code: at.Get("code").String(), kind: at.Get("type").String()}
	for _, path := range []string{"message", "detail", "error"} {
		if m := at.Get(path); m.Exists() && m.Type != gjson.Null {
			s.message = m.String()
			break
		}
	}
	// OpenRouter keeps the provider's own words aside.
	if raw := at.Get("metadata.raw"); raw.Exists() && raw.String() != "" {
		s.message += ": " + raw.String()
	}
	return s
}

// classOf sorts an error by its status and by what was said. A stream's error has
// status 0 when the endpoint gave none.
func classOf(status int, s said) llm.Class {
	text := strings.ToLower(s.code + " " + s.kind + " " + s.message)
	switch {
	case saysContext(text):
		return llm.ClassContext
	case status == 402 || containsAny(text, "insufficient_quota", "exceeded your current quota", "insufficient credit", "insufficient balance", "billing_hard_limit"):
		return llm.ClassQuota
	case status == 401 || status == 403 || containsAny(text, "invalid_api_key", "authentication_error"):
		return llm.ClassAuth
	case status == 429 || containsAny(text, "rate_limit", "rate limit", "too many requests"):
		return llm.ClassRateLimit
	case status == 413:
		return llm.ClassContext
	case (status == 0 || status == 400 || status == 404 || status == 422) && saysUnknownModel(text):
		return llm.ClassUnknownModel
	case status == 404 || status == 405 || status == 501:
		return llm.ClassProtocol
	case status == 408 || status == 409 || status >= 500:
		return llm.ClassOverloaded
	case status >= 400 || strings.Contains(s.kind, "invalid") || strings.HasPrefix(s.code, "invalid"):
		return llm.ClassInvalid
	}
	return llm.ClassOverloaded
}

// saysContext knows how endpoints say that a request does not fit the window.
func saysContext(text string) bool {
	return containsAny(text,
		"context_length_exceeded", "exceed_context_size", "context length", "context size", "context window", "context limit",
		"maximum prompt length", "maximum model length", "prompt is too long", "input is too long", "prompt too long",
		"prompt_tokens_exceeded", "exceeds the maximum number of tokens", "reduce the length of the messages",
		"exceeds the limit of", "too many tokens in", "tokens exceed")
}

func saysUnknownModel(text string) bool {
	return strings.Contains(text, "model") && containsAny(text,
		"model_not_found", "not found", "does not exist", "not a valid model", "unknown model", "invalid model", "no such model", "no endpoints found")
}

func containsAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// retryAfter reads how long to wait: milliseconds (OpenAI), seconds or a date. 0
// when the header says nothing that makes sense.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const most = 7 * 24 * time.Hour
	seconds := -1.0
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		seconds = ms / 1000
	} else if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		seconds = s
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		seconds = at.Sub(now).Seconds()
	}
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
}
