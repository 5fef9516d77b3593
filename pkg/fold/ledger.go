package fold

import (
	"slices"
	"time"

	"podd/pkg/item"
)

// Ledger follows a conversation and decides what to prune from it. It is fed in the
// order of the log: Setup, Add, Answered, Prune and Compact for the entries that say
// so. The same feed gives the same decisions, whatever was asked in between, so a
// ledger that is made anew from the log after a restart goes on as the old one.
//
// Adding is cheap; a decision looks once at each result that may still be pruned.
// A Ledger belongs to one goroutine.
type Ledger struct {
	cfg   Config
	terms Terms

	records []record
	// tokens is what all records add to the next request.
	tokens int
	// open are the records that may be pruned one day, ascending.
	open []int
	// ends are how many records each earlier request carried, ascending: those that
	// still are a prefix of the next one.
	ends  []int
	paths map[string]*touches

	// steps counts the answered steps, compacted those before the last compaction,
	// turns the turns.
	steps, compacted, turns int
	// starts says that a turn began after the last answered step.
	starts bool
	// answered is the time of the last answer; warm says that the setup has not
	// changed since.
	answered time.Time
	warm     bool
	// uncached counts the warm requests in a row that reported no cached tokens.
	uncached int
}

// Terms are what the setup brings to the rule.
type Terms struct {
	Price Price
	// Window is the model's context window in tokens; 0 when it is not known, and
	// then there is no pressure.
	Window int
	// Fixed is the size in tokens of what precedes the items in a request:
	// instructions, tools.
	Fixed int
}

// Answer is what the ledger has to know of an answered request.
type Answer struct {
	// Time is when the answer was stored.
	Time time.Time
	// Items is how many of the last added elements are the answer itself, that is,
	// were not part of the request.
	Items int
	// Measured says that the endpoint sent a usage, and CachedInput is what it
	// reported as read from its cache.
	Measured    bool
	CachedInput int64
	// StepGoesOn says that the next request belongs to the same step, as when an
	// answer was of no use and is asked for again: nothing ages by this request.
	StepGoesOn bool
}

// NewLedger makes the ledger of an empty log. A field of the configuration that is
// out of range is an error of kind KindInvalid, reason BAD_PRUNING.
func NewLedger(c Config) (*Ledger, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Ledger{cfg: c, terms: Terms{Price: DefaultPrice()}, paths: make(map[string]*touches)}, nil
}

// Setup says that requests are sent under other terms from now on. The cache counts
// as cold until the next answer. A zero price means DefaultPrice.
func (l *Ledger) Setup(t Terms) {
	if t.Price == (Price{}) {
		t.Price = DefaultPrice()
	}
	if t.Price != l.terms.Price {
		l.uncached = 0
	}
	l.terms = t
	l.warm = false
}

// SetFixed corrects Terms.Fixed, as when a bill shows the true size. It is no change
// of setup.
func (l *Ledger) SetFixed(tokens int) { l.terms.Fixed = tokens }

// Add appends an element.
func (l *Ledger) Add(e Element) {
	if e.StartsTurn {
		l.turns++
		l.starts = true
	}
	r := record{Element: e, start: l.tokens, born: l.steps, turn: l.turns, touched: l.touch(&e)}
	if l.prunable(&e) {
		r.size = sizeFactor(e.Tokens, l.cfg.Economic)
		l.open = append(l.open, len(l.records))
	}
	l.records = append(l.records, r)
	l.tokens += e.Tokens
}

// prunable says whether an element may be pruned one day.
func (l *Ledger) prunable(e *Element) bool {
	return e.Result && e.Tokens >= l.cfg.Floor && e.saving() > 0 && !e.Sticky
}

// Answered says that the request which carried all elements, except the answer's
// own, was answered.
func (l *Ledger) Answered(a Answer) {
	carried := len(l.records) - min(max(a.Items, 0), len(l.records))
	l.judgeCache(a)
	if n := len(l.ends); n == 0 || l.ends[n-1] < carried {
		l.ends = append(l.ends, carried)
	}
	l.answered, l.warm = a.Time, true
	if !a.StepGoesOn {
		l.steps++
		l.starts = false
	}
}

// cacheable is the size in tokens under which no provider caches a prefix.
const cacheable = 1024

