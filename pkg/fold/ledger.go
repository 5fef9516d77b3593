package fold

import (
	"slices"
	"time"

	"podd/pkg/item"
)

// Ledger follows a conversation and decides what to prune from it. Its methods are called
// in the order of the log: Setup, Add, Answered, Prune and Compact for the corresponding
// entries. The same calls give the same decisions, whatever was asked in between, so a
// ledger rebuilt from the log after a restart continues like the old one.
//
// Adding is cheap; a decision examines each result that may still be pruned once. A
// Ledger belongs to one goroutine.
type Ledger struct {
	cfg  Config
	kept ledgerKept

	// The fields below are derived: see derive.

	// tokens is what all records add to the next request; left is what they would add besides if none was pruned, cut if
	// no output had been cut.
	tokens, left, cut int
	// open are the records that may still be pruned some day, ascending.
	open []int
}

// ledgerKept is the part of a Ledger that a base stores.
type ledgerKept struct {
	Terms   Terms
	Records []record
	// Ends are how many records each earlier request had, ascending: those that still are a
	// prefix of the next one.
	Ends []int

	// Steps counts the answered steps, Compacted those before the last compaction,
	// Turns the turns.
	Steps, Compacted, Turns int
	// Starts says that a turn began after the last answered step.
	Starts bool
	// Answered is the time of the last answer; Warm says that the setup has not changed
	// since.
	Answered time.Time
	Warm     bool
	// Uncached counts the consecutive warm requests that reported no cached tokens.
	Uncached int
}

// derive computes the derived fields.
func (l *Ledger) derive() {
	l.open = nil
	for i := range l.kept.Records {
		l.weigh(i)
	}
	l.lay(0)
	l.sum()
}

// sum computes what the records spare a request.
func (l *Ledger) sum() {
	l.left, l.cut = 0, 0
	for i := range l.kept.Records {
		r := &l.kept.Records[i]
		l.left += r.Tokens - r.tokens()
		l.cut += r.Cut
	}
}

// weigh checks whether a record may be pruned some day.
func (l *Ledger) weigh(i int) {
	r := &l.kept.Records[i]
	r.size = 0
	if l.prunable(&r.Element) {
		r.size = sizeFactor(r.Tokens, l.cfg.Economic)
		if !r.pruned() {
			l.open = append(l.open, i)
		}
	}
}

// clone is an independent copy.
func (l *Ledger) clone() *Ledger {
	c := *l
	c.kept.Records, c.kept.Ends, c.open = slices.Clone(l.kept.Records), slices.Clone(l.kept.Ends), slices.Clone(l.open)
	return &c
}

// Terms are a setup's inputs to the rule.
type Terms struct {
	Price Price
	// Window is the model's context window in tokens; 0 if unknown, and then there is no
	// pressure.
	Window int
	// NoImages says that requests carry no images.
	NoImages bool
	// Fixed is the size in tokens of what precedes the items in a request:
	// instructions, tools.
	Fixed int
}

// Answer is what the ledger needs to know about an answered request.
type Answer struct {
	// Time is when the answer was stored.
	Time time.Time
	// Items is how many of the last added elements are the answer itself, that is, were not
	// part of the request.
	Items int
	// Measured says that the endpoint sent a usage, and CachedInput is what it reported as
	// read from its cache.
	Measured    bool
	CachedInput int64
	// StepGoesOn says that the next request belongs to the same step, as when an answer was
	// useless and is requested again: this request ages nothing.
	StepGoesOn bool
}

// NewLedger makes the ledger of an empty log. A field of the configuration that is
// out of range is an error of kind KindInvalid, reason BAD_PRUNING.
func NewLedger(c Config) (*Ledger, error) {
	if err := c.withDefaults().check(); err != nil {
		return nil, err
	}
	return newLedger(c), nil
}

func newLedger(c Config) *Ledger {
	return &Ledger{cfg: c.withDefaults(), kept: ledgerKept{Terms: Terms{Price: DefaultPrice()}}}
}

// Setup says that requests are sent under other terms from now on. The cache is treated
// as cold until the next answer. A zero price means DefaultPrice.
func (l *Ledger) Setup(t Terms) {
	if t.Price == (Price{}) {
		t.Price = DefaultPrice()
	}
	if t.Price != l.kept.Terms.Price {
		l.kept.Uncached = 0
	}
	l.kept.Terms = t
	l.kept.Warm = false
}

// SetFixed corrects Terms.Fixed, as when a bill shows the true size. It is not a change
// of the setup.
func (l *Ledger) SetFixed(tokens int) { l.kept.Terms.Fixed = tokens }

// Add appends an element.
func (l *Ledger) Add(e Element) {
	if e.StartsTurn {
		l.kept.Turns++
		l.kept.Starts = true
	}
	l.touch(&e)
	l.kept.Records = append(l.kept.Records, record{Element: e, start: l.tokens, Born: l.kept.Steps, Turn: l.kept.Turns})
	l.weigh(len(l.kept.Records) - 1)
	l.tokens += e.Tokens
	l.cut += e.Cut
}

// prunable says whether an element may be pruned some day.
func (l *Ledger) prunable(e *Element) bool {
	return e.Result && e.Tokens >= l.cfg.Floor && e.saving() > 0 && !e.Sticky
}

