package fold_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// steps are requests without results.
func (s *session) steps(n int) {
	for range n {
		s.step()
	}
}

func decide(t *testing.T, s *session, c fold.Config) fold.Decision {
	t.Helper()
	return newLedger(t, c, s.ops...).Decide(s.now)
}

func wantPruned(t *testing.T, d fold.Decision, want ...item.Seq) {
	t.Helper()
	if !slices.Equal(d.Seqs, want) {
		t.Errorf("prunes %v, want %v (%s)", d.Seqs, want, d.Reason)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1, math.Abs(b)) }

// One number of the rule, calculated by hand: after 2 answered requests in the middle of
// a turn, for a shell result of 30,000 tokens that is the last item but two.
func TestGainAndPrice(t *testing.T) {
	s := newSession(0)
	s.user()
	s.step(result("shell", 30_000))
	s.steps(2)
	d := decide(t, s, fold.Config{})

	// 5000 fixed, 50 user, 40 + 30 answer and call, 30,000, 40 + 40 answers.
	const size = 5000 + 50 + 70 + 30_000 + 80
	const saving = 30_000 - 36
	chance := 0.03 * math.Exp2(-2.0/14)
	gain := 5*0.10*saving - chance*(30_000+0.10*size+40_000)
	// The request before the result was the first one: 5,050 tokens.
	price := 0.9 * (size - saving - 5050)
	if !near(d.Gain, gain) || !near(d.Price, price) {
		t.Errorf("a gain of %v at a price of %v, want %v at %v", d.Gain, d.Price, gain, price)
	}
	if d.Saved != saving || d.Prefix != 5000+50+70 {
		t.Errorf("saves %d and keeps %d", d.Saved, d.Prefix)
	}
	want := "1 result, 29964 tokens: to leave out is worth 12984 tokens, to break the cache costs 167"
	if d.Reason != want {
		t.Errorf("reason %q, want %q", d.Reason, want)
	}
}

func TestCacheModes(t *testing.T) {
	s := newSession(0)
	s.user()
	s.step(result("shell", 30_000))
	s.steps(2)
	const rest = 36 + 80 // the stub and the items after it
	for mode, sentAnew := range map[fold.CacheMode]float64{
		fold.CacheEnds:   rest + 70,
		fold.CacheLCP:    rest,
		fold.CachePrefix: rest + 70 + 50,
	} {
		d := decide(t, s, fold.Config{Cache: mode})
		if !near(d.Price, 0.9*sentAnew) {
			t.Errorf("%s: price %v, want that of %v tokens", mode, d.Price, sentAnew)
		}
	}
}

// A prune removes the ends of the requests that it changed: the cache has nothing of them
// any more.
func TestEndsAfterAPrune(t *testing.T) {
	s := newSession(0)
	s.user()
	s.step(result("shell", 30_000))
	first := s.seq
	s.step(result("shell", 30_000))
	second := s.seq
	s.steps(2)
	price := func() float64 {
		d := decide(t, s, fold.Config{Economic: fold.EconomicConfig{MinGain: 1}})
		wantPruned(t, d, second)
		return d.Price
	}
	s.prune([]item.Seq{first})
	// Only the first request is unchanged: everything after it is sent again.
	if want := 0.9 * (70 + 36 + 70 + 36 + 80); !near(price(), want) {
		t.Errorf("right after the prune the price is %v, want %v", price(), want)
	}
	s.steps(1)
	if want := 0.9 * (70 + 36 + 70 + 36 + 120); !near(price(), want) {
		t.Errorf("a request later the price is %v, want %v", price(), want)
	}
}

func TestColdCache(t *testing.T) {
	ttl := fold.DefaultPrice().TTL
	s := newSession(0)
	s.user()
	s.step(result("search", 2000))
	seq := s.seq
	s.steps(2)
	tests := map[string]struct {
		at    time.Time
		setup bool
		want  []item.Seq
	}{
		"warm":               {s.now.Add(time.Second), false, nil},
		"as old as it gets":  {s.now.Add(ttl), false, nil},
		"idle for too long":  {s.now.Add(ttl + 1), false, []item.Seq{seq}},
		"another setup":      {s.now, true, []item.Seq{seq}},
		"a clock going back": {s.now.Add(-time.Hour), false, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t, fold.Config{}, s.ops...)
			if tt.setup {
				l.Setup(fold.Terms{Fixed: 5000})
			}
			d := l.Decide(tt.at)
			wantPruned(t, d, tt.want...)
			if d.Price != 0 {
				t.Errorf("a cold cache costs %v to break", d.Price)
			}
			l.Answered(fold.Answer{Time: tt.at})
			wantPruned(t, l.Decide(tt.at))
		})
	}
}

