package openai

import "podd/pkg/item"

// encoder appends the items of a request, unit by unit. What it appends for a unit
// depends on the setup, the unit and the encoder's place, on nothing else: so the bytes
// of a unit can be taken from an earlier body.
type encoder interface {
	// next appends the unit that items begin with, and says how many items it has.
	next(items []item.Item) (n int)
	// at is where the encoder stands between two units.
	at() *written
	// end closes the body.
	end() []byte
}

// written is a body as far as it is written.
type written struct {
	dst []byte
	place
}

func (w *written) at() *written { return w }

// place is what an encoder knows of the units before the next one.
type place struct {
	// begun says that there is an element before.
	begun bool
	// userOpen says that a message of the user's role is open, afterTool that the last
	// message is a tool's.
	userOpen, afterTool bool
}
