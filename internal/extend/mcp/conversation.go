package mcp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// conversation reads what a server sends, over its standard output or HTTP alike. Servers
// deviate from the protocol in many ways, and what a person can still understand is not lost:
// the library behind it reads strictly, so conversation turns messages into strict ones.
type conversation struct {
	mu sync.Mutex
	// asked are podd's requests without an answer.
	asked map[jsonrpc.ID]*jsonrpc.Request
	// tried are the versions of the protocol in requests to initialize. version is the one
	// in use; empty before.
	tried   []string
	version string
	// answers counts the answers of the server.
	answers int
}

// says records a message to the server.
func (c *conversation) says(message jsonrpc.Message) {
	r, ok := message.(*jsonrpc.Request)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.IsCall():
		if c.asked == nil {
			c.asked = map[jsonrpc.ID]*jsonrpc.Request{}
		}
		c.asked[r.ID] = r
		if r.Method == "initialize" {
			c.version = ""
		}
	case r.Method == "notifications/cancelled":
		var cancelled struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(r.Params, &cancelled) == nil {
			delete(c.asked, idOf(cancelled.RequestID))
		}
	}
}

// heard is a text from the server: a line, an event or a body.
type heard struct {
	// said says that it has a message. One that podd does not wait for is not in messages.
	said     bool
	messages []jsonrpc.Message
	// again is a request to send: the server refused its other form, and named this one.
	again *jsonrpc.Request
	// lost is an error that names no request.
	lost *jsonrpc.Error
}

// hears reads a text from the server: messages, one after the other or in a batch. Anything
// else, like a line of a log, adds nothing.
func (c *conversation) hears(text []byte) (h heard) {
	values := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	for {
		var value json.RawMessage
		if values.Decode(&value) != nil {
			return h
		}
		var batch []json.RawMessage
		if json.Unmarshal(value, &batch) != nil {
			batch = []json.RawMessage{value}
		}
		for _, one := range batch {
			c.hear(&h, one)
		}
	}
}

// hear reads what may be one message.
func (c *conversation) hear(h *heard, text json.RawMessage) {
	var f map[string]json.RawMessage
	if json.Unmarshal(text, &f) != nil || !isMessage(f) {
		return
	}
	var method string
	id := idOf(f["id"])
	failure := errorOf(f["error"])
	if f["result"] != nil && string(f["result"]) != "null" && !isObject(f["error"]) {
		failure = nil
	}
	h.said = true
	switch {
	case json.Unmarshal(f["method"], &method) == nil && method != "":
		params := f["params"]
		if method == "elicitation/create" {
			params = markOrder(params)
		}
		h.messages = append(h.messages, &jsonrpc.Request{ID: requestID(f["id"]), Method: method, Params: params})
	case failure != nil && !id.IsValid():
		h.lost = failure
	case id.IsValid():
		c.answer(h, &jsonrpc.Response{ID: id, Result: f["result"]}, failure)
	default:
		h.said = f["id"] != nil
	}
}

// isMessage says whether an object is a message. Without the mark of the protocol it may be an
// entry of a log, unless it has nothing that a message has not.
func isMessage(f map[string]json.RawMessage) bool {
	if string(f["jsonrpc"]) == `"2.0"` {
		return true
	}
	for name := range f {
		if !slices.Contains([]string{"jsonrpc", "id", "method", "params", "result", "error"}, name) {
			return false
		}
	}
	return true
}

// answer takes the answer to a request of podd. Others, like those to cancelled requests, add
// nothing.
func (c *conversation) answer(h *heard, r *jsonrpc.Response, failure *jsonrpc.Error) {
	request := c.answered(r.ID)
	if request == nil {
		return
	}
	if failure == nil {
		r.Result, failure = c.strict(request.Method, r.Result)
	}
	if failure != nil {
		if h.again = c.otherVersion(request, failure); h.again != nil {
			return
		}
		r.Result, r.Error = nil, failure
	}
	h.messages = append(h.messages, r)
}

// answered removes the open request with this id; nil without one.
func (c *conversation) answered(id jsonrpc.ID) *jsonrpc.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.asked[id]
	delete(c.asked, id)
	c.answers++
	return r
}

// versionName is how versions of the protocol look.
var versionName = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)

// otherVersion is a request to initialize with a version that the refusal names; nil if there
// is none that podd speaks and has not tried.
func (c *conversation) otherVersion(r *jsonrpc.Request, refusal *jsonrpc.Error) *jsonrpc.Request {
	var params map[string]json.RawMessage
	if r.Method != "initialize" || json.Unmarshal(r.Params, &params) != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried = append(c.tried, versionName.FindString(string(params["protocolVersion"])))
	named := versionName.FindAllString(string(refusal.Data)+" "+refusal.Message, -1)
	for _, version := range sdk.SupportedProtocolVersions() {
		if version > greeted || slices.Contains(c.tried, version) || !slices.Contains(named, version) {
			continue
		}
		params["protocolVersion"] = json.RawMessage(strconv.Quote(version))
		text, err := json.Marshal(params)
		if err != nil {
			return nil
		}
		return &jsonrpc.Request{ID: r.ID, Method: r.Method, Params: text}
	}
	return nil
}

// mute says that the server has answered nothing.
func (c *conversation) mute() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers == 0
}

// agree records the version of the protocol in use.
func (c *conversation) agree(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = version
}

// agreed is the version of the protocol in use; empty before that is known.
func (c *conversation) agreed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// waits says whether a request of podd has no answer yet.
func (c *conversation) waits(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[id] != nil
}

// idOf is the id of a request of podd, which are whole numbers: servers also return them as a
// string, or with a fraction of zero. Without an id it is not valid.
func idOf(text json.RawMessage) (id jsonrpc.ID) {
	var quoted string
	if json.Unmarshal(text, &quoted) == nil && quoted != "" {
		text = json.RawMessage(quoted)
	}
	var number float64
	if json.Unmarshal(text, &number) != nil || string(text) == "null" || number != float64(int64(number)) {
		return id
	}
	id, _ = jsonrpc.MakeID(number)
	return id
}

// requestID is the id of a server's request, returned as it came; not valid for a notification.
func requestID(text json.RawMessage) (id jsonrpc.ID) {
	var value any
	if json.Unmarshal(text, &value) == nil {
		id, _ = jsonrpc.MakeID(value)
	}
	return id
}

func isObject(text json.RawMessage) bool { return bytes.HasPrefix(text, []byte("{")) }

// errorOf returns an error in any form; nil without one.
func errorOf(text json.RawMessage) *jsonrpc.Error {
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	e := &jsonrpc.Error{Code: jsonrpc.CodeInternalError}
	var f map[string]json.RawMessage
	if json.Unmarshal(text, &f) == nil {
		_ = json.Unmarshal(f["code"], &e.Code)
		e.Data = f["data"]
		if f["message"] != nil {
			text = f["message"]
		}
	}
	e.Message = plain(text)
	return e
}

// plain is JSON as text: a string without its quotes.
func plain(text json.RawMessage) string {
	var s string
	if json.Unmarshal(text, &s) == nil {
		return s
	}
	return string(text)
}
