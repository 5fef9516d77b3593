package fold

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"time"

	"podd/pkg/item"
)

// ContextConfig is what a Context knows beside the log.
type ContextConfig struct {
	// Prune is the rule that decides; its zero value is the default rule.
	Prune Config
	// Prices come before the built-in price table.
	Prices []ModelPrice
	// Limiter makes what holds results to the limits of a setup; nil sends them as they are
	// stored.
	Limiter func([]item.OutputLimit) Limiter
}

// Context is the fold of a log, entry by entry, into what the next request carries. It
// also holds what is needed to decide on pruning; a decision counts once its entry
// is added. A Context belongs to one goroutine.
type Context struct {
	cfg    ContextConfig
	ledger *Ledger
	kept   contextKept

	// items are what the next request carries, seqs their entries. What was given
	// out by Request never changes: items only grow in place.
	items []item.Item
	seqs  []item.Seq
	// open holds the calls that have no result yet; calls, all call ids.
	open  []item.ToolCall
	calls callIDs
	held  held
}

// contextKept is what a base has of a Context beside its ledger.
type contextKept struct {
	Setup  *item.Setup
	Meter  meter
	Totals item.Totals
	// Summary is the entry of the compaction whose summary the items begin with; 0
	// without.
	Summary item.Seq
}

// clone is a Context that goes on by itself.
func (s *Context) clone() *Context {
	c := *s
	c.ledger = s.ledger.clone()
	c.items, c.seqs, c.open = slices.Clip(s.items), slices.Clip(s.seqs), slices.Clip(s.open)
	c.held.whole = maps.Clone(s.held.whole)
	return &c
}

// NewContext is the state of an empty log. A configuration that no rule can work with
// is an error.
func NewContext(c ContextConfig) (*Context, error) {
	if err := c.Prune.withDefaults().check(); err != nil {
		return nil, err
	}
	return newContext(c), nil
}

func newContext(c ContextConfig) *Context {
	return &Context{cfg: c, ledger: newLedger(c.Prune), held: held{cut: c.limiter(nil)}}
}

// Add folds the next entry in. Entries come in the order of the log.
func (s *Context) Add(e item.Entry) {
	before := s.Tokens()
	s.carry(e)
	s.count(e, before-s.Tokens())
}

// carry lets the next request be what it is after an entry.
func (s *Context) carry(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.Setup:
		s.setUp(k)
	case item.ItemAdded:
		s.add(e.Seq, k.Item)
	case item.RequestUsage:
		if k.Purpose == "" {
			s.answered(e.Time, k)
		}
	case item.Prune:
		s.prune(k.Seqs)
	case item.Compaction:
		s.compact(e.Seq, k)
	case item.Purged:
		if k.Setup != nil {
			s.setUp(*k.Setup)
		}
	}
}

func (s *Context) setUp(setup item.Setup) {
	s.kept.Setup = &setup
	s.ledger.Setup(s.terms(setup))
	s.kept.Meter.Torn = true
	s.limit(setup.OutputLimits)
}

// terms are what a setup brings to the rule of pruning.
func (s *Context) terms(setup item.Setup) Terms {
	return Terms{
		Price:  PriceOf(setup.Model, s.cfg.Prices),
		Window: WindowOf(setup.Model),
		Fixed:  s.kept.Meter.tokens(setupSize(setup)),
	}
}

func (s *Context) add(seq item.Seq, it item.Item) {
	it = s.held.hold(seq, it)
	s.items, s.seqs = append(s.items, it), append(s.seqs, seq)
	s.kept.Meter.Grown += size(it)
	s.ledger.Add(s.element(seq, it))
	switch it := it.(type) {
	case item.ToolCall:
		s.calls.add(it.CallID)
		s.open = append(s.open, it)
	case item.ToolResult:
		s.open = slices.DeleteFunc(slices.Clone(s.open), func(c item.ToolCall) bool { return c.CallID == it.CallID })
	}
}

// element is what pruning knows of an item.
func (s *Context) element(seq item.Seq, it item.Item) Element {
	e := Element{Seq: seq, Tokens: s.kept.Meter.tokens(size(it))}
	switch it := it.(type) {
	case item.UserMessage:
		e.StartsTurn = true
	case item.ToolResult:
		e.Result, e.Kind, e.IsError, e.Sticky = true, it.Kind, it.IsError, it.Sticky
		e.Stub = e.Tokens
		if it.Content != "" {
			e.Stub = s.kept.Meter.tokens(len(it.Summary))
		}
		if it.Path != "" {
			e.Path = path.Clean(it.Path)
		}
		if file, ok := s.readByShell(it); ok {
			e.Kind, e.Path = item.OutputRead, file
		}
	}
	return e
}

// readByShell says whether a result is that of a command that only reads a file.
func (s *Context) readByShell(r item.ToolResult) (file string, ok bool) {
	if r.Kind != item.OutputShell {
		return "", false
	}
	i := slices.IndexFunc(s.open, func(c item.ToolCall) bool { return c.CallID == r.CallID })
	if i < 0 {
		return "", false
	}
	var arguments struct{ Command string }
	if json.Unmarshal([]byte(s.open[i].Arguments), &arguments) != nil {
		return "", false
	}
	return ReadCommand(arguments.Command)
}

// answered takes note of a request and of what it was billed.
func (s *Context) answered(at time.Time, u item.RequestUsage) {
	items, bytes, tokens := s.lastAnswer()
	if u.Measured && u.Usage.Input > 0 {
		s.kept.Meter.bill(u.Usage.Input, bytes)
		// What the items do not explain precedes them.
		s.ledger.SetFixed(max(0, int(u.Usage.Input)-(s.ledger.tokens-tokens)))
	}
	s.ledger.Answered(Answer{Time: at, Items: items, Measured: u.Measured, CachedInput: u.Usage.CachedInput})
}

