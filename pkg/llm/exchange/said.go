package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"podd/pkg/lazy"
)

// said is what an endpoint says in an error.
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

// The members of errors, as named returns their names: endpoints write each in many ways.
var (
	wordMembers   = []string{"message", "msg", "statusmsg", "errormessage", "errormsg", "errmsg", "detail", "details", "errordescription", "faultstring", "title", "reason", "error"}
	codeMembers   = []string{"code", "statuscode", "errorcode", "errcode"}
	kindMembers   = []string{"type", "errortype", "status"}
	statusMembers = []string{"code", "statuscode", "status"}
	waitMembers   = []string{"retryafter", "retrydelay"}
	// innerMembers hold an error as an object or a list.
	innerMembers = []string{"error", "errors", "err", "exception", "fault", "detail", "message", "baseresp", "response", "responsemetadata", "header", "choices"}
	// quotedMembers are what others said: the provider behind OpenRouter, the model at Groq.
	quotedMembers = []string{"metadata.raw", "failed_generation"}
)

// The bounds of an error: how deep objects are nested, how many a list has.
const (
	maxNested = 6
	maxListed = 8
)

// readSaid reads an error of any shape: JSON, events, a page, or text. JSON without known
// words is the message itself.
func readSaid(body []byte) said {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark))
	switch first := firstByte(body); {
	case first == '<':
		return said{message: cmp.Or(pageText(body), string(body))}
	case first == '{' || first == '[' || first == '"':
		var value json.RawMessage
		if json.NewDecoder(bytes.NewReader(body)).Decode(&value) == nil {
			s := said{}
			s.read(gjson.ParseBytes(value), 0)
			if s.message == "" && len(value) > len("{}") {
				s.message = string(value)
			}
			return s
		}
	default:
		if data := firstEvent(body); data != nil {
			return readSaid(data)
		}
	}
	return said{message: string(body)}
}

func firstByte(body []byte) byte {
	if len(body) == 0 {
		return 0
	}
	return body[0]
}

// firstEvent returns the data of the first event of a stream; nil if body is not a stream.
func firstEvent(body []byte) []byte {
	sse := newSSEReader(bytes.NewReader(body))
	defer sse.close()
	ev, err := sse.next()
	if data := bytes.TrimSpace(ev.data); len(data) > 0 && (err == nil || errors.Is(err, io.EOF)) {
		return bytes.Clone(data)
	}
	return nil
}

// read adds what a value says.
func (s *said) read(v gjson.Result, depth int) {
	switch {
	case depth > maxNested:
	case v.IsObject():
		s.readObject(v, depth)
	case v.IsArray():
		// A list of faults says where they are.
		if v.Get("0.loc").Exists() {
			s.add(v.Raw)
		}
		for i, element := range v.Array() {
			if i < maxListed {
				s.read(element, depth+1)
			}
		}
	case v.Type == gjson.String:
		s.add(v.Str)
	}
}

// add adds words that are not there yet.
func (s *said) add(words string) {
	if strings.Contains(s.message, words) {
		return
	}
	if s.message != "" {
		s.message += ": "
	}
	s.message += words
}

// readObject adds an object's own words and those of the errors in it, whose code, type and
// status precede its own.
func (s *said) readObject(v gjson.Result, depth int) {
	own := named(v)
	for _, name := range wordMembers {
		s.add(own[name].Str)
	}
	for _, name := range innerMembers {
		if in := own[name]; in.IsObject() || in.IsArray() {
			s.read(in, depth+1)
		}
	}
	for _, path := range quotedMembers {
		s.add(v.Get(path).String())
	}
	s.code, s.kind = cmp.Or(s.code, scalar(own, codeMembers)), cmp.Or(s.kind, text(own, kindMembers))
	for _, name := range statusMembers {
		if n := own[name].Int(); s.status == 0 && n >= 400 && n < 600 {
			s.status = int(n)
		}
	}
	for _, name := range waitMembers {
		if wait := own[name]; wait.Exists() {
			s.waits = append(s.waits, wait.String())
		}
	}
	if h := v.Get("metadata.headers"); h.Exists() {
		s.headers = h
	}
	for _, detail := range v.Get("details").Array() {
		if wait := detail.Get("retryDelay").String(); wait != "" {
			s.waits = append(s.waits, wait)
		}
		for _, v := range detail.Get("violations").Array() {
			s.quota += v.Get("quotaId").String() + " "
		}
	}
}