// Answered says that the request with all elements, except the answer's own, was
// answered.
func (l *Ledger) Answered(a Answer) {
	carried := len(l.kept.Records) - min(max(a.Items, 0), len(l.kept.Records))
	l.judgeCache(a)
	if n := len(l.kept.Ends); n == 0 || l.kept.Ends[n-1] < carried {
		l.kept.Ends = append(l.kept.Ends, carried)
	}
	l.kept.Answered, l.kept.Warm = a.Time, true
	if !a.StepGoesOn {
		l.kept.Steps++
		l.kept.Starts = false
	}
}

// cacheable is the size in tokens below which no provider caches a prefix.
const cacheable = 1024

// judgeCache counts warm requests whose prefix the endpoint could have cached, and for
// which it reports no cached tokens.
func (l *Ledger) judgeCache(a Answer) {
	switch {
	case !a.Measured:
	case a.CachedInput > 0:
		l.kept.Uncached = 0
	case !l.cold(a.Time) && l.lastEnd() >= cacheable:
		l.kept.Uncached++
	}
}

// lastEnd is the size of the longest earlier request that is a prefix of the next.
func (l *Ledger) lastEnd() int {
	if len(l.kept.Ends) == 0 {
		return 0
	}
	return l.kept.Terms.Fixed + l.start(l.kept.Ends[len(l.kept.Ends)-1])
}

// start is the offset of a record, existing or not, after the fixed prefix.
func (l *Ledger) start(i int) int {
	if i == len(l.kept.Records) {
		return l.tokens
	}
	return l.kept.Records[i].start
}

// Prune says that these results are sent as their summaries from now on, and other items
// without their images. at is the entry that says so, policy its policy. What is pruned stays
// pruned. A sequence that is not there, or of an item with nothing to lose, changes nothing.
func (l *Ledger) Prune(at item.Seq, policy string, seqs []item.Seq) {
	first := len(l.kept.Records)
	for _, seq := range seqs {
		i, ok := l.find(seq)
		if !ok || l.kept.Records[i].pruned() || !l.kept.Records[i].Result && l.kept.Records[i].Images == 0 {
			continue
		}
		l.kept.Records[i].Gone = l.gone(&l.kept.Records[i], at, policy)
		first = min(first, i)
	}
	if first == len(l.kept.Records) {
		return
	}
	l.open = slices.DeleteFunc(l.open, func(i int) bool { return l.kept.Records[i].pruned() })
	l.torn(first)
	l.sum()
}

// Resize says that elements, by their index, are sent with other sizes from now on.
func (l *Ledger) Resize(tokens map[int]int) {
	if len(tokens) == 0 {
		return
	}
	first := len(l.kept.Records)
	for i, n := range tokens {
		l.kept.Records[i].Tokens = n
		first = min(first, i)
	}
	l.open = l.open[:0]
	for i := range l.kept.Records {
		l.weigh(i)
	}
	l.torn(first)
	l.sum()
}

// torn says that requests differ from the record on, so that the cache has them up to
// there.
func (l *Ledger) torn(first int) {
	for len(l.kept.Ends) > 0 && l.kept.Ends[len(l.kept.Ends)-1] > first {
		l.kept.Ends = l.kept.Ends[:len(l.kept.Ends)-1]
	}
	l.lay(first)
}

// lay sets the offsets of the records from i on.
func (l *Ledger) lay(i int) {
	l.tokens = l.start(i)
	for ; i < len(l.kept.Records); i++ {
		l.kept.Records[i].start = l.tokens
		l.tokens += l.kept.Records[i].tokens()
	}
}

// Compact replaces all elements up to a sequence by the summary, which gets that
// sequence.
func (l *Ledger) Compact(upTo item.Seq, summary Element) {
	n, ok := l.find(upTo)
	if ok {
		n++
	}
	summary.Seq = upTo
	kept := l.kept.Records[n:]
	l.kept.Records = append([]record{{Element: summary, Born: l.kept.Steps, Turn: l.kept.Turns}}, kept...)
	l.open = slices.DeleteFunc(l.open, func(i int) bool { return i < n })
	for i := range l.open {
		l.open[i] += 1 - n
	}
	l.kept.Ends = nil
	l.kept.Compacted = l.kept.Steps
	l.lay(0)
	l.sum()
}

// find is the index of a sequence, or where it would be.
func (l *Ledger) find(seq item.Seq) (int, bool) {
	return slices.BinarySearchFunc(l.kept.Records, seq, func(r record, s item.Seq) int { return int(r.Seq - s) })
}

// Tokens is the size of the next request, without further pruning.
func (l *Ledger) Tokens() int { return l.kept.Terms.Fixed + l.tokens }

// Pruned says whether only a result's summary is sent.
func (l *Ledger) Pruned(seq item.Seq) bool {
	i, ok := l.find(seq)
	return ok && l.kept.Records[i].pruned()
}

// cold says that the provider's cache has nothing of the next request.
func (l *Ledger) cold(now time.Time) bool {
	return !l.kept.Warm || now.Sub(l.kept.Answered) > l.kept.Terms.Price.TTL
}
