package encode

import (
	"slices"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// Encoder makes the bodies of a conversation; see llm.Encoder. It keeps the last body and
// the offset of each unit in it. The next body extends it in place if the conversation only
// grew; otherwise it consists of copied units and new ones. What closes a body is a part of
// its own, so the bytes of an earlier body never change.
func Encoder(begin Begin) llm.Encoder {
	e := &incremental{start: begin}
	return e.body
}

// incremental has the last body. A zero last means no body yet.
type incremental struct {
	start Begin
	last  encoded
}

// encoded is a body without what closes it, and its parts.
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
func (c *incremental) body(r llm.Request) (llm.Body, error) {
	old := &c.last
	if len(old.units) == 0 || !sameSetup(old.Setup, r.Setup) {
		if err := CheckSetup(r.Setup); err != nil {
			return nil, err
		}
		*old = encoded{}
	}
	next := encoded{Request: r}
	e := c.begin(old, &next)
	w := e.At()
	same := old.shared(r.Items)
	for i := len(next.units); i < len(r.Items); {
		n := old.copy(w, i, max(i, same), &next)
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
	next.body, w.Dst = w.Dst, nil
	closing := e.End()
	if err := w.failed; err != nil {
		return nil, err
	}
	c.last = next
	return llm.Body{next.body[:len(next.body):len(next.body)], closing}, nil
}

// begin returns an encoder positioned at the first item, or after the items of the old body if
// that can be extended. It begins the units of next.
func (c *incremental) begin(old, next *encoded) Units {
	r := next.Request
	if len(old.units) == 0 || !old.open(0, r.Items) {
		next.units = make([]unit, 0, len(r.Items)+1+len(r.Items)/8)
		return c.start(written(make([]byte, 0, sizeHint(r)), r), r)
	}
	rest := llm.Request{Images: r.Images}
	rest.Setup = item.Setup{
		Model: r.Setup.Model, Endpoint: r.Setup.Endpoint, FileRefRole: r.Setup.FileRefRole, NoImages: r.Setup.NoImages,
		Options: r.Setup.Options, Body: r.Setup.Body,
	}
	e := c.start(written(nil, rest), rest)
	w := e.At()
	if n := len(old.Items); old.extends(r.Items) {
		// No earlier body reaches beyond the old ends.
		w.Dst, w.Place, next.units = old.body, old.units[n].Place, old.units[:n]
		return e
	}
	first := old.units[0]
	w.Dst, w.Place = append(make([]byte, 0, sizeHint(r)), old.body[:first.at]...), first.Place
	next.units = make([]unit, 0, len(r.Items)+1+len(r.Items)/8)
	return e
}

// shared is the number of leading items that are the old ones because they are in the same
// array.
func (old *encoded) shared(items []item.Item) int {
	n := min(len(old.Items), len(items))
	if n == 0 || &old.Items[0] != &items[0] {
		return 0
	}
	return n
}

// extends says whether items go on where the old ones ended, and the old body with them.
func (old *encoded) extends(items []item.Item) bool {
	n := len(old.Items)
	return n > 0 && old.shared(items) == n && !grows(items, n) && old.open(n, items)
}

// copy appends the old body's parts for the items from i on that equal its own, as those
// before n do, and returns the number of those items. It does not compare identical strings
// byte by byte. It copies only whole units, and none that could end elsewhere now: the last
// answer may have become longer.
func (old *encoded) copy(w *Written, i, n int, next *encoded) int {
	if i >= len(old.Items) || old.units[i].at < 0 || old.units[i].Place != w.Place {
		return 0
	}
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
