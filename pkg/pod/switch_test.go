package pod_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
)

// land is a house with an endpoint of each API. All of them have a model m, and refuse what
// another one thought.
type land struct {
	*house
	f *faulty
	// answers replies to a request at an endpoint; n counts all requests, from 1.
	answers func(endpoint string, n int) scripted.Reply

	mu   sync.Mutex
	came []string
}

func newLand(t *testing.T, answers func(endpoint string, n int) scripted.Reply, config ...func(*options)) *land {
	t.Helper()
	l := &land{answers: answers}
	router := &llm.Router{Default: "chat", Endpoints: make(map[string]llm.Endpoint)}
	names := map[string]string{"chat": openai.APIChat, "other": openai.APIChat, "resp": openai.APIResponses, "mess": anthropic.API}
	for name, api := range names {
		server, err := scripted.Serve(scripted.Config{Handler: func(_ context.Context, r scripted.Request) scripted.Reply { return l.reply(name, r) }})
		if err != nil {
			t.Fatal(err)
		}
		client := connect(t, api, server.URL(), nil)
		t.Cleanup(func() {
			client.Close()
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
		router.Endpoints[name] = llm.Endpoint{Model: client}
	}
	// Nothing listens at port 1.
	dead := connect(t, openai.APIChat, "http://127.0.0.1:1/v1", nil)
	t.Cleanup(dead.Close)
	router.Endpoints["dead"] = llm.Endpoint{Model: dead}
	l.house, l.f = newFaultyHouse(t, steps(), append([]func(*options){func(c *options) { c.Router = router }}, config...)...)
	return l
}

// reply notes a request as ENDPOINT:THOUGHTS of the endpoint's own.
func (l *land) reply(name string, r scripted.Request) scripted.Reply {
	l.mu.Lock()
	own := bytes.Count(r.Body, []byte("thought of "+name))
	l.came = append(l.came, fmt.Sprintf("%s:%d", name, own))
	n := len(l.came)
	l.mu.Unlock()
	if all := bytes.Count(r.Body, []byte("thought of ")); all != own {
		return scripted.Fail(400, "invalid_request_error", "the reasoning is of another service", 0)
	}
	return l.answers(name, n)
}

func (l *land) move(t *testing.T, model string) {
	t.Helper()
	_, err := l.host.Update(t.Context(), "p", func(s item.PodSpec) (item.PodSpec, error) {
		s.Model = model
		return s, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (l *land) check(t *testing.T, want string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if got := strings.Join(l.came, " "); got != want {
		t.Errorf("requests %s, want %s", got, want)
	}
}

// A pod moves between endpoints of all APIs and back, over restarts. Each gets its own
// reasoning, and none another's, although all call their models m.
func TestReasoningIsForItsEndpointOnly(t *testing.T) {
	l := newLand(t, func(name string, n int) scripted.Reply {
		if n%2 == 1 {
			return scripted.Say(scripted.Reasoning("thought of "+name), shell("true"))
		}
		return scripted.Say(scripted.Text("done"))
	})
	for _, name := range []string{"chat", "resp", "mess", "other", "chat", "mess", "resp"} {
		l.move(t, name+"/m")
		if end := l.run("go"); end.Outcome != item.OutcomeFinished {
			t.Errorf("at %s: %+v", name, end)
		}
		l.restart()
	}
	l.check(t, "chat:0 chat:1 resp:0 resp:1 mess:0 mess:1 other:0 other:1 chat:1 chat:2 mess:1 mess:2 resp:1 resp:2")
	var setups []string
	for _, s := range kinds[item.Setup](l.log()) {
		setups = append(setups, s.ModelRef().String()+" "+s.API)
	}
	if got := strings.Join(setups, ", "); got != "chat/m chat, resp/m responses, mess/m messages, other/m chat, chat/m chat, mess/m messages, resp/m responses" {
		t.Errorf("setups %s", got)
	}
	for i, u := range kinds[item.RequestUsage](l.log()) {
		if want := strings.Split(l.came[i], ":")[0]; u.Endpoint != want || u.Asked != "m" {
			t.Errorf("request %d is billed to %s/%s", i+1, u.Endpoint, u.Asked)
		}
	}
}

// A turn falls back to an endpoint of another API in its middle, and goes on there after
// podd was killed. The next turn sends nothing to the first, whose wait lasts.
func TestFallbackToAnotherEndpointOverAKill(t *testing.T) {
	asked := make(chan struct{})
	var waits atomic.Bool
	l := newLand(t, func(name string, n int) scripted.Reply {
		switch {
		case n == 2:
			return scripted.Fail(429, "rate_limit_exceeded", "busy", time.Hour)
		case n == 3:
			return scripted.Say(scripted.Reasoning("thought of "+name), shell("true"))
		case n == 4 && !waits.Swap(true):
			close(asked)
			return scripted.Say(scripted.Wait(make(chan struct{})))
		case n == 1:
			return scripted.Say(scripted.Reasoning("thought of "+name), shell("true"))
		}
		return scripted.Say(scripted.Text("done"))
	}, func(c *options) {
		c.Fallbacks = []item.ModelRef{{Endpoint: "mess", Model: "m"}}
	})
	s := l.submit("go")
	<-asked
	l.kill(l.f)
	if end := l.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if end := l.run("again"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	l.check(t, "chat:0 chat:1 mess:0 mess:1 mess:1 mess:1")
}

// Where an endpoint refuses the key or cannot be reached, a fallback at another endpoint
// answers; one at the same endpoint would not.
func TestFallbackWhereTheEndpointIsTheProblem(t *testing.T) {
	l := newLand(t, func(name string, _ int) scripted.Reply {
		if name == "chat" {
			return scripted.Fail(401, "invalid_api_key", "wrong key", 0)
		}
		return scripted.Say(scripted.Text("done"))
	}, func(c *options) {
		c.Fallbacks = []item.ModelRef{{Endpoint: "chat", Model: "m2"}, {Endpoint: "resp", Model: "m"}}
	})
	if end := l.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	l.check(t, "chat:0 resp:0")
	l.move(t, "dead/m")
	if end := l.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	l.check(t, "chat:0 resp:0 chat:0 resp:0")
}

// The endpoint of a pod's model stays the pod's. Without it its turns fail and go nowhere
// else.
func TestEndpointIsGone(t *testing.T) {
	l := newLand(t, func(string, int) scripted.Reply { return scripted.Say(scripted.Text("done")) })
	l.move(t, "resp/m")
	l.reload(func(c *options) { c.Router = llm.One(c.Router.Endpoints["chat"].Model) })
	if end := l.run("go"); end.Outcome != item.OutcomeFailed || end.Reason != "NO_MODEL" || !strings.Contains(end.Cause, "[endpoints.resp]") {
		t.Errorf("end %+v", end)
	}
	// A change of something else keeps the model and its endpoint.
	if p, err := l.host.Update(t.Context(), "p", func(s item.PodSpec) (item.PodSpec, error) { s.Instructions = "Be brief."; return s, nil }); err != nil || p.Spec.Endpoint != "resp" {
		t.Errorf("%+v, %v", p.Spec, err)
	}
	l.move(t, "m")
	if end := l.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	l.check(t, "chat:0")
}
