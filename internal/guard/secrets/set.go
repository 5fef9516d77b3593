package secrets

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// minKnown is the minimum length, in bytes, of a known value to search for: shorter ones
// would be found everywhere.
const minKnown = 8

// Set is the secrets that podd knows. The zero value and a nil Set know no values; they
// still find the well-known forms.
type Set struct {
	mu    sync.Mutex
	known atomic.Pointer[[]known]
}

// known is a form of a value that podd knows, and what replaces it.
type known struct{ form, mark string }

// New is a Set of values.
func New(values ...string) *Set {
	s := &Set{}
	s.Add(values...)
	return s
}

// Add adds values, as they are and as URLs and JSON write them. A value stays known for
// ever: a replaced one may still be in use elsewhere. Values of fewer than 8 bytes are
// ignored.
func (s *Set) Add(values ...string) { s.add(Mark, values) }

// AddKeys adds values of a model endpoint, which "[key of NAME]" replaces.
func (s *Set) AddKeys(endpoint string, values ...string) { s.add("[key of "+endpoint+"]", values) }

func (s *Set) add(mark string, values []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.values())
	for _, value := range values {
		value = strings.TrimSpace(value)
		if len(value) < minKnown {
			continue
		}
		for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), inJSON(value)} {
			if !slices.ContainsFunc(all, func(k known) bool { return k.form == form }) && !strings.Contains(Mark, form) {
				all = append(all, known{form, mark})
			}
		}
	}
	// What replaces a secret is not one, or redacting would not end.
	all = slices.DeleteFunc(all, func(k known) bool {
		return slices.ContainsFunc(all, func(other known) bool { return strings.Contains(other.mark, k.form) })
	})
	s.known.Store(&all)
}

func inJSON(value string) string {
	quoted, err := json.Marshal(value)
	if err != nil {
		return value
	}
	return string(quoted[1 : len(quoted)-1])
}

func (s *Set) values() []known {
	if s == nil {
		return nil
	}
	if known := s.known.Load(); known != nil {
		return *known
	}
	return nil
}

// Redact is the text with [Mark] in place of each secret. Redacting again changes
// nothing. Text without a secret is returned unchanged.
func (s *Set) Redact(text string) string {
	// Text after a secret may look like one now.
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
		b.WriteString(cmp.Or(sp.mark, Mark))
		at = sp.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// Holds says whether a text contains a known value.
func (s *Set) Holds(text string) bool {
	return slices.ContainsFunc(s.values(), func(k known) bool { return strings.Contains(text, k.form) })
}

// Environ are the entries of an environment that contain no known value: the part for a
// child.
func (s *Set) Environ(entries []string) []string {
	var kept []string
	for _, entry := range entries {
		if !s.Holds(entry) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// span is the place of a secret in a text.
type span struct {
	start, end int
	// from is where the sign of the secret begins: a header's name, for example.
	from int
	// open says that text after this one may belong to the secret, or complete one.
	open bool
	// mark replaces it; empty for Mark.
	mark string
	// no says that it is not a secret in this form.
	no bool
}

// find returns the secrets in a text: sorted, none touching another.
func (s *Set) find(text string) []span {
	return joined(slices.DeleteFunc(s.candidates(text), func(sp span) bool { return sp.no }))
}

// candidates are what is or may become a secret.
func (s *Set) candidates(text string) []span {
	var all []span
	for _, k := range s.values() {
		value := k.form
		for at := 0; ; {
			i := strings.Index(text[at:], value)
			if i < 0 {
				break
			}
			all = append(all, span{start: at + i, end: at + i + len(value), from: at + i, mark: k.mark})
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

// joined sorts spans and merges those that overlap.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var out []span
	for _, sp := range spans {
		if last := len(out) - 1; last >= 0 && sp.start < out[last].end {
			out[last].end = max(out[last].end, sp.end)
			out[last].from = min(out[last].from, sp.from)
			out[last].mark = cmp.Or(out[last].mark, sp.mark)
			continue
		}
		out = append(out, sp)
	}
	return out
}
