package fold

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"time"

	"podd/pkg/item"
)

// ContextConfig is the inputs of a Context besides the log.
type ContextConfig struct {
	// Prune is the rule that decides; its zero value is the default rule.
	Prune Config
	// Models is what is known about models.
	Models Models
	// Limiter makes the function that cuts results to the limits of a setup; nil sends them
	// as stored.
	Limiter func([]item.OutputLimit) Limiter
}

// Context is the fold of a log, entry by entry, into the content of the next request. It
// also has what decisions on pruning need; a decision takes effect once its entry is
// added. A Context belongs to one goroutine.
type Context struct {
	cfg    ContextConfig
	ledger *Ledger
	kept   contextKept

	// items are the content of the next request, seqs their entries. What Request returned
	// never changes: items only grow in place.
	items []item.Item
	seqs  []item.Seq
	// open are the calls without a result; calls, all call ids.
	open  []item.ToolCall
	calls callIDs
	held  held
}

// contextKept is the part of a Context that a base stores besides its ledger.
type contextKept struct {
	Setup  *item.Setup
	Meter  meter
	Totals item.Totals
	// Summary is the entry of the compaction whose summary begins the items; 0 without.
	Summary item.Seq
	// NewSetup and Shrunk say that the setup changed, or that a prune or a compaction took
	// something away, since the last answer.
	NewSetup, Shrunk bool
}

// clone is an independent copy.
func (s *Context) clone() *Context {
	c := *s
	c.ledger = s.ledger.clone()
	c.items, c.seqs, c.open = slices.Clip(s.items), slices.Clip(s.seqs), slices.Clip(s.open)
	c.held.whole = maps.Clone(s.held.whole)
	return &c
}

// NewContext is the state of an empty log. A configuration with which no rule can work is
// an error.
func NewContext(c ContextConfig) (*Context, error) {
	if err := c.Prune.withDefaults().check(); err != nil {
		return nil, err
	}
	return newContext(c), nil
}

func newContext(c ContextConfig) *Context {
	return &Context{cfg: c, ledger: newLedger(c.Prune), held: held{cut: c.limiter(nil)}}
}

// Add folds the next entry. Entries come in the order of the log.
func (s *Context) Add(e item.Entry) {
	before, cache := s.Tokens(), s.cached(e)
	s.carry(e)
	s.count(e, before-s.Tokens(), cache)
}

// carry updates the next request after an entry.
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
		s.prune(e.Seq, k)
	case item.Compaction:
		s.compact(e.Seq, k)
	case item.Purged:
		if k.Setup != nil {
			s.setUp(*k.Setup)
		}
	}
}

func (s *Context) setUp(setup item.Setup) {
	saw := s.sendsImages()
	s.kept.Setup, s.kept.NewSetup = &setup, true
	s.ledger.Setup(s.terms(setup))
	s.kept.Meter.Torn = true
	s.limit(setup.OutputLimits)
	if s.sendsImages() != saw {
		s.resizeImages()
	}
}

// terms are a setup's inputs to the rule of pruning.
func (s *Context) terms(setup item.Setup) Terms {
	price := cmp.Or(s.cfg.Models.Price(setup.ModelRef()), DefaultPrice())
	if ttl, err := time.ParseDuration(setup.Options.CacheTTL); err == nil {
		price.TTL = ttl
	}
	return Terms{
		Price:  price,
		Window: cmp.Or(setup.Window, s.cfg.Models.Window(setup.Model)),
		Fixed:  s.kept.Meter.tokens(setupSize(setup)),

		NoImages: setup.NoImages,
	}
}

func (s *Context) add(seq item.Seq, it item.Item) {
	it = s.held.hold(seq, it)
	s.items, s.seqs = append(s.items, it), append(s.seqs, seq)
	s.kept.Meter.Grown += size(it)
	// The bill of a request with new images says nothing about the bytes of text.
	s.kept.Meter.Torn = s.kept.Meter.Torn || len(item.ImagesOf(it)) > 0
	s.ledger.Add(s.element(seq, it))
	switch it := it.(type) {
	case item.ToolCall:
		s.calls.add(it.CallID)
		s.open = append(s.open, it)
	case item.ToolResult:
		s.open = slices.DeleteFunc(slices.Clone(s.open), func(c item.ToolCall) bool { return c.CallID == it.CallID })
	}
}

// cutWindow is the window of a model whose window is not known, for what a cut spares.
const cutWindow = 200_000

// element is an item in the form for pruning.
func (s *Context) element(seq item.Seq, it item.Item) Element {
	e := Element{Seq: seq, Tokens: s.tokensOf(it), Images: len(item.ImagesOf(it)), Stub: s.kept.Meter.tokens(size(it))}
	switch it := it.(type) {
	case item.UserMessage:
		e.StartsTurn = true
	case item.ToolResult:
		e.Result, e.Kind, e.IsError, e.Sticky = true, it.Kind, it.IsError, it.Sticky
		if it.Content != "" {
			e.Stub = s.kept.Meter.tokens(len(it.Summary))
		}
		if it.Path != "" {
			e.Path = path.Clean(it.Path)
		}
		if it.Cut != nil {
			e.Cut = min(s.kept.Meter.tokens(int(it.Cut.TotalBytes-it.Cut.KeptBytes)), cmp.Or(s.ledger.kept.Terms.Window, cutWindow))
		}
		s.read(&e, it)
	}
	return e
}

