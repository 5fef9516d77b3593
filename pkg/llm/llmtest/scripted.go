package llmtest

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
)

const key = "sk-test-key"

// Scripted is an Open whose endpoint is the scripted model: it has the errors and the
// streams of each API that package scripted serves. connect returns a model that sends
// the key to the base URL; it ends with t.
func Scripted(connect func(t *testing.T, baseURL, key string) llm.Model) Open {
	return func(t *testing.T, answers ...Answer) Endpoint {
		t.Helper()
		var next atomic.Int64
		srv, err := scripted.Serve(scripted.Config{Key: key, Handler: func(context.Context, scripted.Request) scripted.Reply {
			return reply(answers[next.Add(1)-1])
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := srv.Close(); err != nil {
				t.Error(err)
			}
		})
		return Endpoint{Model: connect(t, srv.URL(), key), Key: key, Requests: srv.Requests}
	}
}

// refusals are the errors of the scripted model.
var refusals = map[Ending]scripted.Reply{
	HTML:         scripted.HTML(),
	BadKey:       scripted.Fail(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+key+".", 0),
	RateLimit:    scripted.Fail(http.StatusTooManyRequests, "rate_limit_exceeded", "Slow down.", RetryAfter),
	Quota:        scripted.Fail(http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota.", 0),
	UnknownModel: scripted.Fail(http.StatusNotFound, "model_not_found", "The model `x` does not exist.", 0),
	TooLong:      scripted.Fail(http.StatusBadRequest, "context_length_exceeded", "This model's maximum context length is 8192 tokens.", 0),
	Unavailable:  scripted.Fail(http.StatusServiceUnavailable, "", "Overloaded.", 0),
	Invalid:      scripted.Fail(http.StatusBadRequest, "invalid_value", "Bad temperature.", 0),
}

// reply is an answer in the terms of the scripted model.
func reply(a Answer) scripted.Reply {
	if r, ok := refusals[a.Ending]; ok {
		return r
	}
	var r scripted.Reply
	if a.Sealed {
		r.Parts = append(r.Parts, scripted.Reasoning(""))
	}
	if a.Reasoning != "" {
		r.Parts = append(r.Parts, scripted.Reasoning(a.Reasoning))
	}
	if a.Text != "" {
		r.Parts = append(r.Parts, scripted.Text(a.Text))
	}
	for _, c := range a.Calls {
		r.Parts = append(r.Parts, scripted.Call{Name: c.Name, Arguments: c.Arguments})
	}
	if end, ok := map[Ending]scripted.Part{Cut: scripted.Cut{}, Reset: scripted.Reset{}, Stall: scripted.Stall{}}[a.Ending]; ok {
		r.Parts = append(r.Parts, end)
	}
	r.Stop = map[llm.StopReason]string{llm.StopLength: "length", llm.StopFilter: "filter"}[a.Stop]
	if r.NoUsage = a.Usage.Requests == 0; !r.NoUsage {
		r.Usage = &a.Usage
	}
	return r
}
