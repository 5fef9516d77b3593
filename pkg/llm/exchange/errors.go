package exchange

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// httpError is the error of an answer whose status is not 2xx.
func (e *Endpoint) httpError(resp *http.Response, body []byte) *llm.Error {
	status := resp.StatusCode
	if status < 400 {
		return e.protocol(status, e.compose(e.at(status)+" redirects elsewhere", "", "set "+e.setting("base_url")+" to the address that answers itself"))
	}
	said := readSaid(body)
	said.status = status
	said.hint(resp.Header, e.Now())
	class, _ := classOf(builtin().Errors, said)
	switch resp.Header.Get("X-Should-Retry") {
	case "true":
		if class == llm.ClassInvalid {
			class = llm.ClassOverloaded
		}
	case "false":
		said.final = true
	}
	return e.said(said, class, status)
}

// StreamError is the error that an endpoint sent instead of an answer, or in the middle
// of one.
func (e *Endpoint) StreamError(data string) *llm.Error {
	said := readSaid([]byte(data))
	said.hint(nil, e.Now())
	class, _ := classOf(builtin().Errors, said)
	return e.said(said, class, 0)
}

// said is the error for a class, with the endpoint's text.
func (e *Endpoint) said(s said, class llm.Class, status int) *llm.Error {
	what, next := e.sentence(class, status)
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
	return e.said(said{code: reason, message: reason}, llm.ClassMalformedCall, 0)
}

// NoRoom is the error of an answer that ends before its first word because the window is
// full.
func (e *Endpoint) NoRoom(reason string) *llm.Error {
	return e.said(said{code: reason, message: reason}, llm.ClassContext, 0)
}

// sentence says what happened and what to do next.
func (e *Endpoint) sentence(class llm.Class, status int) (what, next string) {
	at := e.at(status)
	switch class {
	case llm.ClassAuth:
		if e.KeySource == "" {
			return at + " wants a key and none is set", e.addKey()
		}
		return at + " refused the key", "set " + e.keySetting() + " to a key that it accepts"
	case llm.ClassUnknownModel:
		return at + " does not know the model", "podctl models " + cmp.Or(e.Name, item.DefaultEndpoint) + " lists those that it has"
	case llm.ClassNoImages:
		return at + " takes no images", "set " + e.modelSetting("images") + " = false, or use a model that sees images"
	case llm.ClassRateLimit:
		next = "wait, or set fallback_models"
		if e.named() {
			next += " or " + e.setting("max_parallel")
		}
		return at + " limits the rate of requests", next
	case llm.ClassQuota:
		return at + " says that the account is used up", "add credit, or set " + e.keySetting() + " to another key"
	case llm.ClassContext:
		return at + " says that the request is larger than the model's window", "set " + e.modelSetting("window") + ", use another model, or go on in a new pod"
	case llm.ClassOverloaded:
		return at + " failed on its side", "try again, or set fallback_models"
	case llm.ClassContentFilter:
		return at + " refused the request by its content filter", "submit it in other words, or use another model"
	case llm.ClassMalformedCall:
		return at + " refused the model's tool call", "submit again, or use another model"
	case llm.ClassProtocol:
		return at + " has no " + e.API + " API at this address", "set " + e.setting("base_url") + " to the address that ends in /v1, or " + e.setting("api") + " to another API"
	}
	return at + " refused the request", ""
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
	next := "try again"
	coded, isCoded := errors.AsType[unknownCoding](err)
	switch {
	case isCoded:
		out.Class = llm.ClassProtocol
		out.Message = e.compose(e.at(0)+" compressed the answer as "+e.safe(string(coded), 40)+", which podd cannot read", "", "turn the compression off there, or set "+e.setting("base_url")+" to another endpoint")
	case errors.Is(err, errTooLong):
		out.Class = llm.ClassProtocol
		out.Message = e.compose(e.at(0)+" sent a message or an answer that is too long to be one", "", "set "+e.setting("base_url")+" to a model endpoint")
	case isStall && begun:
		out.Message = e.compose(fmt.Sprintf("%s stopped in the middle of an answer and sent nothing for %s", e.at(0), stall.after), "", next+e.orLonger("idle"))
	case isStall:
		out.Message = e.compose(fmt.Sprintf("%s did not begin to answer in %s", e.at(0), stall.after), "", next+e.orLonger("first_byte"))
	case begun:
		out.Message = e.compose(e.at(0)+" broke the connection in the middle of an answer", "", next)
	case sent:
		out.Message = e.compose(e.at(0)+" broke the connection before it answered", err.Error(), next)
	default:
		if out.Message = e.unreachable(err); speaksHTTP(err) {
			out.Class = llm.ClassProtocol
		}
	}
	return out
}

// orLonger names the key of a time limit, which only an endpoint with a table has.
func (e *Endpoint) orLonger(key string) string {
	if !e.named() {
		return ""
	}
	return ", or set a longer " + e.setting(key)
}

// unreachable says why a connection was not made.
func (e *Endpoint) unreachable(err error) string {
	base := e.setting("base_url")
	op, isOp := errors.AsType[*net.OpError](err)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	_, badCert := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case isOp && op.Op == "proxyconnect":
		key := "HTTPS_PROXY"
		if e.named() {
			key = e.setting("proxy") + " or " + key
		}
		return e.compose("the proxy before "+e.at(0)+" cannot be reached", err.Error(), "check "+key)
	case badCert:
		return e.compose("the certificate of "+e.at(0)+" is not valid here", err.Error(), "add its authority to those of the system, or set "+base)
	case speaksHTTP(err):
		return e.compose(e.at(0)+" does not speak TLS", "", "set "+base+" to an address that begins with http://")
	case errors.Is(err, syscall.ECONNREFUSED):
		return e.compose("nothing answers at "+e.at(0), "", "start the server there or set "+base+" to another endpoint")
	case isDNS:
		return e.compose("the host "+e.safe(dns.Name, 100)+" of "+e.at(0)+" is not known", "", "check "+base+" and the network")
	}
	return e.compose(e.at(0)+" cannot be reached", err.Error(), "check "+base+" and the network")
}

// speaksHTTP says whether net/http found a server without TLS at an https address. It has
// no type for that.
func speaksHTTP(err error) bool {
	return strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// CutError is the error of an answer without its end.
func (e *Endpoint) CutError() *llm.Error {
	return &llm.Error{Class: llm.ClassCut, Message: e.compose(e.at(0)+" ended the answer before it was whole", "", "try again")}
}

// wrongType is the error of something else in place of an answer; says is its text.
func (e *Endpoint) wrongType(kind, says string) *llm.Error {
	return e.protocol(http.StatusOK, e.compose(
		e.at(0)+" answered "+e.safe(kind, 60)+" at /"+e.path, says, "set "+e.setting("base_url")+" to the address of a model API, which ends in /v1"))
}

// notJSON is the error of an answer with a broken message.
func (e *Endpoint) notJSON(data []byte) *llm.Error {
	err := e.CutError()
	err.Message = e.compose(e.at(0)+" sent a message that is not JSON", string(data[:min(len(data), 200)]),
		"try again, or set "+e.setting("base_url")+" to a model endpoint")
	return err
}

// TooMany is the error of an answer with more than MaxItems items.
func (e *Endpoint) TooMany() *llm.Error {
	return e.protocol(http.StatusOK, e.compose(fmt.Sprintf("%s sent more than %d items in one answer", e.at(0), MaxItems), "", "use another model"))
}

func (e *Endpoint) protocol(status int, message string) *llm.Error {
	return &llm.Error{Class: llm.ClassProtocol, Status: status, Message: message}
}