// read says what a result shows of a file: that of a tool for files, or of a command that only reads one.
func (s *Context) read(e *Element, r item.ToolResult) {
	i := slices.IndexFunc(s.open, func(c item.ToolCall) bool { return c.CallID == r.CallID })
	if i < 0 {
		return
	}
	arguments := s.open[i].Arguments
	switch r.Kind {
	case item.OutputRead:
		e.Lines = shownBy(arguments, r.Cut)
	case item.OutputShell:
		var shell struct{ Command string }
		if json.Unmarshal([]byte(arguments), &shell) != nil {
			return
		}
		if file, lines, ok := ReadCommand(shell.Command); ok {
			e.Kind, e.Path, e.Lines = item.OutputRead, file, lines
			if r.Cut != nil {
				e.Lines = someLines
			}
		}
	}
}

// answered records a request and its bill.
func (s *Context) answered(at time.Time, u item.RequestUsage) {
	items, bytes, tokens := s.lastAnswer()
	if u.Measured && u.Usage.Input > 0 {
		s.kept.Meter.bill(u.Usage.Input, bytes)
		// The part that the items do not explain precedes them.
		s.ledger.SetFixed(max(0, int(u.Usage.Input)-(s.ledger.tokens-tokens)))
	}
	s.kept.NewSetup, s.kept.Shrunk = false, false
	s.ledger.Answered(Answer{Time: at, Items: items, Measured: u.Measured, CachedInput: u.Usage.CachedInput})
}

// lastAnswer is the model's own items at the end: their number, bytes and tokens.
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

// prune sends results as their summaries from now on, and other items without images.
func (s *Context) prune(at item.Seq, k item.Prune) {
	s.ledger.Prune(at, k.Policy, k.Seqs)
	s.kept.Meter.Torn, s.kept.Shrunk = true, true
	s.items = slices.Clone(s.items)
	for _, seq := range k.Seqs {
		i, ok := slices.BinarySearch(s.seqs, seq)
		if !ok {
			continue
		}
		s.stub(i)
	}
}

// stub sends a result as its summary, and any other item without its images.
func (s *Context) stub(i int) {
	s.items[i] = bare(s.held.asStored(s.seqs[i], s.items[i]))
	delete(s.held.whole, s.seqs[i])
}

// bare is an item without what a prune takes away. Its text names the images.
func bare(it item.Item) item.Item {
	if r, ok := it.(item.ToolResult); ok {
		r.Content, r.Images = "", nil
		return r
	}
	return item.WithImages(it)
}

// compact replaces the items up to a sequence by a summary. at is the compaction's entry.
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
	s.kept.Meter.Torn, s.kept.Shrunk = true, true
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

// KnownCall says whether the log has a call id. False positives are about one in a
// billion.
func (s *Context) KnownCall(id string) bool {
	return s.calls.has(id)
}

// First is the first entry with content in the next request; 0 without one.
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

// Request is what a model gets: the setup and the items as they are sent.
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

// Next describes the next request after an entry. It is a value: it does not change while
// the Context continues.
type Next struct {
	Request
	// IsSetUp says that a setup is stored.
	IsSetUp bool
	// Tokens estimates the size, Window is the model's context window; 0 if unknown.
	Tokens, Window int
}

// Next describes the next request now.
func (s *Context) Next() Next {
	return Next{Request: s.Request(), IsSetUp: s.kept.Setup != nil, Tokens: s.Tokens(), Window: s.Window()}
}

// Compacted is the entry of the last compaction whose summary is sent; 0 without.
func (s *Context) Compacted() item.Seq { return s.kept.Summary }

// Tokens estimates the size of the next request: the last bill, plus an estimate of what
// was added since.
func (s *Context) Tokens() int { return s.ledger.Tokens() }

// Decide says what to prune before a request that is sent now. It changes nothing: its
// entry does, once it is added.
func (s *Context) Decide(now time.Time) Decision { return s.ledger.Decide(now) }

// Part is one item of the next request and its cost there.
type Part struct {
	Seq  item.Seq
	Item item.Item
	// Bytes is how many bytes of text it sends, Tokens an estimate.
	Bytes, Tokens int
	// Pruned says that only a result's summary is sent.
	Pruned bool
	// Why says in one clause why a result is left out or kept; empty where no rule decides.
	Why string
}

// Size is the size of the next request in tokens.
type Size struct {
	// Total is the last bill plus an estimate of what was added since; Fixed is its part
	// that precedes the items, Billed the input of the last bill, 0 before the first one.
	Total, Fixed, Billed int
	// BytesPerToken is how many bytes of an item make a token.
	BytesPerToken float64
	// Window is the model's context window; 0 if unknown.
	Window int
}

// Explain describes the next request, if it were sent now, item by item, and its size.
func (s *Context) Explain(now time.Time) ([]Part, Size) {
	parts, why := make([]Part, len(s.items)), s.ledger.why(now)
	for i, it := range s.items {
		r := &s.ledger.kept.Records[i]
		parts[i] = Part{Seq: s.seqs[i], Item: it, Bytes: size(it), Tokens: r.tokens(), Pruned: r.pruned(), Why: why(r)}
	}
	return parts, Size{
		Total: s.ledger.Tokens(), Fixed: s.ledger.kept.Terms.Fixed, Billed: int(s.kept.Meter.Billed),
		BytesPerToken: s.kept.Meter.bytesPerToken(), Window: s.ledger.kept.Terms.Window,
	}
}