func TestProtections(t *testing.T) {
	big := result("shell", 40_000)
	sticky, failed := big, big
	sticky.Sticky, failed.IsError = true, true
	tests := map[string]struct {
		result fold.Element
		after  func(*session)
		pruned bool
	}{
		"not sent":                   {big, func(*session) {}, false},
		"sent once":                  {big, func(s *session) { s.steps(1) }, false},
		"sent twice":                 {big, func(s *session) { s.steps(2) }, true},
		"sticky":                     {sticky, func(s *session) { s.steps(20) }, false},
		"an error of this turn":      {failed, func(s *session) { s.steps(20) }, false},
		"an error of an older turn":  {failed, func(s *session) { s.steps(2); s.user() }, true},
		"no result":                  {fold.Element{Tokens: 40_000}, func(s *session) { s.steps(2) }, false},
		"a small stub is no content": {fold.Element{Result: true, Tokens: 40_000, Stub: 40_000}, func(s *session) { s.steps(2) }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSession(0)
			s.user()
			s.step(tt.result)
			seq := s.seq
			tt.after(s)
			d := decide(t, s, fold.Config{})
			if got := len(d.Seqs) > 0; got != tt.pruned || got && d.Seqs[0] != seq {
				t.Errorf("prunes %v, want %t", d.Seqs, tt.pruned)
			}
		})
	}
	for tokens, want := range map[int]bool{79: false, 80: true} {
		s := newSession(0)
		s.user()
		s.step(result("shell", tokens))
		s.steps(2)
		s.now = s.now.Add(time.Hour)
		seldom := fold.Config{Economic: fold.EconomicConfig{Weights: fold.Weights{Shell: 1e-9}}}
		if got := len(decide(t, s, seldom).Seqs) > 0; got != want {
			t.Errorf("%d tokens: pruned %t, want %t", tokens, got, want)
		}
	}
}

// gainOf is the gain of the only result of a session, in a cold decision that prunes it.
func gainOf(t *testing.T, s *session) float64 {
	t.Helper()
	d := newLedger(t, fold.Config{}, s.ops...).Decide(s.now.Add(24 * time.Hour))
	return d.Gain
}

// What happens to a file decides how long a read of it is worth carrying.
func TestEditedAndReread(t *testing.T) {
	edit := result(item.OutputEdit, 20)
	edit.Path = "a.go"
	failedEdit := edit
	failedEdit.IsError = true
	other := edit
	other.Path = "b.go"
	again := read("a.go", 20)
	tests := map[string]struct {
		steps [][]fold.Element
		// weight and age of the probability that the read is needed again.
		weight float64
		age    int
	}{
		"read alone":                  {[][]fold.Element{{}, {}}, .45, 2},
		"edited, not sent since":      {[][]fold.Element{{}, {edit}}, .45, 2},
		"edited a request ago":        {[][]fold.Element{{}, {edit}, {}}, .10, 1},
		"edited three ago":            {[][]fold.Element{{edit}, {}, {}, {}}, .10, 3},
		"reread, not sent since":      {[][]fold.Element{{}, {again}}, .08, 0},
		"reread two ago":              {[][]fold.Element{{again}, {}, {}}, .08, 2},
		"edited wins over reread":     {[][]fold.Element{{edit}, {again}, {}}, .10, 1},
		"and is as old as the latest": {[][]fold.Element{{again}, {edit}, {}, {}}, .10, 2},
		"an edit that failed":         {[][]fold.Element{{failedEdit}, {}}, .45, 2},
		"an edit of another file":     {[][]fold.Element{{other}, {}}, .45, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSession(0)
			s.user()
			s.step(read("a.go", 3000))
			for _, results := range tt.steps {
				s.step(results...)
			}
			size := float64(newLedger(t, fold.Config{}, s.ops...).Tokens())
			chance := tt.weight * math.Exp2(-float64(tt.age)/14)
			want := max(0, 20*0.10*2964-chance*(3000+0.10*size+40_000)+0.9*2964)
			if got := gainOf(t, s); !near(got, want) {
				t.Errorf("the gain is %v, want %v", got, want)
			}
		})
	}
}

