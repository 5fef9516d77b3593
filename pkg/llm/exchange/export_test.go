package exchange

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"podd/pkg/llm"
)

// Message is one event as the stream reader returns it.
type Message struct {
	Name, Data string
	Cut        bool
}

// ReadMessages reads a stream to its end.
func ReadMessages(r io.Reader) ([]Message, error) {
	s := newSSEReader(r)
	var out []Message
	for {
		ev, err := s.next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, Message{ev.name, string(ev.data), ev.cut})
	}
}

// Wait reads how long an endpoint asks to wait.
func Wait(h http.Header, body string, now time.Time) time.Duration {
	s := readSaid([]byte(body))
	s.hint(h, now)
	return s.wait
}

// ClassOfError is the class of an error with a status, 0 for one within a stream, by all
// rules but one; -1 leaves out none.
func ClassOfError(status int, body string, without int) llm.Class {
	s := readSaid([]byte(body))
	if status != 0 {
		s.status = status
	}
	s.hint(nil, time.Now())
	rules := slices.Clone(builtin().Errors)
	if without >= 0 {
		rules = slices.Delete(rules, without, without+1)
	}
	class, _ := classOf(rules, s)
	return class
}

// WordsOf is what an error says.
func WordsOf(body string) string { return readSaid([]byte(body)).message }

// ErrorRules describe the rules.
func ErrorRules() []string {
	var out []string
	for _, r := range builtin().Errors {
		out = append(out, fmt.Sprintf("%+v", r))
	}
	return out
}

// UsagePaths are the places of counts in a usage of an API.
func UsagePaths(api string) []string {
	var out []string
	for _, p := range builtin().Usage {
		if p.API == api {
			out = append(out, p.Path)
		}
	}
	return out
}

// Sources are where the rows of all tables are from.
func Sources() []string {
	var out []string
	t := builtin()
	for _, r := range t.Quirks {
		out = append(out, r.From)
	}
	for _, r := range t.Usage {
		out = append(out, r.From)
	}
	for _, r := range t.Waits {
		out = append(out, r.From)
	}
	for _, r := range t.Errors {
		out = append(out, r.From)
	}
	return out
}

// QuirksOf are the quirks of a model at an address.
func QuirksOf(t *testing.T, base, model string) Quirks {
	e, err := Config{BaseURL: base}.validate([]string{APIChat})
	if err != nil {
		t.Fatal(err)
	}
	return e.Quirks(model)
}

// Waits are the shared waits of an endpoint.
type Waits struct{ w *waits }

// NewWaits begins without a wait.
func NewWaits() Waits { return Waits{&waits{now: time.Now, held: make(map[string]*held)}} }

// Send is a request: answer is called when it leaves, and returns how it ends; it may call
// begin when its answer begins.
func (w Waits) Send(ctx context.Context, model string, answer func(begin func()) error) error {
	p, err := w.w.enter(ctx, model)
	if err != nil {
		return err
	}
	err = answer(p.answered)
	p.ended(err)
	return err
}

// Held is how many models wait.
func (w Waits) Held() int { return len(w.w.held) }

// QuirkRows are the built-in rows about hosts and models.
func QuirkRows() []Quirk { return builtin().Quirks }

// QuirksWithout are the quirks of a model at a host by all rows but one; -1 leaves out none.
func QuirksWithout(host, model string, row int) Quirks {
	rows := slices.Clone(builtin().Quirks)
	if row >= 0 {
		rows = slices.Delete(rows, row, row+1)
	}
	return quirksOf(host, model, rows)
}