// named are the members of an object that are not null, by their names in lower case
// without what separates words.
func named(v gjson.Result) map[string]gjson.Result {
	own := make(map[string]gjson.Result)
	v.ForEach(func(key, value gjson.Result) bool {
		name := strings.Map(func(r rune) rune {
			if r == '_' || r == '-' {
				return -1
			}
			return r
		}, strings.ToLower(key.Str))
		if _, ok := own[name]; !ok && value.Type != gjson.Null {
			own[name] = value
		}
		return len(own) < maxMembers
	})
	return own
}

// maxMembers bounds the members of an object that are read.
const maxMembers = 64

// scalar is the first of these members that is a text or a number.
func scalar(own map[string]gjson.Result, names []string) string {
	for _, name := range names {
		if v := own[name]; v.Type == gjson.String || v.Type == gjson.Number {
			return v.String()
		}
	}
	return ""
}

// text is the first of these members that is a text.
func text(own map[string]gjson.Result, names []string) string {
	for _, name := range names {
		if v := own[name]; v.Type == gjson.String {
			return v.Str
		}
	}
	return ""
}

// Failure is the error that a message outside the answer states; nil if it states none. name is
// that of its event.
func (e *Endpoint) Failure(name, data string) error {
	if v := gjson.Parse(data); v.IsObject() && states(name, v, 0) {
		return e.StreamError(data)
	}
	return nil
}

// states says whether an object states an error: it has one, or words beside a code or a
// type.
func states(event string, v gjson.Result, depth int) bool {
	own := named(v)
	for _, name := range []string{"error", "errors", "err", "exception", "fault"} {
		if Holds(own[name]) {
			return true
		}
	}
	kind, status := text(own, kindMembers[:2]), own["status"].String()
	switch {
	case strings.Contains(event, "error"), own["object"].Str == "error":
		return true
	case isBeat(event), isBeat(kind), news().MatchString(kind):
		return false
	case Holds(own["detail"]):
		return true
	case kind != "", failed(scalar(own, codeMembers)), failed(status), own["success"].Type == gjson.False:
		if text(own, wordMembers) != "" {
			return true
		}
	}
	for _, name := range []string{"baseresp", "response", "responsemetadata", "header"} {
		if in := own[name]; in.IsObject() && depth < maxNested && states("", in, depth+1) {
			return true
		}
	}
	return false
}

// failed says whether a code is that of a failure.
func failed(code string) bool {
	return code != "" && !fine().MatchString(code)
}

var (
	// fine matches the codes and the states of what did not fail, news the types of messages
	// that only inform.
	fine = lazy.Regexp(`(?i)^(0|1?\d\d|2\d\d|ok|success\w*|complet\w*|in_progress|processing|pending|queued|running|waiting)$`)
	news = lazy.Regexp(`(?i)^(info|status|progress|notice|debug|log|metadata|queued?|message)$`)
	// beat matches what only keeps a connection alive: a type, the name of an event, a text.
	beat = lazy.Regexp(`(?i)^:|(^|[^a-z])(ping|pong|heart[-_ ]?beat|keep[-_ ]?alive|noop)([^a-z]|$)`)
)

func isBeat(text string) bool { return text != "" && beat().MatchString(text) }

// Holds says whether a member says something: it is not null, false, zero or empty.
func Holds(v gjson.Result) bool {
	switch v.Type {
	case gjson.String, gjson.Number:
		return v.Str != "" || v.Num != 0
	case gjson.JSON:
		return len(v.Raw) > len("{}")
	}
	return v.Type == gjson.True
}
