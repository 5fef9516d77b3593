package fold_test

import (
	"time"

	"pgregory.net/rapid"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// session grows a log like a pod: a user asks, the model answers with calls, results
// come, and so on. Every step ends just before a request.
type session struct {
	ops []op
	now time.Time
	seq item.Seq
}

// newSession begins with a setup.
func newSession(window int) *session {
	s := &session{now: time.Unix(1_000_000, 0)}
	s.setup(fold.DefaultPrice(), window)
	return s
}

func (s *session) setup(p fold.Price, window int) {
	s.ops = append(s.ops, op{Setup: &fold.Terms{Price: p, Window: window, Fixed: 5000}})
}

func (s *session) add(e fold.Element) item.Seq {
	// The log has entries of other kinds in between.
	s.seq += 2
	e.Seq = s.seq
	s.ops = append(s.ops, op{Add: &e})
	return s.seq
}

func (s *session) user() { s.add(fold.Element{Tokens: 50, StartsTurn: true}) }

// step answers the request and adds the results of the answer's calls.
func (s *session) step(results ...fold.Element) {
	s.answer(fold.Answer{}, results...)
}

func (s *session) answer(a fold.Answer, results ...fold.Element) {
	a.Items, a.Time = 1+len(results), s.now
	s.add(fold.Element{Tokens: 40})
	for range results {
		s.add(fold.Element{Tokens: 30})
	}
	s.ops = append(s.ops, op{Answered: &a})
	for _, r := range results {
		s.add(r)
	}
}

func (s *session) prune(seqs []item.Seq) {
	if len(seqs) > 0 {
		s.ops = append(s.ops, op{Prune: seqs})
	}
}

// result is a result with a stub of 36 tokens.
func result(kind item.OutputKind, tokens int) fold.Element {
	return fold.Element{Result: true, Kind: kind, Tokens: tokens, Stub: min(tokens, 36)}
}

// read is a result that shows a file.
func read(path string, tokens int) fold.Element {
	e := result(item.OutputRead, tokens)
	e.Path = path
	return e
}

func drawResult(t *rapid.T) fold.Element {
	e := result(
		rapid.SampledFrom([]item.OutputKind{"read", "read", "search", "shell", "shell", "edit", "task", "other", "", "novel"}).Draw(t, "kind"),
		rapid.OneOf(rapid.IntRange(1, 200), rapid.IntRange(200, 3000), rapid.IntRange(3000, 30_000)).Draw(t, "tokens"),
	)
	e.Path = rapid.SampledFrom([]string{"", "a.go", "b.go", "c.go"}).Draw(t, "path")
	if first := rapid.IntRange(0, 3).Draw(t, "first"); first > 0 && e.Kind == item.OutputRead {
		e.Lines = fold.Lines{First: first, Last: first + rapid.IntRange(0, 2).Draw(t, "lines")}
	}
	e.Sticky = rapid.IntRange(0, 19).Draw(t, "sticky") == 0
	e.IsError = rapid.IntRange(0, 9).Draw(t, "error") == 0
	return e
}

// drawStep is what happens between two requests.
func (s *session) drawStep(t *rapid.T, window int) {
	pause := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 60), rapid.IntRange(590, 610), rapid.IntRange(0, 4000)).Draw(t, "pause")
	s.now = s.now.Add(time.Duration(pause) * time.Second)
	switch rapid.IntRange(0, 19).Draw(t, "what") {
	case 0, 1:
		s.user()
	case 2:
		s.setup(rapid.SampledFrom([]fold.Price{
			fold.DefaultPrice(), {Cached: .10, Write: 1.25, TTL: 30 * time.Minute}, {Cached: 1, Write: 1, TTL: time.Minute},
		}).Draw(t, "price"), window)
	default:
		s.answer(fold.Answer{
			Measured:    rapid.Bool().Draw(t, "measured"),
			CachedInput: rapid.Int64Range(-3, 3).Draw(t, "cached"),
		}, rapid.SliceOfN(rapid.Custom(drawResult), 1, 3).Draw(t, "results")...)
	}
}

func drawCache(t *rapid.T) fold.CacheMode {
	return rapid.SampledFrom([]fold.CacheMode{fold.CacheEnds, fold.CacheLCP, fold.CachePrefix}).Draw(t, "cache")
}
