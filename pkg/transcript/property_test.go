package transcript_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/transcript"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// session is a pod at work: the messages of its stream, and what is in flight after each.
type session struct {
	messages []*poddv1.StreamResponse
	flights  [][]item.Delta
	flight   []item.Delta
	seq      item.Seq
}

func (s *session) say(m *poddv1.StreamResponse) {
	s.messages = append(s.messages, m)
	s.flights = append(s.flights, slices.Clone(s.flight))
}

func (s *session) entry(k item.Kind) {
	s.seq++
	s.say(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Entry{Entry: wire.EntryToProto(item.Entry{Seq: s.seq, Turn: 1, Kind: k})}})
}

func (s *session) item(block string, it item.Item) {
	s.flight = slices.DeleteFunc(s.flight, func(d item.Delta) bool { return d.Block == block })
	s.entry(item.ItemAdded{Item: it})
}

func (s *session) delta(d item.Delta) {
	d.Turn = 1
	switch i := slices.IndexFunc(s.flight, func(f item.Delta) bool { return f.Block == d.Block }); {
	case d.Restarted:
		s.flight = slices.DeleteFunc(s.flight, func(f item.Delta) bool { return f.Step == d.Step })
	case i < 0:
		s.flight = append(s.flight, d)
	default:
		s.flight[i].Text += d.Text
	}
	s.say(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Delta{Delta: wire.DeltaToProto(d)}})
}

// play makes a session: turns with steps, whose answers are cut, whose calls ask and
// print.
func play(t *rapid.T) *session {
	s := &session{}
	words := rapid.StringMatching(`[a-zäß ]{1,8}`)
	fragments := func(d item.Delta) string {
		text := ""
		for range rapid.IntRange(0, 3).Draw(t, "fragments") {
			d.Text = words.Draw(t, "fragment")
			text += d.Text
			s.delta(d)
		}
		return text
	}
	maybe := func(what string) bool { return rapid.Bool().Draw(t, what) }
	s.entry(item.Submitted{RequestID: "r", Text: "first"})
	s.entry(item.TurnStarted{RequestIDs: []string{"r"}})
	s.entry(item.ItemAdded{Item: item.UserMessage{Text: "first"}})
	for step := range rapid.IntRange(1, 3).Draw(t, "steps") {
		named := func(what string) string { return fmt.Sprintf("s%d.%s", step, what) }
		for maybe("cut") {
			fragments(item.Delta{Step: step, Block: named("text"), Kind: item.DeltaText})
			s.delta(item.Delta{Step: step, Restarted: true, Text: "cut"})
			if maybe("the end of the session") {
				return s
			}
		}
		thought := fragments(item.Delta{Step: step, Block: named("thought"), Kind: item.DeltaReasoning})
		answer := fragments(item.Delta{Step: step, Block: named("text"), Kind: item.DeltaText})
		fragments(item.Delta{Step: step, Block: named("call"), Kind: item.DeltaToolArguments, Tool: "shell"})
		if maybe("other client") {
			s.entry(item.Submitted{RequestID: named("r"), Text: "more"})
		}
		if maybe("the end of the session") {
			return s
		}
		s.item(named("thought"), item.Reasoning{Text: thought})
		s.item(named("text"), item.AssistantMessage{Text: answer + words.Draw(t, "rest")})
		id := named("id")
		s.item(named("call"), item.ToolCall{CallID: id, Name: "shell", Arguments: "{}"})
		if maybe("asks") {
			s.entry(item.ApprovalRequested{CallID: id, Tool: "shell", Arguments: "{}", Digest: "d", Question: "?"})
			s.entry(item.AlertRaised{Alert: item.Alert{Reason: item.ReasonApprovalWaits}})
			s.entry(item.ApprovalResolved{CallID: id, Approved: true})
		}
		s.entry(item.ToolStarted{CallID: id, Tool: "shell", Arguments: "{}"})
		out := fragments(item.Delta{Step: step, Block: named("out"), Kind: item.DeltaToolOutput, CallID: id, Tool: "shell"})
		if maybe("the end of the session") {
			return s
		}
		s.item(named("out"), item.ToolResult{CallID: id, Tool: "shell", Output: item.Output{Summary: "exit 0", Content: out}})
		if maybe("joined") {
			s.entry(item.Promoted{RequestIDs: []string{named("r")}})
			s.entry(item.ItemAdded{Item: item.UserMessage{Text: "more"}})
		}
	}
	s.entry(item.TurnEnded{Outcome: item.OutcomeFinished})
	return s
}

