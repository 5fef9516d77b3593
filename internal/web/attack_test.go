package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/internal/web"
)

// raw is a request as bytes, so that it can be what no library sends.
type raw struct {
	method, target string
	headers        []string
	body           string
}

// with is the request with a header in place of all of that name; an empty value leaves it out.
func (r raw) with(name, value string) raw {
	r.headers = slices.DeleteFunc(slices.Clone(r.headers), func(h string) bool { return strings.HasPrefix(strings.ToLower(h), strings.ToLower(name)+":") })
	if value != "" {
		r.headers = append(r.headers, name+": "+value)
	}
	return r
}

func (r raw) and(name, value string) raw {
	r.headers = append(slices.Clone(r.headers), name+": "+value)
	return r
}

func (r raw) to(method, target string) raw {
	r.method, r.target = method, target
	return r
}

func (r raw) text() string {
	return r.method + " " + r.target + " HTTP/1.1\r\n" + strings.Join(r.headers, "\r\n") + "\r\n\r\n" + r.body
}

// send is the status of the answer, 0 without one, and the header.
func (s *stage) send(r raw) (int, http.Header) {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Origin, "http://"))
	check(s.t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { _, _ = io.WriteString(conn, r.text()) }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header
}

// attack is a request of somebody else, made from one that the page could send.
type attack struct {
	name   string
	change func(raw) raw
	status int
}

// attacksOn are attacks by the rule that stops each: without the rule it succeeds.
var attacksOn = map[string][]attack{
	"host": {
		{"rebinding", func(r raw) raw { return r.with("Host", "evil.example") }, 421},
		{"rebinding with the port", func(r raw) raw { return r.with("Host", "evil.example:7633") }, 421},
		{"localhost", func(r raw) raw { return r.with("Host", "localhost:7633") }, 421},
		{"a name that ends alike", func(r raw) raw { return r.with("Host", "127.0.0.1.evil.example") }, 421},
		{"zeros for the address", func(r raw) raw { return r.with("Host", "0.0.0.0:7633") }, 421},
		{"the address without the port", func(r raw) raw { return r.with("Host", "127.0.0.1") }, 421},
		{"another port", func(r raw) raw { return r.with("Host", "127.0.0.1:1") }, 421},
		{"IPv6 for IPv4", func(r raw) raw { return r.with("Host", "[::1]:7633") }, 421},
		{"mapped IPv4", func(r raw) raw { return r.with("Host", "[::ffff:127.0.0.1]:7633") }, 421},
		{"the address as a number", func(r raw) raw { return r.with("Host", "2130706433:7633") }, 421},
		{"a final dot", func(r raw) raw { return r.with("Host", "127.0.0.1.:7633") }, 421},
		{"an absolute target", func(r raw) raw { return r.to(r.method, "http://evil.example"+r.target) }, 421},
		{"a forwarded host", func(r raw) raw { return r.with("Host", "evil.example").and("X-Forwarded-Host", "127.0.0.1:7633") }, 421},
	},
	"origin": {
		{"a foreign page", func(r raw) raw { return r.with("Origin", "https://evil.example") }, 403},
		{"no origin", func(r raw) raw { return r.with("Origin", "") }, 403},
		{"a sandboxed frame or a file", func(r raw) raw { return r.with("Origin", "null") }, 403},
		{"another port", func(r raw) raw { return r.with("Origin", "http://127.0.0.1:8000") }, 403},
		{"another scheme", func(r raw) raw { return r.with("Origin", "https"+strings.TrimPrefix(originOf(r), "http")) }, 403},
		{"a path behind it", func(r raw) raw { return r.with("Origin", originOf(r)+"/") }, 403},
		{"a name that begins alike", func(r raw) raw { return r.with("Origin", originOf(r)+".evil.example") }, 403},
		{"an extension", func(r raw) raw { return r.with("Origin", "chrome-extension://abcdefgh") }, 403},
		{"two origins", func(r raw) raw { return r.and("Origin", "https://evil.example") }, 403},
		{"two in one", func(r raw) raw { return r.with("Origin", originOf(r)+", https://evil.example") }, 403},
		{"localhost", func(r raw) raw { return r.with("Origin", "http://localhost:7633") }, 403},
	},
	"site": {
		{"a foreign page", func(r raw) raw { return r.with("Sec-Fetch-Site", "cross-site") }, 403},
		{"another port of this machine", func(r raw) raw { return r.with("Sec-Fetch-Site", "same-site") }, 403},
		{"an address typed", func(r raw) raw { return r.with("Sec-Fetch-Site", "none") }, 403},
		{"a browser that does not say", func(r raw) raw { return r.with("Sec-Fetch-Site", "") }, 403},
		{"two sites", func(r raw) raw { return r.and("Sec-Fetch-Site", "cross-site") }, 403},
		{"unknown", func(r raw) raw { return r.with("Sec-Fetch-Site", "SAME-ORIGIN") }, 403},
	},
	"cookies": {
		{"a cookie", func(r raw) raw { return r.and("Cookie", "session=1") }, 403},
	},
	"type": {
		{"gRPC", func(r raw) raw { return r.with("Content-Type", "application/grpc") }, 415},
		{"gRPC of the web", func(r raw) raw { return r.with("Content-Type", "application/grpc-web+json") }, 415},
		{"two types", func(r raw) raw { return r.and("Content-Type", "text/plain") }, 415},
	},
	"encoding": {
		{"gzip of a stream", func(r raw) raw { return r.and("Connect-Content-Encoding", "gzip") }, 415},
	},
}

