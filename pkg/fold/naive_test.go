package fold_test

import (
	"math"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// op is one entry of a log in the ledger's terms: exactly one field is set.
type op struct {
	Add      *fold.Element
	Answered *fold.Answer
	Setup    *fold.Terms
	Prune    []item.Seq
}

func feed(l *fold.Ledger, ops ...op) {
	for _, o := range ops {
		switch {
		case o.Add != nil:
			l.Add(*o.Add)
		case o.Answered != nil:
			l.Answered(*o.Answered)
		case o.Setup != nil:
			l.Setup(*o.Setup)
		default:
			l.Prune(0, "", o.Prune)
		}
	}
}

// naive is the documented economic rule with its default numbers: each decision goes over
// the whole log, and keeps nothing for the next one.
type naive struct {
	elements []naiveElement
	terms    fold.Terms
	// ends are the sizes of earlier requests.
	ends     []int
	requests int
	newTurn  bool
	turn     int
	answered time.Time
	cold     bool
	noCache  int
}

type naiveElement struct {
	fold.Element
	tokens, born, turn int
	pruned             bool
}

func readLog(ops []op) *naive {
	n := &naive{cold: true}
	for _, o := range ops {
		switch {
		case o.Add != nil:
			if o.Add.StartsTurn {
				n.turn++
				n.newTurn = true
			}
			n.elements = append(n.elements, naiveElement{*o.Add, o.Add.Tokens, n.requests, n.turn, false})
		case o.Answered != nil:
			n.answer(*o.Answered)
		case o.Setup != nil:
			if o.Setup.Price != n.terms.Price {
				n.noCache = 0
			}
			n.terms, n.cold = *o.Setup, true
		default:
			n.prune(o.Prune)
		}
	}
	return n
}

func (n *naive) size() int {
	size := n.terms.Fixed
	for _, e := range n.elements {
		size += e.tokens
	}
	return size
}

func (n *naive) answer(a fold.Answer) {
	size := n.size()
	for _, e := range n.elements[len(n.elements)-a.Items:] {
		size -= e.tokens
	}
	switch {
	case a.Measured && a.CachedInput > 0:
		n.noCache = 0
	case a.Measured && !n.isCold(a.Time) && len(n.ends) > 0 && slices.Max(n.ends) >= 1024:
		n.noCache++
	}
	n.ends = append(n.ends, size)
	n.answered, n.cold, n.newTurn = a.Time, false, false
	n.requests++
}

func (n *naive) isCold(now time.Time) bool {
	return n.cold || now.Sub(n.answered) > n.terms.Price.TTL
}

func (n *naive) prune(seqs []item.Seq) {
	at := n.terms.Fixed
	first := math.MaxInt
	for i := range n.elements {
		e := &n.elements[i]
		start := at
		at += e.tokens
		if slices.Contains(seqs, e.Seq) && !e.pruned {
			e.pruned, e.tokens = true, e.Stub
			first = min(first, start)
		}
	}
	n.ends = slices.DeleteFunc(n.ends, func(end int) bool { return end > first })
}

// chance is p, the probability to be needed again.
func (n *naive) chance(i int) float64 {
	e := n.elements[i]
	kinds := map[item.OutputKind]float64{"read": .45, "search": .10, "task": .12, "shell": .03, "edit": .02}
	p0, known := kinds[e.Kind]
	if !known {
		p0 = .03
	}
	age := n.requests - e.born
	if e.Kind == "read" && e.Path != "" {
		edited, touched := false, -1
		for _, x := range n.elements[i+1:] {
			if x.Result && !x.IsError && x.Path == e.Path && (x.Kind == "edit" || x.Kind == "read" && covers(x.Lines, e.Lines)) {
				edited = edited || x.Kind == "edit"
				touched = x.born
			}
		}
		switch since := n.requests - touched; {
		case touched < 0:
		case edited && since >= 1:
			p0, age = .10, since
		case !edited:
			p0, age = .08, since
		}
	}
	p := p0 * math.Exp2(-float64(age)/14) * max(.15, min(1, math.Sqrt(float64(e.Tokens)/3000)))
	if e.turn < n.turn {
		p *= .5
	}
	return p
}

func (n *naive) protected(e naiveElement) bool {
	return !e.Result || e.pruned || e.Tokens < 80 || n.requests-e.born < 2 || e.Sticky || e.IsError && e.turn == n.turn
}

// decide returns the results to prune, ascending.
func (n *naive) decide(cache fold.CacheMode, now time.Time) []item.Seq {
	r, w := n.terms.Price.Cached, n.terms.Price.Write
	if n.noCache >= 2 {
		r = 1
	}
	cold := n.isCold(now)
	q := min(400_000*r, 200_000)
	h := max(5, min(60, .30*float64(n.requests)))
	if cold || n.newTurn {
		h = max(h, 20)
	}
	size := n.size()
	var g float64
	best, s, cut := 6000.0, 0, 0
	if cold {
		best = 0
	}
	var all []item.Seq
	for i := len(n.elements) - 1; i >= 0; i-- {
		e := n.elements[i]
		save := e.Tokens - e.Stub
		if n.protected(e) || save <= 0 {
			continue
		}
		gain := h*r*float64(save) - n.chance(i)*(w*float64(e.Tokens)+r*float64(size)+q)
		if cold {
			gain += (w - r) * float64(save)
		}
		if gain <= 0 {
			continue
		}
		g += gain
		s += save
		all = append(all, e.Seq)
		price := (w - r) * float64(size-s-n.base(cache, i))
		if cold {
			price = 0
		}
		if g-price > best {
			best, cut = g-price, len(all)
		}
	}
	chosen := all[:cut]
	slices.Sort(chosen)
	return chosen
}

func (n *naive) base(cache fold.CacheMode, i int) int {
	start := n.terms.Fixed
	for _, e := range n.elements[:i] {
		start += e.tokens
	}
	switch cache {
	case fold.CacheLCP:
		return start
	case fold.CachePrefix:
		return n.terms.Fixed
	}
	base := 0
	for _, end := range n.ends {
		if end <= start {
			base = max(base, end)
		}
	}
	return base
}

// covers says that all lines of b are among those of a.
func covers(a, b fold.Lines) bool {
	whole := fold.Lines{}
	return a == whole || b != whole && a.First <= b.First && a.Last >= b.Last
}
