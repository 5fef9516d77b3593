package openai

import (
	"slices"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// Composer makes the bodies of a conversation; see llm.Composer. It keeps the last body
// and where each unit of it begins, and so each item's wire form: the next body is what
// can be copied of that, and what is new.
func (c *Client) Composer() llm.Composer { return &composer{client: c} }

// composer holds the last body. The zero last is none.
type composer struct {
	client *Client
	last   composed
}

// composed is a body and its parts.
type composed struct {
	setup item.Setup
	body  []byte
	// marks are those of the request, units what stands in the body before the item of
	// that index; one more than items, for what stands behind the last.
	marks []llm.Mark
	units []unit
}

// unit is where a unit begins in a body.
type unit struct {
	// at is its offset; -1 for an item within a unit.
	at int
	place
}

// Body gives the bytes of Client.Body.
func (c *composer) Body(r llm.Request) ([]byte, error) {
	old := &c.last
	if len(old.units) == 0 || !sameSetup(old.setup, r.Setup) {
		if err := checkSetup(r.Setup); err != nil {
			return nil, err
		}
		*old = composed{}
	}
	next := composed{
		setup: r.Setup, marks: slices.Clone(r.Marks),
		units: make([]unit, 0, len(r.Items)+1+len(r.Items)/8),
	}
	e := c.begin(r, old)
	w := e.at()
	for i := 0; i < len(r.Items); {
		n := old.copy(w, r, i, &next)
		if n == 0 {
			next.units = append(next.units, unit{len(w.dst), w.place})
			n = e.next(r.Items[i:])
			for range n - 1 {
				next.units = append(next.units, unit{at: -1})
			}
		}
		i += n
	}
	next.units = append(next.units, unit{len(w.dst), w.place})
	next.body = e.end()
	c.last = next
	return next.body, nil
}

// begin is an encoder behind what stands before the items.
func (c *composer) begin(r llm.Request, old *composed) encoder {
	size := sizeHint(r)
	if old.units == nil {
		return c.client.newEncoder(make([]byte, 0, size), r.Setup)
	}
	e := c.client.newEncoder(nil, item.Setup{Model: r.Setup.Model, FileRefRole: r.Setup.FileRefRole})
	first := old.units[0]
	*e.at() = written{append(make([]byte, 0, size), old.body[:first.at]...), first.place}
	return e
}

// copy appends what the old body has for the items from i on, and says how many items
// that is. It copies whole units only, and none that could end elsewhere now: the last
// answer may have got longer.
func (old *composed) copy(w *written, r llm.Request, i int, next *composed) int {
	from, ok := slices.BinarySearch(old.marks, r.Marks[i])
	if !ok || old.units[from].at < 0 || old.units[from].place != w.place {
		return 0
	}
	n := 0
	for from+n < len(old.marks) && i+n < len(r.Marks) && old.marks[from+n] == r.Marks[i+n] {
		n++
	}
	for n > 0 && (old.units[from+n].at < 0 || answers(r.Items[i+n-1])) {
		n--
	}
	if n == 0 {
		return 0
	}
	first, last := old.units[from].at, old.units[from+n]
	shift := len(w.dst) - first
	w.dst = append(w.dst, old.body[first:last.at]...)
	w.place = last.place
	for _, u := range old.units[from : from+n] {
		if u.at >= 0 {
			u.at += shift
		}
		next.units = append(next.units, u)
	}
	return n
}

// answers says whether an item is of a model's answer.
func answers(it item.Item) bool { return stepLen([]item.Item{it}) == 1 }

// sameSetup says whether two setups make the same bytes.
func sameSetup(a, b item.Setup) bool {
	return a.Model == b.Model && a.Instructions == b.Instructions && a.ProjectInstructions == b.ProjectInstructions &&
		a.FileRefRole == b.FileRefRole && slices.Equal(a.Tools, b.Tools)
}