// attacksOnFiles are those on a file of the page, here /app.js.
var attacksOnFiles = map[string][]attack{
	"host": {
		{"rebinding", func(r raw) raw { return r.with("Host", "evil.example") }, 421},
	},
	"document": {
		{"loaded by a foreign page", func(r raw) raw { return r.with("Sec-Fetch-Site", "cross-site") }, 403},
		{"loaded by another port", func(r raw) raw { return r.with("Sec-Fetch-Site", "same-site") }, 403},
		{"a script by its address", func(r raw) raw { return r.with("Sec-Fetch-Site", "none") }, 403},
		{"no word who asks", func(r raw) raw { return r.with("Sec-Fetch-Site", "") }, 403},
		{"a link to the document", func(r raw) raw { return r.to("GET", "/").with("Sec-Fetch-Site", "cross-site") }, 403},
	},
	"frame": {
		{"a frame", func(r raw) raw { return r.to("GET", "/").with("Sec-Fetch-Dest", "iframe") }, 403},
		{"an object", func(r raw) raw { return r.to("GET", "/").with("Sec-Fetch-Dest", "object") }, 403},
	},
}

// attacksOnAll are stopped by more than one rule, or by what is no rule.
var attacksOnAll = []attack{
	{"a form", func(r raw) raw { return r.with("Content-Type", "application/x-www-form-urlencoded") }, 415},
	{"a form of text", func(r raw) raw { return r.with("Content-Type", "text/plain") }, 415},
	{"a form with files", func(r raw) raw { return r.with("Content-Type", "multipart/form-data; boundary=x") }, 415},
	{"no type", func(r raw) raw { return r.with("Content-Type", "") }, 415},
	{"protobuf", func(r raw) raw { return r.with("Content-Type", "application/proto") }, 415},
	{"JSON in disguise", func(r raw) raw { return r.with("Content-Type", "text/plain; application/json") }, 415},
	{"gzip", func(r raw) raw { return r.and("Content-Encoding", "gzip") }, 415},
	{"deflate", func(r raw) raw { return r.and("Content-Encoding", "deflate") }, 415},
	{"a preflight", func(r raw) raw { return r.to("OPTIONS", r.target).and("Access-Control-Request-Method", "POST") }, 405},
	{"a preflight of everything", func(r raw) raw { return r.to("OPTIONS", "*") }, 405},
	{"a preflight to a private network", func(r raw) raw {
		return r.to("OPTIONS", r.target).and("Access-Control-Request-Private-Network", "true")
	}, 405},
	{"TRACE", func(r raw) raw { return r.to("TRACE", r.target) }, 405},
	{"PUT", func(r raw) raw { return r.to("PUT", r.target) }, 405},
	{"DELETE", func(r raw) raw { return r.to("DELETE", r.target) }, 405},
	{"CONNECT", func(r raw) raw { return r.to("CONNECT", "evil.example:443") }, 421},
	{"a call by GET", func(r raw) raw { return r.to("GET", r.target+"?encoding=json&message=%7B%7D") }, 404},
	{"an image of a foreign page", func(r raw) raw { return r.to("GET", r.target).with("Sec-Fetch-Site", "cross-site") }, 403},
	{"no bearer", func(r raw) raw { return r.with("Authorization", "") }, 401},
	{"two bearers", func(r raw) raw { return r.and("Authorization", "Bearer x") }, 401},
	{"a password", func(r raw) raw { return r.with("Authorization", "Basic cDpw") }, 401},
	{"the client token", func(r raw) raw { return r.with("Authorization", "Bearer "+token) }, 401},
	{"a bearer in the address", func(r raw) raw { return r.with("Authorization", "").to("POST", r.target+"?authorization=Bearer+x") }, 401},
	{"an unlisted call", func(r raw) raw { return r.to("POST", "/podd.v1.PodService/CreatePod") }, 404},
	{"the client's own service", func(r raw) raw { return r.to("POST", "/podd.v1.WebService/StartPairing") }, 404},
	{"reflection", func(r raw) raw { return r.to("POST", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo") }, 404},
	{"a path that is no call", func(r raw) raw { return r.to("POST", "//podd.v1.PodService/GetPod") }, 404},
	{"a path with dots", func(r raw) raw { return r.to("POST", "/x/../podd.v1.PodService/GetPod") }, 404},
	{"a file outside of the page", func(r raw) raw { return r.to("GET", "/../gate.go") }, 404},
	{"an escaped path", func(r raw) raw { return r.to("GET", "/%2e%2e/gate.go") }, 404},
	{"an unknown field", func(r raw) raw { return r.says(`{"pod":"p","rights":"all"}`) }, 400},
	{"no JSON", func(r raw) raw { return r.says("pod=p") }, 400},
	{"an empty body", func(r raw) raw { return r.says("") }, 400},
	{"a body of 2 MiB", func(r raw) raw { return r.says(`{"pod":"` + strings.Repeat("p", 2<<20) + `"}`) }, 413},
	{"headers of 20 KiB", func(r raw) raw { return r.and("X-Long", strings.Repeat("x", 20<<10)) }, 431},
	{"two hosts", func(r raw) raw { return r.and("Host", "evil.example") }, 400},
	{"two lengths", func(r raw) raw { return r.and("Content-Length", "1") }, 400},
	{"a length and chunks", func(r raw) raw { return r.and("Transfer-Encoding", "chunked, chunked") }, 501},
}

// says is the request with another body.
func (r raw) says(body string) raw {
	r = r.with("Content-Length", fmt.Sprint(len(body)))
	r.body = body
	return r
}

// originOf is the origin of the page that a request is for.
func originOf(r raw) string {
	for _, h := range r.headers {
		if host, ok := strings.CutPrefix(h, "Host: "); ok {
			return "http://" + host
		}
	}
	return ""
}

// callOf and fileOf are requests of the page.
func (s *stage) callOf(bearer string) raw {
	return raw{method: "POST", target: "/podd.v1.PodService/GetPod", headers: []string{
		"Host: " + strings.TrimPrefix(s.Origin, "http://"), "Origin: " + s.Origin, "Sec-Fetch-Site: same-origin", "Content-Type: application/json", "Authorization: Bearer " + bearer,
	}}.says(`{"pod":"p"}`)
}

func (s *stage) fileOf() raw {
	return raw{method: "GET", target: "/app.js", headers: []string{"Host: " + strings.TrimPrefix(s.Origin, "http://"), "Sec-Fetch-Site: same-origin"}}
}

// Every attack is refused, and nothing that is answered lets another page read it.
func TestAttacks(t *testing.T) {
	s := newStage(t)
	bearer := s.pair(control).Login()
	call, file := s.callOf(bearer), s.fileOf()
	for name, r := range map[string]raw{"call": call, "file": file, "document": file.to("GET", "/").with("Sec-Fetch-Site", "none")} {
		if status, _ := s.send(r); status != http.StatusOK {
			t.Fatalf("the page's own %s is answered with %d", name, status)
		}
	}
	try := func(rule string, a attack, base raw) {
		status, header := s.send(a.change(base))
		if status != a.status {
			t.Errorf("%s: %s: %d, want %d", rule, a.name, status, a.status)
		}
		for name := range header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
				t.Errorf("%s: %s: the answer has %s", rule, a.name, name)
			}
		}
		// What net/http refuses itself never reaches the page's code.
		if own := status != 400 && status != 431 && status != 501; own && header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %s: the answer has no policy", rule, a.name)
		}
	}
	for rule, attacks := range attacksOn {
		for _, a := range attacks {
			try(rule, a, call)
		}
	}
	for rule, attacks := range attacksOnFiles {
		for _, a := range attacks {
			try(rule, a, file)
		}
	}
	for _, a := range attacksOnAll {
		try("all", a, call)
	}
}

// Each rule is needed: without it, the attacks that it stops succeed.
func TestEachRuleIsNeeded(t *testing.T) {
	count := 0
	for _, rule := range web.Rules() {
		if rule == "method" {
			continue // Without it OPTIONS is a GET, and no header lets another page read the answer.
		}
		t.Run(rule, func(t *testing.T) {
			if len(attacksOn[rule])+len(attacksOnFiles[rule]) == 0 {
				t.Fatal("no attack is for this rule")
			}
			s := newStage(t, web.Without(rule))
			bearer := s.pair(control).Login()
			for _, a := range attacksOn[rule] {
				if status, _ := s.send(a.change(s.callOf(bearer))); status != http.StatusOK {
					t.Errorf("%s: still %d: another check stops it, so it shows nothing about this one", a.name, status)
				}
			}
			for _, a := range attacksOnFiles[rule] {
				if status, _ := s.send(a.change(s.fileOf())); status != http.StatusOK {
					t.Errorf("%s: still %d", a.name, status)
				}
			}
			count += len(attacksOn[rule]) + len(attacksOnFiles[rule])
		})
	}
	t.Logf("%d attacks succeed without their rules", count)
}