// judgeCache counts warm requests whose prefix the endpoint could have cached, and
// for which it reports no cached tokens.
func (l *Ledger) judgeCache(a Answer) {
	switch {
	case !a.Measured:
	case a.CachedInput > 0:
		l.uncached = 0
	case !l.cold(a.Time) && l.lastEnd() >= cacheable:
		l.uncached++
	}
}

// lastEnd is the size of the longest earlier request that is a prefix of the next.
func (l *Ledger) lastEnd() int {
	if len(l.ends) == 0 {
		return 0
	}
	return l.terms.Fixed + l.start(l.ends[len(l.ends)-1])
}

// start is where a record begins, or would begin, after the fixed prefix.
func (l *Ledger) start(i int) int {
	if i == len(l.records) {
		return l.tokens
	}
	return l.records[i].start
}

// Prune says that these results are sent as their summaries from now on. What is
// pruned stays so; a sequence that is not there, or no result, changes nothing.
func (l *Ledger) Prune(seqs []item.Seq) {
	first := len(l.records)
	for _, seq := range seqs {
		i, ok := l.find(seq)
		if !ok || l.records[i].pruned || !l.records[i].Result {
			continue
		}
		l.records[i].pruned = true
		first = min(first, i)
	}
	if first == len(l.records) {
		return
	}
	l.open = slices.DeleteFunc(l.open, func(i int) bool { return l.records[i].pruned })
	l.torn(first)
}

// Resize says that elements, by their index, are sent with other sizes from now on.
func (l *Ledger) Resize(tokens map[int]int) {
	if len(tokens) == 0 {
		return
	}
	first := len(l.records)
	for i, n := range tokens {
		l.records[i].Tokens = n
		first = min(first, i)
	}
	l.open = l.open[:0]
	for i := range l.records {
		r := &l.records[i]
		r.size = 0
		if l.prunable(&r.Element) {
			r.size = sizeFactor(r.Tokens, l.cfg.Economic)
			if !r.pruned {
				l.open = append(l.open, i)
			}
		}
	}
	l.torn(first)
}

// torn says that requests differ from the record on, so that the cache has them up to there.
func (l *Ledger) torn(first int) {
	for len(l.ends) > 0 && l.ends[len(l.ends)-1] > first {
		l.ends = l.ends[:len(l.ends)-1]
	}
	l.lay(first)
}

// lay sets where the records from i on begin.
func (l *Ledger) lay(i int) {
	l.tokens = l.start(i)
	for ; i < len(l.records); i++ {
		l.records[i].start = l.tokens
		l.tokens += l.records[i].tokens()
	}
}

// Compact says that the summary stands for all elements up to a sequence. The
// summary takes that sequence.
func (l *Ledger) Compact(upTo item.Seq, summary Element) {
	n, ok := l.find(upTo)
	if ok {
		n++
	}
	summary.Seq = upTo
	kept := l.records[n:]
	l.records = append([]record{{Element: summary, born: l.steps, turn: l.turns}}, kept...)
	l.open = slices.DeleteFunc(l.open, func(i int) bool { return i < n })
	for i := range l.open {
		l.open[i] += 1 - n
	}
	l.ends = nil
	l.compacted = l.steps
	l.lay(0)
	l.forgetPaths()
}

// forgetPaths drops what happened to files that no record reads.
func (l *Ledger) forgetPaths() {
	read := make(map[string]*touches)
	for i := range l.records {
		if r := &l.records[i]; r.touched != nil {
			read[r.Path] = r.touched
		}
	}
	l.paths = read
}

// find is the index of a sequence, or where it would stand.
func (l *Ledger) find(seq item.Seq) (int, bool) {
	return slices.BinarySearchFunc(l.records, seq, func(r record, s item.Seq) int { return int(r.Seq - s) })
}

// Tokens is the size of the next request, without further pruning.
func (l *Ledger) Tokens() int { return l.terms.Fixed + l.tokens }

// Pruned says whether a result is sent as its summary alone.
func (l *Ledger) Pruned(seq item.Seq) bool {
	i, ok := l.find(seq)
	return ok && l.records[i].pruned
}

// cold says that the provider's cache holds nothing of the next request.
func (l *Ledger) cold(now time.Time) bool {
	return !l.warm || now.Sub(l.answered) > l.terms.Price.TTL
}