// Two warm requests without cached tokens prove that nothing is cached: carrying then
// costs the full price, and breaking the cache costs nothing.
func TestFallbackWithoutCache(t *testing.T) {
	none := fold.Answer{Measured: true}
	some := fold.Answer{Measured: true, CachedInput: 4000}
	silent := fold.Answer{}
	tests := map[string]struct {
		answers  []fold.Answer
		uncached bool
	}{
		"the first request is cold": {[]fold.Answer{none, none}, false},
		"two warm ones":             {[]fold.Answer{none, none, none}, true},
		"not measured":              {[]fold.Answer{silent, silent, silent, silent}, false},
		"silent ones do not count":  {[]fold.Answer{none, none, silent, none}, true},
		"cached in between":         {[]fold.Answer{none, none, some, none}, false},
		"cached at last":            {[]fold.Answer{none, none, none, some}, false},
		"and gone again":            {[]fold.Answer{none, none, none, some, none, none}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSession(0)
			s.user()
			for _, a := range tt.answers {
				s.answer(a)
			}
			l := newLedger(t, fold.Config{}, s.ops...)
			l.Add(fold.Element{Seq: s.seq + 1, Result: true, Kind: "shell", Tokens: 50_000, Stub: 36})
			l.Answered(fold.Answer{Time: s.now})
			l.Answered(fold.Answer{Time: s.now})
			if d := l.Decide(s.now); (d.Price == 0) != tt.uncached || len(d.Seqs) == 0 {
				t.Errorf("the price of breaking the cache is %v", d.Price)
			}
		})
	}
	t.Run("a request too small to be cached", func(t *testing.T) {
		l := newLedger(t, fold.Config{})
		l.Add(fold.Element{Seq: 1, Tokens: 1000, StartsTurn: true})
		for range 5 {
			l.Answered(none)
		}
		l.Add(fold.Element{Seq: 2, Result: true, Tokens: 50_000, Stub: 36})
		l.Answered(silent)
		l.Answered(silent)
		if d := l.Decide(time.Time{}); d.Price == 0 || len(d.Seqs) == 0 {
			t.Errorf("the price of breaking the cache is %v", d.Price)
		}
	})
}

// A continued step makes a request but does not age any result.
func TestStepGoesOn(t *testing.T) {
	s := newSession(0)
	s.user()
	s.step(result("shell", 40_000))
	for range 3 {
		s.answer(fold.Answer{StepGoesOn: true})
	}
	wantPruned(t, decide(t, s, fold.Config{}))
	s.steps(2)
	if d := decide(t, s, fold.Config{}); len(d.Seqs) != 1 {
		t.Errorf("prunes %v", d.Seqs)
	}
}

// After a compaction the summary is first, requests are counted from zero, and the kept
// items continue unchanged.
func TestCompact(t *testing.T) {
	s := newSession(0)
	s.user()
	s.step(result("shell", 9000))
	gone := s.seq
	s.step(result("shell", 30_000))
	kept := s.seq
	s.steps(2)
	l := newLedger(t, fold.Config{}, s.ops...)
	wantPruned(t, l.Decide(s.now), gone, kept)

	l.Compact(gone, fold.Element{Tokens: 700})
	// A summary, the answer and call, the result, two answers.
	if want := 5000 + 700 + 70 + 30_000 + 80; l.Tokens() != want {
		t.Errorf("%d tokens, want %d", l.Tokens(), want)
	}
	d := l.Decide(s.now)
	wantPruned(t, d, kept)
	if d.Prefix != 5000+700+70 {
		t.Errorf("%d tokens stay", d.Prefix)
	}
	l.Prune(0, "", d.Seqs)
	if l.Pruned(gone) || !l.Pruned(kept) || l.Tokens() != 5000+700+70+36+80 {
		t.Errorf("after the prune: %d tokens", l.Tokens())
	}
	l.Compact(s.seq, fold.Element{Tokens: 900})
	if l.Tokens() != 5900 || len(l.Decide(s.now).Seqs) > 0 {
		t.Errorf("compacted to the end: %d tokens", l.Tokens())
	}
}

// The horizon depends on the requests since the compaction.
func TestHorizonAfterCompaction(t *testing.T) {
	s := newSession(0)
	s.user()
	s.steps(100)
	s.step(result("shell", 30_000))
	s.steps(2)
	c := fold.Config{Cache: fold.CacheLCP}
	long := decide(t, s, c).Gain
	l := newLedger(t, c, s.ops...)
	l.Compact(2, fold.Element{Tokens: 50})
	short := l.Decide(s.now).Gain
	// 103 requests: 30.9 further ones expected; after the compaction the minimum, 5.
	if want := (30.9 - 5) * 0.10 * 29_964; !near(long-short, want) {
		t.Errorf("the gains differ by %v, want %v", long-short, want)
	}
}

func TestOff(t *testing.T) {
	s, _ := turnsSession(9, result("shell", 100_000))
	s.now = s.now.Add(time.Hour)
	wantPruned(t, decide(t, s, fold.Config{Mode: fold.ModeOff}))
}

func TestSetFixed(t *testing.T) {
	s := newSession(0)
	s.user()
	s.step(result("shell", 30_000))
	s.steps(2)
	l := newLedger(t, fold.Config{}, s.ops...)
	before := l.Decide(s.now)
	l.SetFixed(6000)
	after := l.Decide(s.now)
	if after.Prefix != before.Prefix+1000 || after.Price != before.Price || l.Tokens() != 6000+50+70+30_000+80 {
		t.Errorf("prefix %d, price %v, %d tokens", after.Prefix, after.Price, l.Tokens())
	}
}
