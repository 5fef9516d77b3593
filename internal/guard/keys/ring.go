package keys

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"podd/pkg/llm"
)

// The headers that a key can go into.
const (
	Bearer  = "bearer"
	XAPIKey = "x-api-key"
	APIKey  = "api-key"
)

// maxRefusal is how much of a refusal is read so that its connection can be used again.
const maxRefusal = 64 << 10

// Ring has the key of one endpoint.
type Ring struct {
	Config

	// turn is held while the key is read or looked at.
	turn chan struct{}
	key  string
	// until is when the key of a command ends; zero for others. stale says that it has ended
	// already.
	until time.Time
	stale atomic.Bool
}

// Config is what a Ring is made from.
type Config struct {
	Source
	// Header is Bearer, XAPIKey or APIKey.
	Header string
	// Headers are sent with each request.
	Headers map[string]string
	// Learn is called with each key before it is used; may be nil.
	Learn func(key string)
}

// New makes a Ring. It reads nothing yet.
func New(c Config) *Ring {
	return &Ring{Config: c, turn: make(chan struct{}, 1), key: c.Value}
}

// Expire makes the next request run the command again.
func (r *Ring) Expire() { r.stale.Store(true) }

// Over adds the key and the headers to the requests of a transport.
func (r *Ring) Over(next http.RoundTripper) http.RoundTripper { return transport{r, next} }

// current is the key to send; may be empty.
func (r *Ring) current(ctx context.Context) (string, error) {
	return r.locked(ctx, func() (string, error) {
		stale := r.stale.Swap(false) && len(r.Command) > 0
		if r.key != "" && !stale && (r.until.IsZero() || time.Now().Before(r.until)) {
			return r.key, nil
		}
		before := r.key
		if err := r.renew(ctx); err != nil && before == "" {
			return "", err
		}
		return r.key, nil
	})
}

// other is another key than a refused one; ok is false without one.
func (r *Ring) other(ctx context.Context, refused string) (key string, ok bool) {
	key, err := r.locked(ctx, func() (string, error) {
		if r.key == refused && r.changes() {
			if err := r.renew(ctx); err != nil {
				return "", err
			}
		}
		return r.key, nil
	})
	return key, err == nil && key != refused
}

// renew reads the key again. On an error the one before stays.
func (r *Ring) renew(ctx context.Context) error {
	key, err := r.read(ctx)
	if err != nil {
		return err
	}
	if r.Learn != nil {
		r.Learn(key)
	}
	if r.key = key; len(r.Command) > 0 {
		r.until = time.Now().Add(cmp.Or(r.TTL, DefaultTTL))
	}
	return nil
}

// locked runs f alone.
func (r *Ring) locked(ctx context.Context, f func() (string, error)) (string, error) {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-r.turn }()
	return f()
}

// transport adds a Ring to requests.
type transport struct {
	*Ring
	next http.RoundTripper
}

// RoundTrip sends a request, and once more with another key if the endpoint refuses the
// first and the source has another one by then.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	key, err := t.current(req.Context())
	if err == nil && key == "" && t.Setting != "" {
		err = &llm.Error{Class: llm.ClassNoKey, Message: "no key is set: set " + t.Setting + " and start podd again"}
	} else if err != nil && req.Context().Err() == nil {
		err = &llm.Error{Class: llm.ClassNoKey, Message: err.Error(), Cause: err}
	}
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	resp, err := t.next.RoundTrip(t.signed(req, key))
	if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden || req.Body != nil && req.GetBody == nil {
		return resp, err
	}
	other, ok := t.other(req.Context(), key)
	if !ok {
		return resp, nil
	}
	again := t.signed(req, other)
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return resp, nil //nolint:nilerr // The refusal is the answer.
		}
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxRefusal)
	_ = resp.Body.Close()
	return t.next.RoundTrip(again)
}

// signed is a request with headers and key.
func (t transport) signed(req *http.Request, key string) *http.Request {
	req = req.Clone(req.Context())
	for name, value := range t.Headers {
		req.Header.Set(name, value)
	}
	switch {
	case key == "":
	case t.Header == XAPIKey:
		req.Header.Set("X-Api-Key", key)
	case t.Header == APIKey:
		req.Header.Set("Api-Key", key)
	default:
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return req
}
