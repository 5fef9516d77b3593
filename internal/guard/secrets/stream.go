package secrets

import (
	"slices"
	"strings"
	"sync"
)

// maxHeld bounds what a Stream holds back, in bytes.
const maxHeld = 64 << 10

// Stream redacts text that comes in fragments, cut anywhere, and returns it as soon as it
// is certainly not part of a secret. The returned text as a whole has no secret that
// Redact would have found in the whole input, as long as no secret is longer than 64 KiB.
// A Stream is for one goroutine.
type Stream struct {
	set *Set
	// before is the last returned byte, which shows where words begin.
	before string
	held   string
	// swallow has the characters that continue a secret already returned as redacted; empty
	// without one.
	swallow string
}

// Stream begins a text.
func (s *Set) Stream() *Stream { return &Stream{set: s} }

// Write adds a fragment and returns what can be shown; it may be empty.
func (s *Stream) Write(fragment string) string {
	s.held += fragment
	if s.swallow != "" {
		s.held = s.held[run(s.held, 0, s.swallow):]
		if s.held == "" {
			return ""
		}
		s.swallow = ""
	}
	text := s.before + s.held
	cut := s.undecided(text)
	if len(text)-cut > maxHeld {
		return s.overflow(text, cut)
	}
	return s.emit(text, cut)
}

// Flush ends the text and returns the rest of it.
func (s *Stream) Flush() string {
	text := s.before + s.held
	out := s.emit(text, len(text))
	*s = Stream{set: s.set}
	return out
}

// emit redacts the text up to cut and keeps the rest back.
func (s *Stream) emit(text string, cut int) string {
	done := text[:cut]
	out := strings.TrimPrefix(s.set.Redact(done), s.before)
	s.held = text[cut:]
	if done != "" {
		s.before = done[len(done)-1:]
	}
	return out
}

// overflow gives up on text that is too long to keep back: it shows as redacted, and the
// rest of it does not show.
func (s *Stream) overflow(text string, cut int) string {
	out := s.emit(text, cut) + Mark
	s.held, s.before, s.swallow = "", "", token
	if strings.HasPrefix(text[cut:], "-----") {
		s.swallow = pemBody
	}
	return out
}

// undecided is the place after which later text may change what the text is.
func (s *Stream) undecided(text string) int {
	cut := len(text)
	for _, sp := range s.set.candidates(text) {
		if sp.open {
			cut = min(cut, sp.from)
		}
	}
	for _, k := range s.set.values() {
		cut = min(cut, len(text)-begun(text, k.form))
	}
	for i := range forms {
		cut = min(cut, len(text)-begun(text, forms[i].trigger))
	}
	// The cut must not be in the middle of a complete secret. Go backwards, because the sign
	// of one may be in the one before.
	for _, sp := range slices.Backward(s.set.find(text)) {
		if sp.start < cut && cut < sp.end {
			cut = sp.from
		}
	}
	return max(cut, len(s.before))
}

// begun is the length of the longest end of text that is an incomplete beginning of what.
func begun(text, what string) int {
	for n := min(len(what)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, what[:n]) {
			return n
		}
	}
	return 0
}

// Live is a Stream that any goroutine may write to, and that reports what can be shown.
// flush ends the text.
func (s *Set) Live(report func(text string)) (write func(text string), flush func()) {
	var mu sync.Mutex
	stream := s.Stream()
	// The lock is held while reporting: fragments stay in order.
	pass := func(next func() string) {
		mu.Lock()
		defer mu.Unlock()
		if out := next(); out != "" {
			report(out)
		}
	}
	return func(text string) { pass(func() string { return stream.Write(text) }) }, func() { pass(stream.Flush) }
}
