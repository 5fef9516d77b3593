package webpage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/idna"
)

// The bounds of one fetch.
const (
	// Timeout bounds a fetch with all its redirects.
	Timeout = 30 * time.Second
	// MaxBytes bounds how much of a page is read.
	MaxBytes     = 5 << 20
	maxRedirects = 5
)

// Fetcher gets pages. The zero value is ready.
type Fetcher struct {
	// Proxy returns the proxy of a request; nil means http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)
}

// Leave is what a fetch may do beyond getting a public page. It applies to the host of
// its URL, which a redirect does not leave.
type Leave struct {
	// Ports permits ports other than 80 and 443.
	Ports bool
	// Private permits addresses that are not public.
	Private bool
}

// Check returns the URL of an http or https page, cleaned. An error says in one sentence
// what is wrong with it.
func Check(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return nil, errors.New("it is not a valid URL: write https://host/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("only http and https URLs can be fetched: write https://host/path")
	case u.User != nil:
		return nil, errors.New("it has a user name or password in it: leave them out")
	case u.Hostname() == "":
		return nil, errors.New("it has no host: write https://host/path")
	}
	// Give each host one name, for rules and requests alike.
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(u.Hostname(), "."))
	if _, isAddress := netip.ParseAddr(u.Hostname()); isAddress == nil {
		name, err = u.Hostname(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("%q is not the name of a host: write https://host/path", u.Hostname())
	}
	port := u.Port()
	if port == portOf(u.Scheme) {
		port = ""
	}
	u.Host = strings.TrimSuffix(net.JoinHostPort(strings.ToLower(name), port), ":")
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// Host is the host and port of a URL that Check returned: "go.dev:443".
func Host(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = portOf(u.Scheme)
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func portOf(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// MovedError says that a page is at another host, or no longer behind TLS. The caller
// decides on the new URL as it did on the first.
type MovedError struct{ To string }

func (e *MovedError) Error() string { return "the page moved to " + e.To }

// StatusError is a server's answer other than success.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the server answers %d %s", e.Code, http.StatusText(e.Code)))
}

// Shown says whether the URL alone shows that it leads to a private address: by an
// address, or by a name of this machine.
func Shown(u *url.URL) bool {
	name := u.Hostname()
	if address, err := netip.ParseAddr(name); err == nil {
		return !Public(address)
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// Get fetches a page, by a URL that Check returned. It follows redirects within the host.
// Its errors are *PrivateError, *PortError, *MovedError, *StatusError, *BinaryError and
// those of net and net/http. It leaves no connection open.
func (f *Fetcher) Get(ctx context.Context, u *url.URL, leave Leave) (*Page, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Timeout, fmt.Errorf("no answer within %v", Timeout))
	defer cancel()
	page, err := f.get(ctx, u, leave)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return page, err
}

func (f *Fetcher) get(ctx context.Context, u *url.URL, leave Leave) (*Page, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "podd")
	request.Header.Set("Accept", "text/html, text/markdown, text/plain, application/json, */*;q=0.5")
	client := &http.Client{Transport: f.sender(leave), CheckRedirect: within}
	response, err := client.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, &StatusError{Code: response.StatusCode}
	}
	return read(response)
}

// within refuses a redirect that leaves the host or gives up TLS.
func within(next *http.Request, via []*http.Request) error {
	next.Header.Del("Referer")
	from := via[len(via)-1].URL
	to, err := Check(next.URL.String())
	switch {
	case err != nil:
		return fmt.Errorf("the server redirects to %s: %w", next.URL.Redacted(), err)
	case to.Host != from.Host, to.Scheme != from.Scheme && to.Scheme == "http":
		return &MovedError{To: to.String()}
	case len(via) > maxRedirects:
		return fmt.Errorf("the server redirects more than %d times", maxRedirects)
	}
	return nil
}

// sender sends the requests of one fetch, directly or through a proxy.
type sender struct {
	Leave
	proxy func(*http.Request) (*url.URL, error)
	// direct guards what it dials; proxied dials the proxy.
	direct, proxied *http.Transport
}

func (f *Fetcher) sender(leave Leave) *sender {
	s := &sender{Leave: leave, proxy: f.Proxy, direct: transport(), proxied: transport()}
	if s.proxy == nil {
		s.proxy = http.ProxyFromEnvironment
	}
	s.direct.DialContext = s.dial
	s.proxied.Proxy = s.proxy
	return s
}

func transport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10}
}

// RoundTrip sends one request, including those of redirects.
func (s *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := s.checkPort(Host(r.URL)); err != nil {
		return nil, err
	}
	proxy, err := s.proxy(r)
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		return s.direct.RoundTrip(r)
	}
	// The proxy dials, so podd can only look up what it will probably find.
	if err := s.lookUp(r.Context(), r.URL); err != nil {
		return nil, err
	}
	return s.proxied.RoundTrip(r)
}

// lookUp is an error unless all addresses of a URL's host are public.
func (s *sender) lookUp(ctx context.Context, u *url.URL) error {
	if s.Private {
		return nil
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(addresses, func(a netip.Addr) bool { return !Public(a) }); i >= 0 {
		return &PrivateError{Host: Host(u), Address: addresses[i].Unmap()}
	}
	return nil
}

func (s *sender) checkPort(host string) error {
	_, port, err := net.SplitHostPort(host)
	if err == nil && !s.Ports && port != "80" && port != "443" {
		return &PortError{Host: host}
	}
	return err
}

// dial connects to a server. It refuses an address that is not public at the moment of
// connecting: a name that changes its address in between gains nothing.
func (s *sender) dial(ctx context.Context, network, target string) (net.Conn, error) {
	dialer := &net.Dialer{Control: func(_, dialed string, _ syscall.RawConn) error {
		address, err := netip.ParseAddrPort(dialed)
		if err == nil && !s.Private && !Public(address.Addr()) {
			return &PrivateError{Host: target, Address: address.Addr().Unmap()}
		}
		return err
	}}
	return dialer.DialContext(ctx, network, target)
}
