package openai_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"podd/pkg/llm"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
)

func TestConformance(t *testing.T) {
	for _, api := range []string{openai.APIChat, openai.APIResponses} {
		t.Run(api, func(t *testing.T) {
			llmtest.Run(t, func(t *testing.T, answers ...llmtest.Answer) llmtest.Endpoint {
				return open(t, api, answers)
			})
		})
	}
}

// open serves answers with the scripted model.
func open(t *testing.T, api string, answers []llmtest.Answer) llmtest.Endpoint {
	t.Helper()
	var next atomic.Int64
	srv, err := scripted.Serve(scripted.Config{Handler: func(context.Context, scripted.Request) scripted.Reply {
		return reply(answers[next.Add(1)-1])
	}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := openai.New(openai.Config{BaseURL: srv.URL(), API: api, APIKey: "sk-test-key"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return llmtest.Endpoint{Model: c, Requests: srv.Requests}
}

// reply is an answer of the suite in the words of the scripted model.
func reply(a llmtest.Answer) scripted.Reply {
	switch a.Ending {
	case llmtest.HTML:
		return scripted.HTML()
	case llmtest.BadKey:
		return scripted.Fail(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: sk-test-key.", 0)
	case llmtest.RateLimit:
		return scripted.Fail(http.StatusTooManyRequests, "rate_limit_exceeded", "Slow down.", llmtest.RetryAfter)
	case llmtest.Quota:
		return scripted.Fail(http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota.", 0)
	case llmtest.UnknownModel:
		return scripted.Fail(http.StatusNotFound, "model_not_found", "The model `x` does not exist.", 0)
	case llmtest.TooLong:
		return scripted.Fail(http.StatusBadRequest, "context_length_exceeded", "This model's maximum context length is 8192 tokens.", 0)
	case llmtest.Unavailable:
		return scripted.Fail(http.StatusServiceUnavailable, "", "Overloaded.", 0)
	case llmtest.Invalid:
		return scripted.Fail(http.StatusBadRequest, "invalid_value", "Bad temperature.", 0)
	}
	var r scripted.Reply
	if a.Reasoning != "" {
		r.Parts = append(r.Parts, scripted.Reasoning(a.Reasoning))
	}
	if a.Text != "" {
		r.Parts = append(r.Parts, scripted.Text(a.Text))
	}
	for _, c := range a.Calls {
		r.Parts = append(r.Parts, scripted.Call{Name: c.Name, Arguments: c.Arguments})
	}
	if end, ok := map[llmtest.Ending]scripted.Part{llmtest.Cut: scripted.Cut{}, llmtest.Reset: scripted.Reset{}, llmtest.Stall: scripted.Stall{}}[a.Ending]; ok {
		r.Parts = append(r.Parts, end)
	}
	r.Stop = map[llm.StopReason]string{llm.StopLength: "length", llm.StopFilter: "filter"}[a.Stop]
	if r.NoUsage = a.Usage.Requests == 0; !r.NoUsage {
		r.Usage = &a.Usage
	}
	return r
}
