package worker

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"podd/pkg/item"
)

// Progress is the fold of a pod's log into where its last turn stands: all that a turn
// which was left open needs to go on. It belongs to one goroutine.
type Progress struct {
	price func(item.RequestUsage) (usd float64, known bool)

	// number is that of the last turn, open whether it has no terminal entry.
	number int64
	open   bool
	// began is the entry that began it.
	began item.Seq
	// fallback is the model that the turn fell back to, as its setup names it; empty while
	// it has not. falling says that it is about to.
	fallback string
	falling  bool
	// step is the last model request that was answered.
	step int
	// spent is what the turn used, total what all turns did.
	spent, total Spent
	calls        int
	// requests counts the turn's own, those of spawned pods left out.
	requests int
	goOns    int
	// resumes counts how often the turn went on since its last answer, after it was cut
	// short at work.
	resumes int
	// waiting are the calls without a result, in the order of the log.
	waiting []*openCall
	// said is the text of the last answer, done whether that answer had no calls and
	// nothing was added since.
	said []string
	done bool
	// promoted says that submits joined since.
	promoted bool
	// asked says that the last answer has calls.
	asked bool
	// aborted says which interceptor ended the turn at a call, and why.
	aborted string
	loop    loopGuard
}

// Spent is what requests were billed.
type Spent struct {
	Usage item.Usage
	// Cost is in USD; Unpriced counts the requests whose price is not known.
	Cost     float64
	Unpriced int64
}

// Tokens are those in and out together.
func (s Spent) Tokens() int64 { return s.Usage.Input + s.Usage.Output }

func (s *Spent) add(u item.RequestUsage, price func(item.RequestUsage) (float64, bool)) {
	s.Usage = s.Usage.Add(u.Usage)
	if usd, known := price(u); known {
		s.Cost += usd
	} else {
		s.Unpriced += u.Usage.Requests
	}
}

// openCall is a call without a result, as far as the log tells.
type openCall struct {
	item.ToolCall
	// started is set once the call may have had effects.
	started *item.ToolStarted
	// request is the last question about it, resolved the answer; nil without.
	request  *item.ApprovalRequested
	resolved *item.ApprovalResolved
}

// NewProgress is that of an empty log. price says what a request cost.
func NewProgress(price func(item.RequestUsage) (usd float64, known bool)) *Progress {
	return &Progress{price: price}
}

// Rest is what a Progress knows between two turns that counts for the next one.
type Rest struct {
	// Turn is the number of the last turn, Total what all turns used.
	Turn  int64
	Total Spent
}

// Rest is all of the Progress that the next turn does not begin anew.
func (p *Progress) Rest() Rest { return Rest{Turn: p.number, Total: p.total} }

// Progress goes on from a rest. price must be as it was.
func (r Rest) Progress(price func(item.RequestUsage) (usd float64, known bool)) *Progress {
	return &Progress{price: price, number: r.Turn, total: r.Total}
}

// Turn is the number of the last turn; open says that it has no terminal entry.
func (p *Progress) Turn() (number int64, open bool) { return p.number, p.open }

// Add folds the next entry in. Entries come in the order of the log.
func (p *Progress) Add(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.TurnStarted:
		*p = Progress{price: p.price, total: p.total, number: e.Turn, open: true, began: e.Seq}
	case item.Purged:
		p.removed(e.Turn, k.Totals)
	case item.Rewind:
		*p = Progress{price: p.price, total: p.total, number: p.number}
	case item.TurnEnded:
		p.open = false
	case item.AlertRaised:
		p.falling = p.falling || k.Alert.Source == sourceFallback
	case item.Setup:
		if p.falling {
			p.fallback, p.falling = k.Model, false
		}
	case item.Promoted:
		p.promoted = true
	case item.Recovered:
		p.falling = false
		if !k.Waited {
			p.resumes++
		}
	case item.RequestUsage:
		p.billed(k)
	case item.ItemAdded:
		p.added(k.Item)
	case item.ToolStarted:
		if c := p.call(k.CallID); c != nil {
			c.started = &k
		}
	case item.ApprovalRequested:
		if c := p.call(k.CallID); c != nil {
			c.request, c.resolved = &k, nil
		}
	case item.ApprovalResolved:
		p.resolve(k)
	}
}

