package pod_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// reader is an interceptor that records the conversation at each edge that has one.
type reader struct {
	t *testing.T
	// saw is what it read last, by edge: all items, and those of the turn.
	saw map[string][2][]string
}

func (r *reader) edges() *edges {
	return &edges{
		submit: func(s interceptor.Submit) interceptor.SubmitVerdict {
			r.look("submit "+s.Text, s.Conversation)
			return s.Continue()
		},
		request: func(q interceptor.Request) interceptor.RequestVerdict {
			r.look(fmt.Sprintf("request %d.%d", q.Turn, q.Step), q.Conversation)
			return q.Continue()
		},
		end: func(e interceptor.Turn) interceptor.TurnVerdict {
			r.look(fmt.Sprintf("end %d", e.Turn), e.Conversation)
			return e.Finish()
		},
	}
}

func (r *reader) look(edge string, c interceptor.Conversation) {
	r.saw[edge] = [2][]string{r.read(c.History()), r.read(c.ThisTurn())}
	for range c.History() {
		break
	}
}

// read returns each item in a few words, after the number of its turn.
func (r *reader) read(past iter.Seq2[interceptor.Past, error]) []string {
	var said []string
	last := item.Seq(0)
	for p, err := range past {
		if err != nil {
			r.t.Error(err)
			break
		}
		if p.Seq <= last {
			r.t.Errorf("#%d comes after #%d", p.Seq, last)
		}
		last = p.Seq
		text := ""
		switch it := p.Item.(type) {
		case item.UserMessage:
			text = it.Text
		case item.SystemMessage:
			text = it.Origin
		case item.AssistantMessage:
			text = it.Text
		case item.ToolCall:
			text = it.Name
		case item.ToolResult:
			text = fmt.Sprintf("%s gave %d bytes", it.Tool, len(it.Content))
		}
		said = append(said, fmt.Sprintf("%d %s", p.Turn, text))
	}
	return said
}

func (r *reader) want(edge string, all, turn []string) {
	r.t.Helper()
	got, ok := r.saw[edge]
	if !ok || !slices.Equal(got[0], all) || !slices.Equal(got[1], turn) {
		r.t.Errorf("at %s\n%q\n%q\nwant\n%q\n%q", edge, got[0], got[1], all, turn)
	}
}

// An interceptor reads the effective items of the log: calls and results with all of
// their content, also before a compaction and over a restart, and nothing that a rewind
// undid.
func TestInterceptorsReadHistory(t *testing.T) {
	r := &reader{t: t, saw: map[string][2][]string{}}
	turns := func(_ context.Context, q scripted.Request) scripted.Reply {
		if q.LastUser() == "one" && q.Messages[len(q.Messages)-1].CallID == "" {
			return scripted.Say(scripted.Call{Name: "read_file", Arguments: `{"path":"a.txt"}`})
		}
		return scripted.Say(scripted.Text("done"))
	}
	h := newHouse(t, summarizer(1<<30, turns), tight, with(r.edges()))
	h.write("a.txt", strings.Repeat("x", 5000)+"\n")
	h.run("one")
	one := []string{"1 one", "1 read_file", "1 read_file gave 5003 bytes", "1 done"}
	r.want("submit one", nil, nil)
	r.want("request 1.1", one[:1], one[:1])
	r.want("request 1.2", one[:3], one[:3])
	r.want("end 1", one, one)

	kept := h.seqOf(ended)
	h.run("two")
	r.want("submit two", one, nil)
	r.want("end 2", append(slices.Clip(one), "2 two", "2 done"), []string{"2 two", "2 done"})
	if _, err := h.host.Rewind(t.Context(), "p", kept); err != nil {
		t.Fatal(err)
	}
	h.compact()
	h.run("three")
	three := []string{"3 three", "3 done"}
	r.want("submit three", one, nil)
	r.want("end 3", append(slices.Clip(one), three...), three)

	h.restart()
	h.run("four")
	r.want("request 4.1", slices.Concat(one, three, []string{"4 four"}), []string{"4 four"})
}

// A turn that resumes after a restart has the items of its first part.
func TestHistoryOfATurnThatGoesOn(t *testing.T) {
	r := &reader{t: t, saw: map[string][2][]string{}}
	asked := make(chan struct{})
	var again atomic.Bool
	h := newHouse(t, func(ctx context.Context, q scripted.Request) scripted.Reply {
		switch {
		case q.Steps() == 0:
			return scripted.Say(shell("true"))
		case !again.Swap(true):
			close(asked)
			<-ctx.Done()
		}
		return scripted.Say(scripted.Text("done"))
	}, with(r.edges()))
	s := h.submit("go")
	<-asked
	h.restart()
	h.ended(s)
	all := []string{"1 go", "1 shell", "1 shell gave 0 bytes", "1 done"}
	r.want("end 1", all, all)
}
