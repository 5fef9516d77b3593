package encode

import (
	"slices"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// Encoder makes the bodies of a conversation; see llm.Encoder. It keeps the last body and
// the offset of each unit in it: the next body consists of copied units and new ones.
func Encoder(begin Begin) llm.Encoder {
	e := &incremental{start: begin}
	return e.body
}

// incremental has the last body. A zero last means no body yet.
type incremental struct {
	start Begin
	last  encoded
}

// encoded is a body and its parts.
type encoded struct {
	llm.Request
	body []byte
	// units has, for each item, the unit that begins the body's part before that item. It
	// has one more element than items, for the end of the last item.
	units []unit
}

// unit is the beginning of a unit in a body.
type unit struct {
	// at is its offset; -1 for an item within a unit.
	at int
	Place
}

// body returns the bytes of Body.
func (c *incremental) body(r llm.Request) ([]byte, error) {
	old := &c.last
	if len(old.units) == 0 || !sameSetup(old.Setup, r.Setup) {
		if err := CheckSetup(r.Setup); err != nil {
			return nil, err
		}
		*old = encoded{}
	}
	next := encoded{Request: r, units: make([]unit, 0, len(r.Items)+1+len(r.Items)/8)}
	e := c.begin(r, old)
	w := e.At()
	for i := 0; i < len(r.Items); {
		n := old.copy(w, i, &next)
		if n == 0 {
			next.units = append(next.units, unit{len(w.Dst), w.Place})
			n = e.Next(r.Items[i:])
			for range n - 1 {
				next.units = append(next.units, unit{at: -1})
			}
		}
		i += n
	}
	next.units = append(next.units, unit{len(w.Dst), w.Place})
	next.body = e.End()
	if err := w.failed; err != nil {
		return nil, err
	}
	c.last = next
	return next.body, nil
}

// begin returns an encoder positioned at the first item.
func (c *incremental) begin(r llm.Request, old *encoded) Units {
	size := sizeHint(r)
	if old.units == nil || !old.open(0, r.Items) {
		return c.start(written(make([]byte, 0, size), r), r)
	}
	rest := llm.Request{Images: r.Images}
	rest.Setup = item.Setup{Model: r.Setup.Model, Endpoint: r.Setup.Endpoint, FileRefRole: r.Setup.FileRefRole, NoImages: r.Setup.NoImages}
	e := c.start(written(nil, rest), rest)
	first, w := old.units[0], e.At()
	w.Dst, w.Place = append(make([]byte, 0, size), old.body[:first.at]...), first.Place
	return e
}

// copy appends the old body's parts for the items from i on that equal its own, and
// returns the number of those items. It does not compare identical strings byte by byte.
// It copies only whole units, and none that could end elsewhere now: the last answer may
// have become longer.
func (old *encoded) copy(w *Written, i int, next *encoded) int {
	if i >= len(old.Items) || old.units[i].at < 0 || old.units[i].Place != w.Place {
		return 0
	}
	n := i
	for n < min(len(old.Items), len(next.Items)) && old.Items[n] == next.Items[n] {
		n++
	}
	for n > i && (old.units[n].at < 0 || grows(next.Items, n) || !old.open(n, next.Items)) {
		n--
	}
	if n == i {
		return 0
	}
	first, last := old.units[i].at, old.units[n]
	shift := len(w.Dst) - first
	w.Dst = append(w.Dst, old.body[first:last.at]...)
	w.Place = last.Place
	for _, u := range old.units[i:n] {
		if u.at >= 0 {
			u.at += shift
		}
		next.units = append(next.units, u)
	}
	return n - i
}

// grows says whether the unit before the n-th item may be longer than that.
func grows(items []item.Item, n int) bool {
	return StepLen(items[n-1:n]) == 1 || n < len(items) && ResultsLen(items[n-1:n+1]) == 2
}

// open says whether a message that is open before the n-th item has the same form when these
// items follow, the first n of which are the old ones.
func (old *encoded) open(n int, items []item.Item) bool {
	runs := RunsOf(old.Setup)
	return !old.units[n].UserOpen || runs.around(old.Items, n) == runs.around(items, n)
}

// sameSetup says whether two setups make the same bytes.
func sameSetup(a, b item.Setup) bool {
	return a.Model == b.Model && a.Endpoint == b.Endpoint && a.Options == b.Options && a.Body == b.Body && a.CacheKey == b.CacheKey && a.Base == b.Base && a.Environment == b.Environment && a.Instructions == b.Instructions &&
		a.ProjectInstructions == b.ProjectInstructions && a.FileRefRole == b.FileRefRole &&
		a.NoImages == b.NoImages && a.AnswerLimit == b.AnswerLimit && slices.Equal(a.Tools, b.Tools)
}
