package secrets

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mark is what stands where a secret was.
const Mark = "[redacted]"

// minKnown is the length, in bytes, from which on a value that podd was given counts
// as a secret to look for: shorter ones would be found everywhere.
const minKnown = 8

// Set is the secrets that podd knows. The zero value and a nil Set know none by
// value; the well-known forms are found all the same.
type Set struct {
	mu    sync.Mutex
	known atomic.Pointer[[]string]
}

// New is a Set of values.
func New(values ...string) *Set {
	s := &Set{}
	s.Add(values...)
	return s
}

// Add makes values known, as they are and as URLs and JSON write them. A value stays
// known for ever: one that was replaced may still be in use elsewhere. Values of fewer
// than 8 bytes are left out.
func (s *Set) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := slices.Clone(s.values())
	for _, value := range values {
		value = strings.TrimSpace(value)
		if len(value) < minKnown {
			continue
		}
		for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), inJSON(value)} {
			if !slices.Contains(known, form) && !strings.Contains(Mark, form) {
				known = append(known, form)
			}
		}
	}
	s.known.Store(&known)
}

func inJSON(value string) string {
	quoted, err := json.Marshal(value)
	if err != nil {
		return value
	}
	return string(quoted[1 : len(quoted)-1])
}

func (s *Set) values() []string {
	if s == nil {
		return nil
	}
	if known := s.known.Load(); known != nil {
		return *known
	}
	return nil
}

// Redact is the text with [Mark] in place of each secret. Redacting again changes
// nothing. Text without a secret is returned as it is.
func (s *Set) Redact(text string) string {
	// What stood behind a secret may look like one of its own now.
	for {
		spans := s.find(text)
		if len(spans) == 0 {
			return text
		}
		text = redacted(text, spans)
	}
}

func redacted(text string, spans []span) string {
	var b strings.Builder
	at := 0
	for _, sp := range spans {
		b.WriteString(text[at:sp.start])
		b.WriteString(Mark)
		at = sp.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// Holds says whether a text has a value that podd was given.
func (s *Set) Holds(text string) bool {
	return slices.ContainsFunc(s.values(), func(value string) bool { return strings.Contains(text, value) })
}

// Environ is the entries of an environment that hold no value that podd was given:
// what a child may get of it.
func (s *Set) Environ(entries []string) []string {
	var kept []string
	for _, entry := range entries {
		if !s.Holds(entry) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// span is where a secret stands in a text.
type span struct {
	start, end int
	// from is where what tells the secret begins: a header's name, say.
	from int
	// open says that what follows the text may belong to the secret, or make one of
	// what is none yet.
	open bool
	// no says that it is no secret as it stands.
	no bool
}

// find is the secrets in a text: sorted, none touching another.
func (s *Set) find(text string) []span {
	return joined(slices.DeleteFunc(s.candidates(text), func(sp span) bool { return sp.no }))
}

// candidates is what is or may become a secret.
func (s *Set) candidates(text string) []span {
	var all []span
	for _, value := range s.values() {
		for at := 0; ; {
			i := strings.Index(text[at:], value)
			if i < 0 {
				break
			}
			all = append(all, span{start: at + i, end: at + i + len(value), from: at + i})
			at += i + 1
		}
	}
	for at := 0; at+1 < len(text); at++ {
		for _, f := range pairs[index[text[at]][text[at+1]]] {
			if !strings.HasPrefix(text[at:], f.trigger) {
				continue
			}
			if sp := f.match(text, at); !sp.no || sp.open {
				all = append(all, sp)
			}
		}
	}
	return all
}

// joined sorts spans and makes one of those that overlap.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var out []span
	for _, sp := range spans {
		if last := len(out) - 1; last >= 0 && sp.start < out[last].end {
			out[last].end = max(out[last].end, sp.end)
			out[last].from = min(out[last].from, sp.from)
			continue
		}
		out = append(out, sp)
	}
	return out
}