// Skip takes note of an entry that a rewind took back: it was paid for, and the number
// of its turn is taken.
func (p *Progress) Skip(e item.Entry) {
	p.number = max(p.number, e.Turn)
	if u, ok := e.Kind.(item.RequestUsage); ok {
		p.total.add(u, p.price)
	}
}

// removed adds what the removed entries of a log recorded.
func (p *Progress) removed(turn int64, t item.Totals) {
	p.number = turn
	for _, r := range t.Requests {
		p.total.add(r.Request(), p.price)
	}
}

func (p *Progress) resolve(r item.ApprovalResolved) {
	if c := p.call(r.CallID); c != nil {
		c.resolved = &r
	}
}

func (p *Progress) call(id string) *openCall {
	i := slices.IndexFunc(p.waiting, func(c *openCall) bool { return c.CallID == id })
	if i < 0 {
		return nil
	}
	return p.waiting[i]
}

// with is the progress behind one more request. It shares what p holds: it is to be read.
func (p *Progress) with(u item.RequestUsage) *Progress {
	next := *p
	next.billed(u)
	return &next
}

// billed takes note of a request. That of a step stands behind the items of its answer.
func (p *Progress) billed(u item.RequestUsage) {
	p.spent.add(u, p.price)
	p.total.add(u, p.price)
	if u.Purpose != item.PurposeSubPod {
		p.requests += int(u.Usage.Requests)
	}
	if u.Purpose != "" {
		return
	}
	p.step, p.resumes = u.Step, 0
	p.done, p.asked, p.promoted = !p.asked, false, false
}

func (p *Progress) added(it item.Item) {
	switch it := it.(type) {
	case item.Reasoning:
	case item.AssistantMessage:
		p.said = append(p.said, it.Text)
	case item.ToolCall:
		p.asked = true
		p.calls++
		p.waiting = append(p.waiting, &openCall{ToolCall: it})
	case item.ToolResult:
		p.result(it)
	case item.SystemMessage:
		p.news(it.Origin != item.OriginNote)
	default:
		p.news(true)
	}
}

// news is something for the model to see. What neither a client's note nor a submit
// brought behind a last answer came of an interceptor that keeps the turn from finishing.
func (p *Progress) news(mayKeep bool) {
	if p.done && mayKeep && !p.promoted {
		p.goOns++
	}
	p.said, p.done = nil, false
}

func (p *Progress) result(r item.ToolResult) {
	i := slices.IndexFunc(p.waiting, func(c *openCall) bool { return c.CallID == r.CallID })
	if i < 0 {
		return
	}
	c := p.waiting[i]
	p.waiting = slices.Delete(p.waiting, i, i+1)
	p.said = nil
	p.aborted = cmp.Or(p.aborted, r.Aborted)
	arguments := c.Arguments
	if c.started != nil {
		arguments = c.started.Arguments
	}
	p.loop.add(p.step, c.Name, arguments, r.Output)
}

// abort ends a turn that an interceptor ended at a call; nil for another.
func (p *Progress) abort() *stop {
	if p.aborted == "" {
		return nil
	}
	return &stop{outcome: item.OutcomeCancelled, reason: "ABORTED", cause: p.aborted}
}

// answer is the text of the last answer.
func (p *Progress) answer() string { return strings.Join(p.said, "\n\n") }

// The loop guard's bounds: a call that gives the same result so often in so many steps
// leads nowhere.
const (
	loopSteps = 10
	loopTimes = 5
)

// loopGuard remembers what the calls of the last steps gave.
type loopGuard struct {
	seen []seenCall
}

type seenCall struct {
	step int
	sum  [sha256.Size]byte
}

func (g *loopGuard) add(step int, tool, arguments string, out item.Output) {
	sum := sha256.Sum256([]byte(tool + "\x00" + arguments + "\x00" + out.Text()))
	g.seen = slices.DeleteFunc(g.seen, func(c seenCall) bool { return c.step <= step-loopSteps })
	g.seen = append(g.seen, seenCall{step, sum})
}

// looping says whether the newest results came that often.
func (g *loopGuard) looping() bool {
	times := make(map[[sha256.Size]byte]int)
	for _, c := range g.seen {
		if times[c.sum]++; times[c.sum] >= loopTimes {
			return true
		}
	}
	return false
}
