package web

import (
	"net/http"
	"slices"
)

// rule is what every request must keep, or every one of a kind.
type rule struct {
	name string
	// posts, gets: whether it is for calls, and for files.
	posts, gets bool
	keeps       func(*gate, *http.Request) bool
	status      int
	code, says  string
}

// rules are checked in this order. A page of another site can make a browser send almost
// anything here; it cannot keep all of these.
var rules = []rule{
	{
		// A name of another site that leads here makes its page one with this.
		name: "host", posts: true, gets: true, status: http.StatusMisdirectedRequest, code: "permission_denied", says: "this is not the page's address",
		keeps: func(g *gate, r *http.Request) bool { return r.Host == g.host },
	},
	{
		name: "method", posts: true, gets: true, status: http.StatusMethodNotAllowed, code: "unimplemented", says: "only GET, HEAD and POST are answered",
		keeps: func(_ *gate, r *http.Request) bool {
			return slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, r.Method)
		},
	},
	{
		// The document alone may be opened from nowhere, by its address.
		name: "document", gets: true, status: http.StatusForbidden, code: "permission_denied", says: "another page asked for this, or the browser does not say who asks: type the address in a current browser",
		keeps: func(_ *gate, r *http.Request) bool {
			site := only(r.Header, "Sec-Fetch-Site")
			return site == "same-origin" || site == "none" && r.URL.Path == "/"
		},
	},
	{
		name: "frame", gets: true, status: http.StatusForbidden, code: "permission_denied", says: "the page is not shown inside another one",
		keeps: func(_ *gate, r *http.Request) bool {
			return !slices.Contains([]string{"iframe", "frame", "embed", "object"}, r.Header.Get("Sec-Fetch-Dest"))
		},
	},
	{
		name: "origin", posts: true, status: http.StatusForbidden, code: "permission_denied", says: "only the page itself can call podd",
		keeps: func(g *gate, r *http.Request) bool { return only(r.Header, "Origin") == g.origin },
	},
	{
		name: "site", posts: true, status: http.StatusForbidden, code: "permission_denied", says: "only the page itself can call podd, in a browser that says who asks",
		keeps: func(_ *gate, r *http.Request) bool { return only(r.Header, "Sec-Fetch-Site") == "same-origin" },
	},
	{
		name: "cookies", posts: true, status: http.StatusForbidden, code: "permission_denied", says: "the page uses no cookies",
		keeps: func(_ *gate, r *http.Request) bool { return len(r.Header.Values("Cookie")) == 0 },
	},
	{
		// Forms send other types, and no script of another page sends these unasked.
		name: "type", posts: true, status: http.StatusUnsupportedMediaType, code: "invalid_argument", says: "a call is " + jsonType + " or " + streamType,
		keeps: func(_ *gate, r *http.Request) bool {
			kind := only(r.Header, "Content-Type")
			return kind == jsonType || kind == streamType
		},
	},
	{
		name: "encoding", posts: true, status: http.StatusUnsupportedMediaType, code: "invalid_argument", says: "a call is not compressed",
		keeps: func(_ *gate, r *http.Request) bool {
			return len(r.Header.Values("Content-Encoding"))+len(r.Header.Values("Connect-Content-Encoding")) == 0
		},
	},
}

// check is the first rule that a request breaks.
func (g *gate) check(r *http.Request) *refusal {
	for _, rule := range g.rules {
		applies := rule.gets
		if r.Method == http.MethodPost {
			applies = rule.posts
		}
		if applies && !rule.keeps(g, r) {
			return refuse(rule.status, rule.code, rule.says)
		}
	}
	return nil
}
