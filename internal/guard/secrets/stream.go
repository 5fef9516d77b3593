package secrets

import (
	"slices"
	"strings"
	"sync"
)

// maxHeld bounds what a Stream holds back, in bytes.
const maxHeld = 64 << 10

// Stream redacts text that comes in fragments, cut anywhere, and gives it on as soon
// as it is known to be no part of a secret. What it gives, put together, has no secret
// that Redact would have found in the whole, as long as no secret is longer than
// 64 KiB. A Stream is for one goroutine.
type Stream struct {
	set *Set
	// before is the last byte that was given on, which tells where words begin.
	before string
	held   string
	// swallow has the characters in which a secret goes on that was given on as
	// redacted; empty when there is none.
	swallow string
}

// Stream begins a text.
func (s *Set) Stream() *Stream { return &Stream{set: s} }

// Write takes a fragment and returns what can be shown; it may be empty.
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
	return s.give(text, cut)
}

// Flush ends the text and returns the rest of it.
func (s *Stream) Flush() string {
	text := s.before + s.held
	out := s.give(text, len(text))
	*s = Stream{set: s.set}
	return out
}

// give redacts the text up to cut and holds the rest back.
func (s *Stream) give(text string, cut int) string {
	done := text[:cut]
	out := strings.TrimPrefix(s.set.Redact(done), s.before)
	s.held = text[cut:]
	if done != "" {
		s.before = done[len(done)-1:]
	}
	return out
}

// overflow gives up on what is too long to be held: it is shown as redacted, and the
// rest of it is not shown.
func (s *Stream) overflow(text string, cut int) string {
	out := s.give(text, cut) + Mark
	s.held, s.before, s.swallow = "", "", token
	if strings.HasPrefix(text[cut:], "-----") {
		s.swallow = pemBody
	}
	return out
}

// undecided is from where on what follows may change what the text is.
func (s *Stream) undecided(text string) int {
	cut := len(text)
	for _, sp := range s.set.candidates(text) {
		if sp.open {
			cut = min(cut, sp.from)
		}
	}
	for _, value := range s.set.values() {
		cut = min(cut, len(text)-begun(text, value))
	}
	for i := range forms {
		cut = min(cut, len(text)-begun(text, forms[i].trigger))
	}
	// What is cut must not be in the middle of a secret that is whole. Backwards, as
	// what tells one may lie in the one before.
	for _, sp := range slices.Backward(s.set.find(text)) {
		if sp.start < cut && cut < sp.end {
			cut = sp.from
		}
	}
	return max(cut, len(s.before))
}

// begun is how many bytes at the end of text are the beginning of what, which is not
// whole.
func begun(text, what string) int {
	for n := min(len(what)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, what[:n]) {
			return n
		}
	}
	return 0
}

// Live is a Stream that may be written to from any goroutine and reports what can be
// shown. flush ends the text.
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
