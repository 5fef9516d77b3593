package pod_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

const riskSchema = `{"type":"object","properties":{"risk":{"enum":["low","high"]}},"required":["risk"],"additionalProperties":false}`

// asks submits text for a turn whose last answer must match a schema.
func (h *house) asks(text, schema string) pod.Submitted {
	h.t.Helper()
	got, err := h.host.Submit(h.t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: text}}, AnswerSchema: schema})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

// corrections is how many wrong answers went back to the model.
func corrections(r scripted.Request) int {
	return bytes.Count(r.Body, []byte("does not match the JSON Schema"))
}

// judges answers wrongly twice, then rightly.
func judges(_ context.Context, r scripted.Request) scripted.Reply {
	answers := []scripted.Part{scripted.Text("The risk is low."), scripted.Text(`{"risk":"middle"}`), scripted.Text(`{"risk":"low"}`)}
	return scripted.Say(answers[min(corrections(r), 2)])
}

// A wrong answer goes back with what is wrong, in both APIs; each request extends the one
// before, over turns with another schema or none that wait in the queue, and over a restart.
func TestWrongAnswersGoBack(t *testing.T) {
	for _, api := range []string{"chat", "responses"} {
		t.Run(api, func(t *testing.T) {
			var client *openai.Client
			held, go1 := make(chan struct{}), make(chan struct{})
			h := newHouse(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
				switch {
				case strings.Contains(r.LastUser(), "in words"):
					return scripted.Say(scripted.Text("in words"))
				case strings.Contains(string(r.Body), "a list"):
					return scripted.Say(scripted.Text(`[1]`))
				case len(r.Results()) == 0 && corrections(r) == 0:
					close(held)
					return scripted.Say(scripted.Wait(go1), shell("true"))
				}
				return judges(ctx, r)
			}, func(c *options) {
				if client != nil {
					c.Router = llm.One(client)
				}
			})
			var err error
			if client, err = openai.New(openai.Config{BaseURL: h.model.URL(), API: api}); err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			h.restart()
			first := h.asks("judge it", riskSchema)
			<-held
			second, third := h.submit("in words"), h.asks("a list", `{"type":"array"}`)
			close(go1)
			for _, s := range []pod.Submitted{first, second, third} {
				if end := h.ended(s); end.Outcome != item.OutcomeFinished {
					t.Errorf("end %+v", end)
				}
			}
			h.restart()
			h.run("in words again")
			want := []string{
				"the answer does not match its schema and goes back to the model (1 of 3): the answer is not valid JSON: invalid character 'T' looking for beginning of value (at byte 1)",
				"the answer does not match its schema and goes back to the model (2 of 3): /properties/risk: enum: middle does not equal any of: [low high]",
			}
			if got := h.warned(); !slices.Equal(got, want) {
				t.Errorf("alerts %q", got)
			}
			requests := h.model.Requests()
			if len(requests) != 7 {
				t.Fatalf("%d requests", len(requests))
			}
			for i := 1; i < len(requests); i++ {
				if !bytes.HasPrefix(requests[i], bytes.TrimRight(requests[i-1], "]}")) {
					t.Errorf("request %d does not extend the one before:\n%s\n%s", i+1, requests[i-1], requests[i])
				}
			}
			if n := bytes.Count(requests[6], []byte("must be one JSON value that matches this JSON Schema")); n != 2 {
				t.Errorf("the schemas were sent %d times", n)
			}
		})
	}
}

// Wherever podd is killed, a wrong answer goes back once, and none is forgotten.
func TestWrongAnswersGoBackOverAKill(t *testing.T) {
	const want = "UserMessage SystemMessage AssistantMessage SystemMessage AssistantMessage SystemMessage AssistantMessage"
	for n, more := 1, true; more; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			h, f := newFaultyHouse(t, judges)
			c := &countdown{left: n, hit: make(chan struct{}), refuse: true}
			f.set(c.check)
			s := h.asks("judge it", riskSchema)
			ended := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer close(ended)
				for e := range h.follow(ctx, s.Seq) {
					if _, ok := e.Kind.(item.TurnEnded); ok {
						return
					}
				}
			}()
			select {
			case <-c.hit:
			case <-ended:
				more = false
			}
			cancel()
			<-ended
			h.kill(f)
			if end := h.ended(s); end.Outcome != item.OutcomeFinished {
				t.Errorf("end %+v", end)
			}
			if got := shape(h.log()); got != want {
				t.Errorf("the conversation is\n%s\nwant\n%s", got, want)
			}
			if got := h.warned(); len(got) < 2 || !strings.Contains(strings.Join(got, "\n"), "(2 of 3)") || strings.Contains(strings.Join(got, "\n"), "(3 of 3)") {
				t.Errorf("alerts %q", got)
			}
		})
		if !more && n < 6 {
			t.Errorf("a turn of three steps has only %d write points", n-1)
		}
	}
}

