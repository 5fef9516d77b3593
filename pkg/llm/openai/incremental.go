package openai

import (
	"slices"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// Encoder makes the bodies of a conversation; see llm.Encoder. It keeps the last body and
// where each unit of it begins: the next body is what can be copied of that, and what is new.
func (c *Client) Encoder() llm.Encoder {
	e := &incremental{client: c}
	return e.body
}

// incremental has the last body. The zero last is none.
type incremental struct {
	client *Client
	last   encoded
}

// encoded is a body and its parts.
type encoded struct {
	llm.Request
	body []byte
	// units are what stands in the body before the item of that index; one more than
	// items, for what stands behind the last.
	units []unit
}

// unit is where a unit begins in a body.
type unit struct {
	// at is its offset; -1 for an item within a unit.
	at int
	place
}

// body gives the bytes of Client.Body.
func (c *incremental) body(r llm.Request) ([]byte, error) {
	old := &c.last
	if len(old.units) == 0 || !sameSetup(old.Setup, r.Setup) {
		if err := checkSetup(r.Setup); err != nil {
			return nil, err
		}
		*old = encoded{}
	}
	next := encoded{Request: r, units: make([]unit, 0, len(r.Items)+1+len(r.Items)/8)}
	e := c.begin(r, old)
	w := e.at()
	for i := 0; i < len(r.Items); {
		n := old.copy(w, i, &next)
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
func (c *incremental) begin(r llm.Request, old *encoded) encoder {
	size := sizeHint(r)
	if old.units == nil {
		return c.client.newEncoder(make([]byte, 0, size), r.Setup)
	}
	e := c.client.newEncoder(nil, item.Setup{Model: r.Setup.Model, FileRefRole: r.Setup.FileRefRole})
	first := old.units[0]
	*e.at() = written{append(make([]byte, 0, size), old.body[:first.at]...), first.place}
	return e
}

// copy appends what the old body has for the items from i on that are equal to its own, and
// says how many items that is. Strings that are the same are not compared byte by byte. It
// copies whole units only, and none that could end elsewhere now: the last answer may have
// got longer.
func (old *encoded) copy(w *written, i int, next *encoded) int {
	if i >= len(old.Items) || old.units[i].at < 0 || old.units[i].place != w.place {
		return 0
	}
	n := i
	for n < min(len(old.Items), len(next.Items)) && old.Items[n] == next.Items[n] {
		n++
	}
	for n > i && (old.units[n].at < 0 || answers(next.Items[n-1])) {
		n--
	}
	if n == i {
		return 0
	}
	first, last := old.units[i].at, old.units[n]
	shift := len(w.dst) - first
	w.dst = append(w.dst, old.body[first:last.at]...)
	w.place = last.place
	for _, u := range old.units[i:n] {
		if u.at >= 0 {
			u.at += shift
		}
		next.units = append(next.units, u)
	}
	return n - i
}

// answers says whether an item is of a model's answer.
func answers(it item.Item) bool { return stepLen([]item.Item{it}) == 1 }

// sameSetup says whether two setups make the same bytes.
func sameSetup(a, b item.Setup) bool {
	return a.Model == b.Model && a.Instructions == b.Instructions && a.ProjectInstructions == b.ProjectInstructions &&
		a.FileRefRole == b.FileRefRole && slices.Equal(a.Tools, b.Tools)
}
