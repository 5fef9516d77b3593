package webpage_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"podd/internal/extend/webpage"
)

// site serves pages on a port of this machine.
type site struct{ *httptest.Server }

func newSite(t *testing.T, handler http.HandlerFunc) *site {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &site{server}
}

// guarded gets pages without the environment's proxy.
var guarded = &webpage.Fetcher{Proxy: noProxy}

func noProxy(*http.Request) (*url.URL, error) { return nil, nil }

func check(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := webpage.Check(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (s *site) get(t *testing.T, path string) (*webpage.Page, error) {
	t.Helper()
	return guarded.Get(t.Context(), check(t, s.URL+path), webpage.Leave{Ports: true, Private: true})
}

func TestCheck(t *testing.T) {
	for raw, want := range map[string]string{
		"https://Go.DEV/a?b=1#frag":   "https://go.dev/a?b=1",
		" http://go.dev:80/ ":         "http://go.dev/",
		"https://go.dev.:443/x":       "https://go.dev/x",
		"http://localhost:8080":       "http://localhost:8080",
		"https://bücher.example/":     "https://xn--bcher-kva.example/",
		"http://[2606:4700::1]/":      "http://[2606:4700::1]/",
		"http://[2606:4700::1]:8080/": "http://[2606:4700::1]:8080/",
	} {
		u, err := webpage.Check(raw)
		if err != nil || u.String() != want {
			t.Errorf("%s: got %v, %v; want %s", raw, u, err, want)
		}
	}
	for raw, want := range map[string]string{
		"":                      "only http and https",
		"go.dev":                "only http and https",
		"file:///etc/passwd":    "only http and https",
		"https://u:p@go.dev/":   "user name or password",
		"https:///x":            "no host",
		"https://go dev/":       "not a valid URL",
		"http://a_b\u202e.dev/": "not the name of a host",
		"http://%zz/":           "not a valid URL",
		"javascript:alert(1)":   "only http and https",
	} {
		if _, err := webpage.Check(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", raw, err, want)
		}
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "2606:4700::1111": true, "192.88.98.1": true,
		"127.0.0.1": false, "0.0.0.0": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "198.18.0.1": false, "192.0.2.1": false, "240.0.0.1": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "ff02::1": false, "::ffff:127.0.0.1": false, "::ffff:8.8.8.8": true,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:db8::1": false, "2001::1": false, "::7f00:1": false, "fec0::1": false,
	} {
		if got := webpage.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: public is %v, want %v", address, got, want)
		}
	}
}

func TestPageBecomesMarkdown(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		for _, header := range []string{"Cookie", "Authorization", "Referer"} {
			if r.Header.Get(header) != "" {
				t.Errorf("the request has %s", header)
			}
		}
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		_, _ = io.WriteString(w, `<html><head><title> A  &amp; B </title><style>x{}</style><script>steal()</script></head><body>
<h1>Caf`+"\xe9"+`</h1><p>See <a href="b.html">this</a> and <a href="#y">that</a>.</p><img src="data:image/png;base64,AAAA"><svg><text>drawn</text></svg>
<span style="display: none">unseen</span><div hidden>unseen</div><template>unseen</template><button>press</button>
<pre><code class="language-go">x := 1
</code></pre><table><tr><th>a</th></tr><tr><td>1</td></tr></table></body></html>`)
	})
	page, err := s.get(t, "/dir/a.html")
	if err != nil {
		t.Fatal(err)
	}
	if page.Title != "A & B" || page.Type != "text/html" || page.Cut {
		t.Errorf("got %+v", page)
	}
	for _, want := range []string{"# Café", "[this](" + s.URL + "/dir/b.html)", "```go\nx := 1\n```", "| 1 |"} {
		if !strings.Contains(page.Text, want) {
			t.Errorf("lacks %q:\n%s", want, page.Text)
		}
	}
	for _, never := range []string{"steal", "AAAA", "drawn", "unseen", "press", "x{}"} {
		if strings.Contains(page.Text, never) {
			t.Errorf("has %q:\n%s", never, page.Text)
		}
	}
}

func TestOtherText(t *testing.T) {
	body, kind := "", ""
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		_, _ = io.WriteString(w, body)
	})
	for _, tt := range []struct{ kind, body, want string }{
		{"application/json", `{"a": "<b>"}`, `{"a": "<b>"}`},
		{"text/plain; charset=utf-16le", "h\x00i\x00", "hi"},
		{"application/octet-stream", "plain words\n", "plain words\n"},
		{"", "plain words\n", "plain words\n"},
		{"application/vnd.api+json", "{}", "{}"},
		{"text/html", "", ""},
	} {
		body, kind = tt.body, tt.kind
		if page, err := s.get(t, "/"); err != nil || page.Text != tt.want {
			t.Errorf("%s: got %+v, %v; want %q", tt.kind, page, err, tt.want)
		}
	}
	for _, tt := range []struct{ kind, body string }{
		{"image/png", "\x89PNG\r\n\x1a\n"}, {"application/octet-stream", "\x7fELF\x02"}, {"", "\x00\x01\x02"}, {"application/pdf", "%PDF-1.7"}, {"text/plain", "a\x00b"},
	} {
		body, kind = tt.body, tt.kind
		if _, err := s.get(t, "/"); !errors.As(err, new(*webpage.BinaryError)) {
			t.Errorf("%s: got %v, want that it is binary", tt.kind, err)
		}
	}
}

