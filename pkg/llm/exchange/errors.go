package exchange

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"syscall"

	"podd/pkg/llm"
)

// httpError is the error of an answer whose status is not 2xx.
func (e *Endpoint) httpError(resp *http.Response, body []byte, model string) *llm.Error {
	status := resp.StatusCode
	if status < 400 {
		return e.protocol(status, fmt.Sprintf("%s redirects elsewhere (%d); set %s to the address that answers itself", e.name(), status, e.setting("base_url")))
	}
	said := readSaid(body)
	said.status = status
	said.hint(resp.Header, e.Now())
	class := classOf(builtin().Errors, said)
	switch resp.Header.Get("X-Should-Retry") {
	case "true":
		if class == llm.ClassInvalid {
			class = llm.ClassOverloaded
		}
	case "false":
		said.final = true
	}
	return e.said(said, class, status, model)
}

// StreamError is the error that an endpoint sent instead of an answer, or in the middle
// of one.
func (e *Endpoint) StreamError(data string) *llm.Error {
	said := readSaid([]byte(data))
	said.hint(nil, e.Now())
	return e.said(said, classOf(builtin().Errors, said), 0, "")
}

// said is the error for a class, with the endpoint's text.
func (e *Endpoint) said(s said, class llm.Class, status int, model string) *llm.Error {
	what, next := e.sentence(class, status, model)
	err := &llm.Error{
		Class: class, Status: status, Code: e.safe(s.code, 64), Final: s.final,
		Said: e.safe(s.message, llm.MaxSaid), Message: e.compose(what, s.message, next),
	}
	if err.Retryable() {
		err.RetryAfter = s.wait
	}
	return err
}

// MalformedCall is the error of an answer that ends with an invalid call.
func (e *Endpoint) MalformedCall(reason string) *llm.Error {
	return e.said(said{code: reason, message: reason}, llm.ClassMalformedCall, 0, "")
}

// NoRoom is the error of an answer that ends before its first word because the window is
// full.
func (e *Endpoint) NoRoom(reason string) *llm.Error {
	return e.said(said{code: reason, message: reason}, llm.ClassContext, 0, "")
}

// sentence says what happened and what to do next.
func (e *Endpoint) sentence(class llm.Class, status int, model string) (what, next string) {
	at := e.name()
	if status != 0 {
		at += " (" + strconv.Itoa(status) + ")"
	}
	switch class {
	case llm.ClassAuth:
		if e.KeySource == "" {
			return at + " wants a key and none is set", "set " + e.keySetting()
		}
		return at + " refused the key", "set " + e.keySetting() + " to a key that it accepts"
	case llm.ClassUnknownModel:
		return at + " does not know the model " + strconv.Quote(e.safe(model, 60)), "set model to one that it lists"
	case llm.ClassNoImages:
		which := "the model"
		if model != "" {
			which += " " + strconv.Quote(e.safe(model, 60))
		}
		return at + ": " + which + " takes no images", "set images = false, or use a model that sees images"
	case llm.ClassRateLimit:
		return at + " limits the rate of requests", "wait, or run fewer pods"
	case llm.ClassQuota:
		return at + " says that the account is used up", "add credit or use another key"
	case llm.ClassContext:
		return at + " says that the request is larger than the model's window", "use a model with a larger window, or go on in a new pod"
	case llm.ClassOverloaded:
		return at + " failed on its side", "try again"
	case llm.ClassContentFilter:
		return at + " refused the request by its content filter", "submit it in other words, or use another model"
	case llm.ClassMalformedCall:
		return at + " refused the model's tool call", "submit again, or use another model"
	case llm.ClassProtocol:
		return at + " has no " + e.API + " API at this address", "set " + e.setting("base_url") + " to the address that ends in /v1, or " + e.setting("api") + " to another API"
	}
	return at + " refused the request", "see what it says"
}

// connectionError is the error of a connection that failed before or during an answer.
// sent says that the endpoint may have the request, begun that it answered. ctx is the
// request's own, whose cause may be that the endpoint stalled.
func (e *Endpoint) connectionError(ctx context.Context, err error, sent, begun bool) *llm.Error {
	if known, ok := errors.AsType[*llm.Error](err); ok {
		return known
	}
	stall, isStall := errors.AsType[stalled](context.Cause(ctx))
	if isStall {
		err = stall
	}
	out := &llm.Error{Class: llm.ClassNetwork, Cause: err}
	if sent || begun {
		out.Class = llm.ClassCut
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, errTooLong):
		out.Class = llm.ClassProtocol
		out.Message = e.compose(e.name()+" sent a message or an answer that is too long to be one", "", "check that "+e.setting("base_url")+" is a model endpoint")
	case isStall && begun:
		out.Message = fmt.Sprintf("%s stopped in the middle of an answer and sent nothing for %s; try again", e.name(), stall.after)
	case isStall:
		out.Message = fmt.Sprintf("%s did not begin to answer in %s; try again", e.name(), stall.after)
	case begun:
		out.Message = e.compose(e.name()+" broke the connection in the middle of an answer", "", "try again")
	case sent:
		out.Message = e.compose(e.name()+" broke the connection before it answered", err.Error(), "try again")
	case errors.Is(err, syscall.ECONNREFUSED):
		out.Message = e.compose("nothing answers at "+e.name(), "", "start the server there or set "+e.setting("base_url")+" to another endpoint")
	case isDNS:
		out.Message = e.compose("the host "+e.safe(dns.Name, 100)+" is not known", "", "check "+e.setting("base_url")+" and the network")
	default:
		out.Message = e.compose(e.name()+" cannot be reached", err.Error(), "check "+e.setting("base_url")+" and the network")
	}
	return out
}

// CutError is the error of an answer without its end.
func (e *Endpoint) CutError() *llm.Error {
	return &llm.Error{Class: llm.ClassCut, Message: e.name() + " ended the answer before it was whole; try again"}
}

func (e *Endpoint) wrongType(kind string) *llm.Error {
	return e.protocol(http.StatusOK, e.compose(
		"the endpoint answered "+e.safe(kind, 60)+" at "+e.url(), "", "set "+e.setting("base_url")+" to the address of a model API; it ends in /v1"))
}

func (e *Endpoint) notJSON(data []byte) *llm.Error {
	return e.protocol(http.StatusOK, e.compose(
		e.name()+" sent a message that is not JSON", string(data[:min(len(data), 200)]), "check that "+e.setting("base_url")+" is a model endpoint"))
}

// TooMany is the error of an answer with more than MaxItems items.
func (e *Endpoint) TooMany() *llm.Error {
	return e.protocol(http.StatusOK, fmt.Sprintf("%s sent more than %d items in one answer; use another model", e.name(), MaxItems))
}

func (e *Endpoint) protocol(status int, message string) *llm.Error {
	return &llm.Error{Class: llm.ClassProtocol, Status: status, Message: message}
}
