package scripted

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
)

// Script is a parsed script. It does not change after Parse, so many goroutines may use
// it.
type Script struct {
	models []string
	// said are the JSON objects that the list has for each of them, or empty.
	said      []string
	delay     time.Duration
	steps     []step
	branches  []branch
	otherwise *step
}

// branch has the steps for conversations that continue from a message with text.
type branch struct {
	text  string
	steps []step
}

// step is one answer.
type step struct {
	line    int
	expects []expect
	parts   []part
	fault   *fault
	stop    string
	usage   *item.Usage
	noUsage bool
}

// part is a part with the number of times that it applies; 0 means always.
type part struct {
	Part
	times int
}

// fault is an answer instead of the step's.
type fault struct {
	reply Reply
	times int
}

// expect is what a request must contain.
type expect struct {
	line       int
	what, text string
}

// Models are the models that the script knows; empty means any.
func (s *Script) Models() []string { return slices.Clone(s.models) }

// Reply answers a request; a Handler.
func (s *Script) Reply(_ context.Context, r Request) Reply {
	st, err := s.choose(r)
	if err != nil {
		return Fail(http.StatusBadRequest, "script", err.Error(), 0)
	}
	for _, e := range st.expects {
		if err := e.check(r); err != nil {
			return Fail(http.StatusBadRequest, "script", err.Error(), 0)
		}
	}
	if f := st.fault; f != nil && applies(f.times, r.Attempt) {
		return f.reply
	}
	reply := Reply{Delay: s.delay, Stop: st.stop, Usage: st.usage, NoUsage: st.noUsage}
	for _, p := range st.parts {
		if applies(p.times, r.Attempt) {
			reply.Parts = append(reply.Parts, p.Part)
		}
	}
	return reply
}

func applies(times, attempt int) bool { return times == 0 || attempt <= times }

// choose finds the step for a request, as the package documentation says.
func (s *Script) choose(r Request) (*step, error) {
	list, at := s.steps, r.Steps()
search:
	for i, m := range slices.Backward(r.Messages) {
		if m.Role != "user" {
			continue
		}
		for _, b := range s.branches {
			if strings.Contains(m.Text, b.text) {
				list, at = b.steps, steps(r.Messages[i:])
				break search
			}
		}
	}
	switch {
	case at < len(list):
		return &list[at], nil
	case s.otherwise != nil:
		return s.otherwise, nil
	}
	return nil, fmt.Errorf("the script has no step %d for this conversation and no otherwise; the last user message is %q", at+1, head(r.LastUser()))
}

// check says what is missing.
func (e expect) check(r Request) error {
	var got string
	switch e.what {
	case "user":
		got = r.LastUser()
	case "system":
		got = r.Instructions
	case "body":
		got = string(r.Body)
	case "tool":
		for _, m := range r.Results() {
			got += m.Text + "\n"
		}
	}
	if strings.Contains(got, e.text) {
		return nil
	}
	return fmt.Errorf("line %d of the script expects %s to hold %q; it is %q", e.line, e.what, e.text, head(got))
}

// head shortens text for a message.
func head(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
