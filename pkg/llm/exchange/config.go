package exchange

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"podd/pkg/item"
)

// The defaults of Config.
const (
	// DefaultBaseURL is OpenAI itself.
	DefaultBaseURL = "https://api.openai.com/v1"
	// DefaultFirstByteTimeout is long because a local server may read a long prompt for
	// minutes before it sends anything.
	DefaultFirstByteTimeout = 10 * time.Minute
	// DefaultIdleTimeout is long because a model that reasons may be silent for minutes. TCP
	// keep-alive finds a dead connection sooner.
	DefaultIdleTimeout = 5 * time.Minute
)

// The APIs that adapters speak.
const (
	APIResponses = "responses"
	APIChat      = "chat"
	APIMessages  = "messages"
)

// Config is the whole configuration of a Client: it reads no environment variable.
type Config struct {
	// Name is the endpoint's; errors name it and its keys of the configuration. Empty means
	// item.DefaultEndpoint, whose keys are at the top.
	Name string
	// BaseURL includes the version: requests go to BaseURL/responses, for example. A query is
	// sent with each request. Default DefaultBaseURL.
	BaseURL string
	// APIKey is sent in the way of the API; empty sends none.
	APIKey string
	// KeySource is what a person changes so that another key is sent; empty if no key is
	// sent. Default OPENAI_API_KEY, if there is an APIKey.
	KeySource string
	// Transport adds to the transport of requests, such as a key and headers; nil adds
	// nothing. Its errors of type *llm.Error are passed on.
	Transport func(http.RoundTripper) http.RoundTripper
	// Proxy chooses the proxy of a request; nil follows the environment.
	Proxy func(*http.Request) (*url.URL, error)
	// Redact removes secrets from the text of endpoints; nil removes APIKey and Headers
	// alone.
	Redact func(text string) string
	// API is one of the APIs. Default: the host's own, which is chat for most.
	API string
	// Headers are sent with every request. Their values are secret.
	Headers map[string]string
	// FirstByteTimeout is how long an answer may take to begin. Default
	// DefaultFirstByteTimeout.
	FirstByteTimeout time.Duration
	// IdleTimeout is how long an answer may pause. Default DefaultIdleTimeout.
	IdleTimeout time.Duration
	// UserAgent names the program. Default "podd".
	UserAgent string
	// Dial makes the connections. Default: a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Quirks are rows that the built-in table lacks.
	Quirks []Quirk
	// Override replaces single quirks of all its models.
	Override Override
	// Logger gets one debug line per request. Default: none.
	Logger *slog.Logger
	// Now is the clock of waits. Default time.Now.
	Now func() time.Time
}

// Endpoint is a validated Config.
type Endpoint struct {
	Config
	Base *url.URL
	// OpenAI says that this is OpenAI's own service.
	OpenAI bool
	// path follows the base in the address of requests, query the path.
	path  string
	query url.Values
	// model is the one that a request asks, made safe for messages; empty outside of one.
	model string
}

// validate sets the defaults. apis are those of the adapter. Its errors name what to
// change.
func (c Config) validate(apis []string) (*Endpoint, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	base, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	query := base.Query()
	base.RawQuery = ""
	e := &Endpoint{Config: c, Base: base, query: query, OpenAI: isOpenAI(base.Hostname())}
	if e.API == "" {
		e.API = DefaultAPI(c.BaseURL)
		if !slices.Contains(apis, e.API) {
			e.API = apis[0]
		}
	}
	if !slices.Contains(apis, e.API) {
		return nil, fmt.Errorf("api is %q; it must be %s", c.API, oneOf(apis))
	}
	if e.APIKey != "" {
		e.KeySource = cmp.Or(e.KeySource, "OPENAI_API_KEY")
	}
	if e.FirstByteTimeout <= 0 {
		e.FirstByteTimeout = DefaultFirstByteTimeout
	}
	if e.IdleTimeout <= 0 {
		e.IdleTimeout = DefaultIdleTimeout
	}
	if e.Dial == nil {
		e.Dial = (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	}
	if e.UserAgent == "" {
		e.UserAgent = "podd"
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.Logger == nil {
		e.Logger = slog.New(slog.DiscardHandler)
	}
	return e, nil
}

// oneOf lists quoted words.
func oneOf(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, " or ")
}

// DefaultAPI is the API of a base URL that the configuration does not name: the host's
// own, which is chat for most.
func DefaultAPI(baseURL string) string {
	if baseURL == "" {
		baseURL = DefaultBaseURL
	}
	if base, err := parseBase(baseURL); err == nil {
		if api := quirksOf(base.Hostname(), "", builtin().Quirks).API; api != "" {
			return api
		}
	}
	return APIChat
}

// isHost also accepts subdomains.
func isHost(host, name string) bool {
	host = strings.ToLower(host)
	return host == name || strings.HasSuffix(host, "."+name)
}

func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the base URL cannot be read; write it like %s", DefaultBaseURL)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("the base URL %q has no http:// or https:// and host; write it like %s", u.Redacted(), DefaultBaseURL)
	case u.Fragment != "":
		return nil, fmt.Errorf("the base URL %q has a fragment; write it like %s", u.Redacted(), DefaultBaseURL)
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	return u, nil
}

// named says whether the endpoint has a table of its own in the configuration.
func (e *Endpoint) named() bool { return e.Name != "" && e.Name != item.DefaultEndpoint }

// setting is a key of the endpoint in the configuration.
func (e *Endpoint) setting(key string) string {
	if !e.named() {
		return key
	}
	return "endpoints." + e.Name + "." + key
}

// modelSetting is a key of the model that is asked.
func (e *Endpoint) modelSetting(key string) string {
	if e.model == "" {
		return key
	}
	model := e.model
	if e.named() {
		model = e.Name + "/" + model
	}
	return `models."` + model + `".` + key
}

// keySetting is what to change so that another key is sent.
func (e *Endpoint) keySetting() string {
	if e.KeySource == "" && e.named() {
		return e.setting("key_env")
	}
	return cmp.Or(e.KeySource, "OPENAI_API_KEY")
}

// addKey is what to do so that a key is sent where none is set. podd reads its environment only
// when it starts.
func (e *Endpoint) addKey() string {
	if e.named() {
		return "set " + e.setting("key_env")
	}
	return "start podd again with OPENAI_API_KEY in its environment, or set api_key_file"
}

// IsOpenAI says whether an address is one of OpenAI's own service.
func IsOpenAI(baseURL string) bool {
	u, err := url.Parse(baseURL)
	return err == nil && isOpenAI(u.Hostname())
}

// isOpenAI also accepts the hosts of data residency, such as eu.api.openai.com.
func isOpenAI(host string) bool { return isHost(host, "api.openai.com") }