// Three corrections are enough; the next turn is free.
func TestTheFourthWrongAnswerFailsTheTurn(t *testing.T) {
	h := newHouse(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("no")) })
	end := h.ended(h.asks("judge it", riskSchema))
	h.wantEnd(end, item.OutcomeFailed, "ANSWER_SCHEMA", "the last answer does not match its schema after 3 corrections: the answer is not valid JSON: ")
	if n := len(h.model.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
	if end := h.run("in words"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// A prompt that steers is held to the schema of the turn that it joins, and interceptors see
// no wrong answer at the end.
func TestASteeredTurnIsHeldToItsSchema(t *testing.T) {
	var seen []string
	asked, steered := make(chan struct{}), make(chan struct{})
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if corrections(r) == 0 && !strings.Contains(string(r.Body), "more of it") {
			close(asked)
			return scripted.Say(scripted.Wait(steered), scripted.Text("no value"))
		}
		if corrections(r) == 0 {
			return scripted.Say(scripted.Text("still no value"))
		}
		return scripted.Say(scripted.Text(`{"risk":"low"}`))
	}, with(&edges{end: func(e interceptor.Turn) interceptor.TurnVerdict {
		seen = append(seen, e.Answer)
		return e.Finish()
	}}))
	s := h.asks("judge it", riskSchema)
	<-asked
	h.steer("more of it")
	close(steered)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || len(h.warned()) != 1 {
		t.Errorf("end %+v, alerts %q", end, h.warned())
	}
	if len(seen) != 1 || seen[0] != `{"risk":"low"}` {
		t.Errorf("interceptors saw %q", seen)
	}
}

// Each request has the schema: after a compaction in the middle, and to a fallback.
func TestTheSchemaOutlivesCompactionAndFallback(t *testing.T) {
	calls := 0
	h := newHouse(t, summarizer(60_000, func(_ context.Context, r scripted.Request) scripted.Reply {
		if !strings.Contains(string(r.Body), `\"risk\":{\"enum\"`) {
			t.Errorf("a request lacks the schema: %s", r.Body)
		}
		switch calls++; {
		case calls <= 12:
			return scripted.Say(shell(fmt.Sprintf("cat big.txt; echo %d", calls)))
		case r.Model == "m":
			return scripted.Fail(429, "rate_limit_exceeded", "m is busy", time.Hour)
		case corrections(r) == 0:
			return scripted.Say(scripted.Text("The risk is low."))
		}
		return scripted.Say(scripted.Text(`{"risk":"low"}`))
	}), func(c *options) {
		c.Prune.Mode, c.Compaction.KeepTokens, c.Fallbacks = "off", 1, refs("m2")
	})
	h.writeBig()
	if end := h.ended(h.asks("judge it", riskSchema)); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if n := len(kinds[item.Compaction](h.log())); n == 0 {
		t.Error("nothing was compacted")
	}
}

// A fork that cuts the turn is held to the schema when it is resumed.
func TestAResumedTurnKeepsItsSchema(t *testing.T) {
	h := newHouse(t, judges)
	s := h.asks("judge it", riskSchema)
	h.ended(s)
	at := item.Seq(0)
	for _, e := range h.log() {
		if k, ok := e.Kind.(item.ItemAdded); ok && at == 0 {
			if _, ok := k.Item.(item.AssistantMessage); ok {
				at = e.Seq
			}
		}
	}
	if _, err := h.host.Fork(t.Context(), "p", "q", at); err != nil {
		t.Fatal(err)
	}
	if _, err := h.host.Resume(t.Context(), "q"); err != nil {
		t.Fatal(err)
	}
	for e := range h.followPod(t.Context(), "q", at) {
		if k, ok := e.Kind.(item.TurnEnded); ok && k.Outcome != item.OutcomeInterrupted {
			break
		}
	}
	if started := kinds[item.TurnStarted](h.logOf("q")); len(started) != 2 || started[1].AnswerSchema != riskSchema {
		t.Errorf("the turns are %+v", started)
	}
}

func TestSubmitsWithABadSchemaAreRefused(t *testing.T) {
	h := newHouse(t, judges)
	for _, c := range []struct {
		schema string
		mode   item.SubmitMode
		reason string
	}{
		{" ", "", "BAD_SCHEMA"},
		{`{"type":"strnig"}`, "", "BAD_SCHEMA"},
		{`{"description":"` + strings.Repeat("a", 32<<10) + `"}`, "", "BAD_SCHEMA"},
		{riskSchema, item.ModeSteer, "SCHEMA_STEER"},
	} {
		_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "x"}}, AnswerSchema: c.schema, Mode: c.mode})
		if item.ReasonOf(err) != c.reason || item.KindOf(err) != item.KindInvalid {
			t.Errorf("%.40q in mode %q gives %v", c.schema, c.mode, err)
		}
	}
	if log := h.log(); len(log) != 0 {
		t.Errorf("the log has %d entries", len(log))
	}
	// A request id covers the schema.
	s := pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "x"}}, AnswerSchema: riskSchema, RequestID: "r"}
	first, err := h.host.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	h.ended(first)
	if again, err := h.host.Submit(t.Context(), s); err != nil || !again.Duplicate {
		t.Errorf("%+v, %v", again, err)
	}
	s.AnswerSchema = ""
	if _, err := h.host.Submit(t.Context(), s); item.ReasonOf(err) != "REQUEST_ID_TAKEN" {
		t.Errorf("another schema gives %v", err)
	}
}
