package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"podd/internal/guard/devices"
	"podd/internal/requests"
)

// policy is what the page may load and do: its own files and calls, and no HTML from text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// gate checks each request, before anything else looks at it. No setting turns a check off.
type gate struct {
	origin, host string
	files        map[string]file
	methods      map[string]http.Handler
	bearers      *bearers
	rules        []rule
}

// refusal is the answer to a request that is not let through. code is one of Connect's.
type refusal struct {
	status        int
	code, message string
}

func refuse(status int, code, message string) *refusal { return &refusal{status, code, message} }

func (f *refusal) serve(w http.ResponseWriter) {
	body, err := json.Marshal(struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}{f.code, f.message})
	if err != nil {
		panic(err) // Strings always encode.
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Cache-Control", "no-store")
	// Whatever is left of the body is not read as another request.
	w.Header().Set("Connection", "close")
	w.WriteHeader(f.status)
	_, _ = w.Write(body)
}

// ServeHTTP answers one request.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	refused := g.check(r)
	switch {
	case refused != nil:
	case r.Method == http.MethodPost:
		refused = g.call(w, r)
	default:
		refused = g.file(w, r)
	}
	if refused != nil {
		refused.serve(w)
	}
}

// secure sets the headers of every answer.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// file serves a file of the page.
func (g *gate) file(w http.ResponseWriter, r *http.Request) *refusal {
	f, ok := g.files[r.URL.Path]
	if !ok {
		return refuse(http.StatusNotFound, "not_found", "the page has no such file")
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	f.serve(w, r)
	return nil
}

// jsonType and streamType are the types of calls that are answered once, and of streams.
const (
	jsonType   = "application/json"
	streamType = "application/connect+json"
)

// call passes a call on to podd.
func (g *gate) call(w http.ResponseWriter, r *http.Request) *refusal {
	handler, ok := g.methods[r.URL.Path]
	if !ok {
		return refuse(http.StatusNotFound, "unimplemented", "no browser can make this call")
	}
	var given *given
	if !devices.LetsIn(r.URL.Path) {
		var refused *refusal
		if given, refused = g.bearers.check(r); refused != nil {
			return refused
		}
	}
	body, refused := readBody(w, r)
	if refused != nil {
		return refused
	}
	if only(r.Header, "Content-Type") == jsonType {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	}
	// From here on no new connection replaces this one.
	defer requests.Busy(r.Context())()
	r = r.WithContext(withGiven(r.Context(), given))
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.Header().Set("Cache-Control", "no-store")
	handler.ServeHTTP(w, r)
	return nil
}

// only is the value of a header that must come once; empty if it does not.
func only(h http.Header, name string) string {
	if values := h.Values(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

// readBody reads a body whole, so that a slow one holds no call of podd.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTime)); err != nil {
		return nil, refuse(http.StatusInternalServerError, "internal", "podd web cannot limit the time of this request")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, refuse(http.StatusRequestEntityTooLarge, "invalid_argument", "a call has at most 1 MiB")
	}
	if err != nil {
		return nil, refuse(http.StatusRequestTimeout, "invalid_argument", "the call did not arrive whole within 10 seconds")
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}

// address is the address of a request's sender, without the port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return strings.ToLower(host)
}
