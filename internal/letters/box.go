package letters

import (
	"context"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// State is what became of a letter.
type State int

// The states of a letter, in this order.
const (
	// Stored waits for a turn of the recipient, Taken was taken by one, Answered has a letter in reply. Failed did not
	// reach the recipient, or that was deleted. OnItsWay is delivered when the recipient can be reached.
	Stored State = iota + 1
	Taken
	Answered
	Failed
	OnItsWay
)

// Letter is a letter as it stands now.
type Letter struct {
	// Number names it among those of its sender; for a person's it is the entry of the recipient's log.
	Number item.Seq
	// From is the sender's id, empty for a person; FromName was its name.
	From, FromName string
	To, ToName     string
	Time           time.Time
	// Beginning is the first line of its text.
	Beginning string
	ReplyTo   item.Seq
	State     State
	// Turn is the recipient's that took it, Answer the number of the reply; 0 without one.
	Turn   int64
	Answer item.Seq
	// Cause says why it failed.
	Cause string
}

// box is what a pod's log says of letters. What a rewind undid was written, read and sent all the same.
type box struct {
	got  []gotten
	sent []posted
	// taken are the turns that took letters, by their refs.
	taken map[string]int64
	// away are the letters that were on their way for a while, by their numbers, failed those of them that did not arrive,
	// with the cause, and over are the calls that have a result.
	away   map[item.Seq]bool
	failed map[item.Seq]string
	over   map[string]bool
	// first is the first entry that the log still has.
	first item.Seq
}

type gotten struct {
	received
	entry item.Entry
}

type posted struct {
	sent
	entry item.Entry
}

// read reads what the log of a pod says of its letters after an entry.
func (w *Letters) read(ctx context.Context, id string, after item.Seq) (*box, error) {
	b := &box{taken: make(map[string]int64), away: make(map[item.Seq]bool), failed: make(map[item.Seq]string), over: make(map[string]bool)}
	err := w.Host.Logs.Entries(ctx, id, after, only(wire.KindWing, wire.KindItem), func(e item.Entry) bool {
		b.add(id, e)
		return true
	})
	return b, err
}

func (b *box) add(id string, e item.Entry) {
	if l, ok := decode[received](e, kindReceived); ok && l.To == id {
		b.got = append(b.got, gotten{l, e})
	}
	if s, ok := decode[sent](e, kindSent); ok && s.From == id {
		b.sent = append(b.sent, posted{s, e})
	}
	if l, ok := decode[onItsWay](e, kindOnItsWay); ok && l.From == id {
		b.away[l.Number] = true
	}
	if l, ok := decode[ended](e, kindEnded); ok && l.From == id {
		if b.away[l.Number] = false; l.Cause != "" {
			b.failed[l.Number] = l.Cause
		}
	}
	if k, ok := e.Kind.(item.ItemAdded); ok {
		switch it := k.Item.(type) {
		case item.SystemMessage:
			if it.Ref != "" {
				b.taken[it.Ref] = e.Turn
			}
		case item.ToolResult:
			b.over[it.CallID] = true
		}
	}
}

// replyTo is the number of the letter in which the pod answered one from another; 0 without one.
func (b *box) replyTo(from string, number item.Seq) item.Seq {
	i := slices.IndexFunc(b.sent, func(s posted) bool { return s.ReplyTo == number && s.To == from })
	if number == 0 || i < 0 {
		return 0
	}
	return b.sent[i].entry.Seq
}

// reply is the number of the letter by which a pod answered one of this; 0 without one.
func (b *box) reply(by string, number item.Seq) item.Seq {
	i := slices.IndexFunc(b.got, func(l gotten) bool { return l.ReplyTo == number && l.From == by })
	if i < 0 {
		return 0
	}
	return b.got[i].Number
}

// List are the letters that a pod got and sent, the oldest first.
func (w *Letters) List(ctx context.Context, idOrName string) ([]Letter, error) {
	rec, err := w.Host.Store.Pod(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	own, err := w.read(ctx, rec.ID, 0)
	if err != nil {
		return nil, err
	}
	var letters []Letter
	for _, l := range own.got {
		letters = append(letters, l.stands(rec, own))
	}
	others := make(map[string]*box)
	for _, s := range own.sent {
		l, err := w.stands(ctx, rec, own, others, s)
		if err != nil {
			return nil, err
		}
		letters = append(letters, l)
	}
	reports, err := w.reports(ctx, rec, own)
	if err != nil {
		return nil, err
	}
	letters = append(letters, reports...)
	slices.SortStableFunc(letters, func(a, b Letter) int { return a.Time.Compare(b.Time) })
	return letters, nil
}

// reports are the letters that podd wrote about a pod to its parent. Only the parent's log has them.
func (w *Letters) reports(ctx context.Context, rec item.Pod, own *box) (letters []Letter, err error) {
	if rec.Spec.Parent == "" || rec.Spec.ParentCall != "" {
		return nil, nil
	}
	parent, err := w.Host.Store.Pod(ctx, rec.Spec.Parent)
	if err != nil {
		return nil, err
	}
	to, err := w.read(ctx, parent.ID, 0)
	if err != nil {
		return nil, err
	}
	for _, l := range to.got {
		wrote := slices.ContainsFunc(own.sent, func(s posted) bool { return s.entry.Seq == l.Number })
		if l.From == rec.ID && !wrote {
			letters = append(letters, l.stands(parent, to))
		}
	}
	return letters, nil
}

// stands is a letter that a pod got.
func (l gotten) stands(rec item.Pod, own *box) Letter {
	out := Letter{
		Number: l.Number, From: l.From, FromName: l.Name, To: rec.ID, ToName: rec.Name, Time: l.entry.Time,
		Beginning: l.Beginning, ReplyTo: l.ReplyTo, State: Stored,
	}
	if out.Number == 0 {
		out.Number = l.entry.Seq
	}
	if turn, ok := own.taken[l.Ref]; ok {
		out.State, out.Turn = Taken, turn
	}
	if out.Answer = own.replyTo(l.From, l.Number); out.Answer > 0 {
		out.State = Answered
	}
	return out
}

// stands is a letter that a pod sent. others are the boxes of the recipients, which it completes: nil for a deleted pod.
func (w *Letters) stands(ctx context.Context, rec item.Pod, own *box, others map[string]*box, s posted) (Letter, error) {
	to, known := others[s.To]
	if !known {
		var err error
		// The first letter to a pod has the lowest mark.
		if to, err = w.recipient(ctx, s.To, s.After); err != nil {
			return Letter{}, err
		}
		others[s.To] = to
	}
	out := Letter{
		Number: s.entry.Seq, From: rec.ID, FromName: rec.Name, To: s.To, ToName: s.Name, Time: s.entry.Time,
		Beginning: s.Beginning, ReplyTo: s.ReplyTo, Answer: own.reply(s.To, s.entry.Seq),
	}
	if to == nil && out.Answer == 0 {
		out.State, out.Cause = Failed, "the pod was deleted"
		return out, nil
	}
	if to == nil {
		to = &box{}
	}
	ref := refOf(rec.ID, s.entry.Seq)
	turn, taken := to.taken[ref]
	switch out.Turn = turn; {
	case out.Answer > 0:
		out.State = Answered
	case taken:
		out.State = Taken
	case slices.ContainsFunc(to.got, func(l gotten) bool { return l.Ref == ref }):
		out.State = Stored
	case own.failed[s.entry.Seq] != "":
		out.State, out.Cause = Failed, own.failed[s.entry.Seq]
	case own.away[s.entry.Seq] || !own.over[s.Call]:
		out.State = OnItsWay
	case to.first > s.After+1:
		out.State, out.Cause = Failed, "the recipient's log no longer says what became of it"
	default:
		out.State, out.Cause = Failed, "it did not reach the pod"
	}
	return out, nil
}

// recipient is the box of a pod after an entry; nil for a deleted pod.
func (w *Letters) recipient(ctx context.Context, id string, after item.Seq) (*box, error) {
	p, err := w.Host.Store.Pod(ctx, id)
	if item.ReasonOf(err) == store.ReasonPodNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := w.read(ctx, p.ID, max(after, p.First-1))
	b.first = p.First
	return b, err
}
