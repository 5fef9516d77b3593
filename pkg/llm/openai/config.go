package openai

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// The defaults of Config.
const (
	// DefaultBaseURL is OpenAI itself.
	DefaultBaseURL = "https://api.openai.com/v1"
	// DefaultModel is what api.openai.com is asked for when no model is
	// configured. It calls tools through the Responses API only.
	DefaultModel = "gpt-6.1-sol"
	// DefaultFirstByteTimeout is long because a local server may read a long
	// prompt for minutes before it says anything.
	DefaultFirstByteTimeout = 10 * time.Minute
	// DefaultIdleTimeout is long because a model that reasons may be silent for
	// minutes. A dead connection is found sooner, by TCP keep-alive.
	DefaultIdleTimeout = 5 * time.Minute
)

// The APIs that a Client speaks.
const (
	APIResponses = "responses"
	APIChat      = "chat"
)

// Config says which endpoint a Client talks to. Nothing else does: no environment
// variable is read.
type Config struct {
	// BaseURL holds the version: requests go to BaseURL/responses or
	// BaseURL/chat/completions. Default DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token; empty sends no Authorization.
	APIKey string
	// API is APIResponses or APIChat. Default: responses at api.openai.com, chat
	// elsewhere.
	API string
	// Headers are sent with every request. Their values count as secrets.
	Headers map[string]string
	// FirstByteTimeout is how long an answer may take to begin. Default
	// DefaultFirstByteTimeout.
	FirstByteTimeout time.Duration
	// IdleTimeout is how long an answer may pause. Default DefaultIdleTimeout.
	IdleTimeout time.Duration
	// UserAgent names the program. Default "podd".
	UserAgent string
	// Logger gets one debug line a request. Default: none.
	Logger *slog.Logger
}

// endpoint is a validated Config.
type endpoint struct {
	Config
	base *url.URL
	// openAI says that this is OpenAI's own service.
	openAI bool
	quirks quirks
}

// validate fills in the defaults. Its errors name what to change.
func (c Config) validate() (endpoint, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	base, err := parseBase(c.BaseURL)
	if err != nil {
		return endpoint{}, err
	}
	e := endpoint{Config: c, base: base, openAI: isOpenAI(base.Hostname()), quirks: quirksOf(base.Hostname())}
	switch e.API {
	case APIResponses, APIChat:
	case "":
		e.API = APIChat
		if e.openAI {
			e.API = APIResponses
		}
	default:
		return endpoint{}, fmt.Errorf("api is %q; it must be %q or %q", c.API, APIResponses, APIChat)
	}
	if e.FirstByteTimeout <= 0 {
		e.FirstByteTimeout = DefaultFirstByteTimeout
	}
	if e.IdleTimeout <= 0 {
		e.IdleTimeout = DefaultIdleTimeout
	}
	if e.UserAgent == "" {
		e.UserAgent = "podd"
	}
	if e.Logger == nil {
		e.Logger = slog.New(slog.DiscardHandler)
	}
	return e, nil
}

func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the base URL cannot be read; write it like %s", DefaultBaseURL)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("the base URL %q has no http:// or https:// and host; write it like %s", u.Redacted(), DefaultBaseURL)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("the base URL %q has a query or fragment; write it like %s", u.Redacted(), DefaultBaseURL)
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	return u, nil
}

// isOpenAI also knows the hosts of data residency, such as eu.api.openai.com.
func isOpenAI(host string) bool {
	host = strings.ToLower(host)
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}