// lastAnswer is the model's own items at the end: how many, of how many bytes and
// tokens.
func (s *Context) lastAnswer() (n, bytes, tokens int) {
	for _, it := range slices.Backward(s.items) {
		switch it.(type) {
		case item.AssistantMessage, item.Reasoning, item.ToolCall:
			n++
			bytes += size(it)
			tokens += s.ledger.kept.Records[len(s.ledger.kept.Records)-n].tokens()
			continue
		}
		break
	}
	return n, bytes, tokens
}

// prune sends results as their summaries from now on.
func (s *Context) prune(seqs []item.Seq) {
	s.ledger.Prune(seqs)
	s.kept.Meter.Torn = true
	s.items = slices.Clone(s.items)
	for _, seq := range seqs {
		i, ok := slices.BinarySearch(s.seqs, seq)
		if !ok {
			continue
		}
		s.stub(i)
	}
}

// stub sends an item, if it is a result, as its summary.
func (s *Context) stub(i int) {
	if r, ok := s.items[i].(item.ToolResult); ok {
		r.Output = s.held.asStored(s.seqs[i], r).(item.ToolResult).Output
		delete(s.held.whole, s.seqs[i])
		r.Content = ""
		s.items[i] = r
	}
}

// compact lets a summary stand for the items up to a sequence. at is the entry that says
// so.
func (s *Context) compact(at item.Seq, c item.Compaction) {
	s.kept.Summary = at
	n, ok := slices.BinarySearch(s.seqs, c.UpTo)
	if ok {
		n++
	}
	for _, seq := range s.seqs[:n] {
		delete(s.held.whole, seq)
	}
	s.items = append([]item.Item{c.Summary}, s.items[n:]...)
	s.seqs = append([]item.Seq{c.UpTo}, s.seqs[n:]...)
	s.kept.Meter.Torn = true
	s.ledger.Compact(c.UpTo, s.element(c.UpTo, c.Summary))
}

// Setup is the last stored setup; ok is false before the first.
func (s *Context) Setup() (setup item.Setup, ok bool) {
	if s.kept.Setup == nil {
		return item.Setup{}, false
	}
	return *s.kept.Setup, true
}

// OpenCalls are the tool calls without a result, in the order of the log.
func (s *Context) OpenCalls() []item.ToolCall { return s.open }

// KnownCall says whether a call id stands in the log. Of a billion others it may take one
// for such.
func (s *Context) KnownCall(id string) bool {
	return s.calls.has(id)
}

// First is the first entry that the next request carries something of; 0 when there is
// none.
func (s *Context) First() item.Seq {
	switch {
	case len(s.seqs) == 0:
		return 0
	case s.kept.Summary == 0:
		return s.seqs[0]
	case len(s.seqs) == 1:
		return s.kept.Summary
	}
	return min(s.kept.Summary, s.seqs[1])
}

// Request is what a model is sent: the setup and the items as they are sent.
type Request struct {
	Setup item.Setup
	Items []item.Item
}

// Request is the next model request. Its items must not be changed.
func (s *Context) Request() Request {
	var r Request
	if s.kept.Setup != nil {
		r.Setup = *s.kept.Setup
	}
	r.Items = s.items[:len(s.items):len(s.items)]
	return r
}

// Next is what is known of the next request after an entry. It is a value: it stays as it is
// while the Context goes on.
type Next struct {
	Request
	// IsSetUp says that a setup is stored.
	IsSetUp bool
	// Tokens estimates the size, Window is the model's context window; 0 when it is not
	// known.
	Tokens, Window int
}

// Next is what is known of the next request now.
func (s *Context) Next() Next {
	return Next{Request: s.Request(), IsSetUp: s.kept.Setup != nil, Tokens: s.Tokens(), Window: s.Window()}
}

// Compacted is the entry of the last compaction whose summary is sent; 0 without.
func (s *Context) Compacted() item.Seq { return s.kept.Summary }

// Tokens estimates the size of the next request: what was billed last, and an
// estimate of what came since.
func (s *Context) Tokens() int { return s.ledger.Tokens() }

// Decide says what to prune before a request that is sent now. It changes nothing:
// its entry does, once it is added.
func (s *Context) Decide(now time.Time) Decision { return s.ledger.Decide(now) }

// Part is one item of the next request and what it costs there.
type Part struct {
	Seq  item.Seq
	Item item.Item
	// Tokens is an estimate.
	Tokens int
	// Pruned says that a result is sent as its summary alone.
	Pruned bool
}

// Size is the size of the next request in tokens.
type Size struct {
	// Total is what was billed last and an estimate of what came since; Fixed is its
	// part that precedes the items, Billed the input of the last request as billed,
	// 0 before the first bill.
	Total, Fixed, Billed int
	// BytesPerToken is how many bytes of an item make a token.
	BytesPerToken float64
	// Window is the model's context window; 0 when it is not known.
	Window int
}

// Explain tells what the next request carries, item by item, and how large it is.
func (s *Context) Explain() ([]Part, Size) {
	parts := make([]Part, len(s.items))
	for i, it := range s.items {
		r := &s.ledger.kept.Records[i]
		parts[i] = Part{Seq: s.seqs[i], Item: it, Tokens: r.tokens(), Pruned: r.Pruned}
	}
	return parts, Size{
		Total: s.ledger.Tokens(), Fixed: s.ledger.kept.Terms.Fixed, Billed: int(s.kept.Meter.Billed),
		BytesPerToken: s.kept.Meter.bytesPerToken(), Window: s.ledger.kept.Terms.Window,
	}
}