// said is the content of blocks: without the names of those that were live, in the order
// of the log, and without what no log has.
func said(blocks []transcript.Block) string {
	var lines []string
	for _, b := range blocks {
		if b.Code == transcript.CodeCut {
			continue
		}
		if !strings.Contains("scu", b.ID[:1]) {
			b.ID = ""
		}
		lines = append(lines, fmt.Sprintf("%09d %+v", cmp.Or(b.Seq, 999_999_999), b))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// However often and wherever the stream breaks, the blocks are in the end those of the
// whole stream. Changes add up to the blocks all the way, and an append-only renderer
// prints each answer whole.
func TestBrokenStreamsGiveTheSameBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := play(t)
		whole := transcript.New(transcript.Options{})
		for _, m := range s.messages {
			whole.Apply(m)
		}
		broken := transcript.New(transcript.Options{})
		var m mirror
		apply := func(r *poddv1.StreamResponse) {
			m.take(t, broken.Apply(r))
			if got, want := fmt.Sprint(m.shown()), fmt.Sprint(broken.Blocks()); got != want {
				t.Fatalf("the changes add up to\n%s\nthe blocks are\n%s", got, want)
			}
		}
		at := 0
		for at < len(s.messages) {
			if !rapid.Bool().Draw(t, "breaks") {
				apply(s.messages[at])
				at++
				continue
			}
			if at > 0 {
				broken.Lost()
			}
			// What happened meanwhile comes without its fragments, and some entries after the
			// mark.
			back := rapid.IntRange(at, len(s.messages)).Draw(t, "back")
			mark := rapid.IntRange(at, back).Draw(t, "mark")
			for ; at < back; at++ {
				if at == mark {
					apply(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_CaughtUp{CaughtUp: &poddv1.CaughtUp{}}})
				}
				if s.messages[at].GetEntry() != nil {
					apply(s.messages[at])
				}
			}
			if at == mark {
				apply(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_CaughtUp{CaughtUp: &poddv1.CaughtUp{}}})
			}
			if at > 0 && len(s.flights[at-1]) > 0 {
				apply(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_InFlight{InFlight: wire.InFlightToProto(s.flights[at-1])}})
			}
		}
		if got, want := said(broken.Blocks()), said(whole.Blocks()); got != want {
			t.Fatalf("the broken stream gives\n%s\nthe whole one\n%s", got, want)
		}
	})
}

// For any messages in any order: no panic, no two blocks with one name, and changes that
// add up.
func FuzzApply(f *testing.F) {
	for _, kind := range []item.DeltaKind{item.DeltaText, item.DeltaReasoning, item.DeltaToolArguments, item.DeltaToolOutput, ""} {
		f.Add(encoded(f, &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Delta{Delta: wire.DeltaToProto(item.Delta{Turn: 1, Block: "b", CallID: "c", Kind: kind, Text: "x"})}}), byte(3))
	}
	for i, k := range []item.Kind{
		item.Submitted{RequestID: "r"}, item.TurnStarted{RequestIDs: []string{"r", "r"}}, item.ItemAdded{Item: item.UserMessage{Text: "x"}},
		item.ItemAdded{Item: item.ToolCall{CallID: "c"}}, item.ApprovalRequested{CallID: "c"}, item.ApprovalResolved{CallID: "c"},
		item.ToolStarted{CallID: "c"}, item.ItemAdded{Item: item.ToolResult{CallID: "c"}}, item.TurnEnded{}, item.Withdrawn{RequestIDs: []string{"r"}},
	} {
		f.Add(encoded(f, &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Entry{Entry: wire.EntryToProto(item.Entry{Seq: item.Seq(i), Turn: 1, Kind: k})}}), byte(i))
	}
	f.Fuzz(func(t *testing.T, message []byte, order byte) {
		var m poddv1.StreamResponse
		if proto.Unmarshal(message, &m) != nil {
			t.Skip()
		}
		before := &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_InFlight{InFlight: &poddv1.InFlight{Blocks: []*poddv1.Delta{
			{Turn: 1, Block: "b", Kind: poddv1.DeltaKind(order % 5), CallId: "c", Text: "äx"},
		}}}}
		tr := transcript.New(transcript.Options{})
		var got mirror
		for i, r := range []*poddv1.StreamResponse{before, &m, {Kind: &poddv1.StreamResponse_CaughtUp{}}, before, &m, &m} {
			if i == int(order%6) {
				tr.Lost()
			}
			got.take(t, tr.Apply(r))
			if a, b := fmt.Sprint(got.shown()), fmt.Sprint(tr.Blocks()); a != b {
				t.Fatalf("the changes add up to\n%s\nthe blocks are\n%s", a, b)
			}
		}
	})
}

func encoded(f *testing.F, m *poddv1.StreamResponse) []byte {
	f.Helper()
	body, err := proto.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	return body
}