func TestLongPageIsCut(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, strings.Repeat("0123456789abcdef", webpage.MaxBytes/16+1))
	})
	if page, err := s.get(t, "/"); err != nil || !page.Cut || len(page.Text) != webpage.MaxBytes {
		t.Errorf("got %d bytes, cut %v, %v", len(page.Text), page.Cut, err)
	}
}

// Markup with extreme nesting neither hangs nor breaks.
func TestNestedPage(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.Repeat("<div><b>", 100_000)+"deep")
	})
	page, err := s.get(t, "/")
	if err == nil && !strings.Contains(page.Text, "deep") {
		t.Errorf("got %+v", page)
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	served := false
	s := newSite(t, func(http.ResponseWriter, *http.Request) { served = true })
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{
		"http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest/meta-data/", "https://10.0.0.1/", "http://0.0.0.0/",
		s.URL, "http://localhost:" + port,
	} {
		for _, ports := range []bool{false, true} {
			_, err := guarded.Get(t.Context(), check(t, raw), webpage.Leave{Ports: ports})
			if private := errors.As(err, new(*webpage.PrivateError)); !private && (ports || !errors.As(err, new(*webpage.PortError))) {
				t.Errorf("%s: got %v, want that the address is private", raw, err)
			}
		}
	}
	for _, raw := range []string{s.URL, "http://localhost:" + port, "https://8.8.8.8:22/"} {
		if _, err := guarded.Get(t.Context(), check(t, raw), webpage.Leave{Private: true}); !errors.As(err, new(*webpage.PortError)) {
			t.Errorf("%s: got %v, want that the port is refused", raw, err)
		}
	}
	if served {
		t.Error("the server was reached")
	}
}

func TestShown(t *testing.T) {
	for raw, want := range map[string]bool{
		"http://127.0.0.1:3000/": true, "http://[::1]/": true, "http://10.0.0.1/": true, "http://localhost:80": true, "http://a.localhost/": true,
		"http://8.8.8.8/": false, "https://go.dev/": false, "http://localhost.example/": false, "http://notlocalhost/": false,
	} {
		if got := webpage.Shown(check(t, raw)); got != want {
			t.Errorf("%s: got %v", raw, got)
		}
	}
}

func TestRedirects(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/hop/%d", &n)
		switch {
		case r.URL.Path == "/away":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		case n > 0:
			http.Redirect(w, r, fmt.Sprintf("/hop/%d", n-1), http.StatusFound)
		default:
			_, _ = io.WriteString(w, "here")
		}
	})
	if page, err := s.get(t, "/hop/5"); err != nil || page.Text != "here" || page.URL != s.URL+"/hop/0" {
		t.Errorf("got %+v, %v", page, err)
	}
	if _, err := s.get(t, "/hop/6"); err == nil || !strings.Contains(err.Error(), "more than 5 times") {
		t.Errorf("got %v", err)
	}
	for to, want := range map[string]string{
		"http://127.0.0.1/x":       "moved to http://127.0.0.1/x",
		"https://other.example/#x": "moved to https://other.example/",
		"file:///etc/passwd":       "only http and https",
		"http://u:p@127.0.0.1/":    "user name or password",
	} {
		if _, err := s.get(t, "/away?to="+url.QueryEscape(to)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: got %v, want an error with %q", to, err, want)
		}
	}
}

func TestStatus(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusNotFound) })
	_, err := s.get(t, "/")
	if status, ok := errors.AsType[*webpage.StatusError](err); !ok || status.Code != 404 || err.Error() != "the server answers 404 Not Found" {
		t.Errorf("got %v", err)
	}
}

// A proxy dials for podd, so podd looks up the name first.
func TestProxy(t *testing.T) {
	asked := ""
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		_, _ = io.WriteString(w, "by proxy")
	}))
	t.Cleanup(proxy.Close)
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := &webpage.Fetcher{Proxy: func(*http.Request) (*url.URL, error) { return u, nil }}
	if _, err := f.Get(t.Context(), check(t, "http://localhost/"), webpage.Leave{}); !errors.As(err, new(*webpage.PrivateError)) || asked != "" {
		t.Errorf("got %v, the proxy was asked for %q", err, asked)
	}
	if page, err := f.Get(t.Context(), check(t, "http://8.8.8.8/x"), webpage.Leave{}); err != nil || page.Text != "by proxy" || asked != "http://8.8.8.8/x" {
		t.Errorf("got %+v, %v; the proxy was asked for %q", page, err, asked)
	}
}
