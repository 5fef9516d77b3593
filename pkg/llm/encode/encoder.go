package encode

import (
	"podd/pkg/item"
	"podd/pkg/llm"
)

// Units appends the items of a request, unit by unit. The bytes of a unit depend only on
// the setup, the unit and the place, so they can be copied from an earlier body.
type Units interface {
	// Next appends the unit that items begin with, and returns its number of items.
	Next(items []item.Item) (n int)
	// At is the position between two units.
	At() *Written
	// End appends what closes the body, which does not depend on what is written.
	End() []byte
}

// Begin returns the units of a request, with everything before its items written. It
// ignores a setup's fields that bodies do not depend on.
type Begin func(w Written, r llm.Request) Units

// Written is the part of a body that is written.
type Written struct {
	Dst []byte
	Place
	*Pictures
}

// At is w.
func (w *Written) At() *Written { return w }

// Place is what an encoder knows of the units before the next one.
type Place struct {
	// Begun says that an element precedes.
	Begun bool
	// InParts says that the content of the open message is a list of parts.
	InParts bool
	// UserOpen says that a message of the user's role is open, AfterTool that the last
	// message is a tool's.
	UserOpen, AfterTool bool
}

// Body encodes a request whole. An error is an *llm.Error of class ClassInvalid or
// ClassNoModel.
func Body(begin Begin, r llm.Request) ([]byte, error) {
	if err := CheckSetup(r.Setup); err != nil {
		return nil, err
	}
	u := begin(written(make([]byte, 0, sizeHint(r)), r), r)
	for rest := r.Items; len(rest) > 0; {
		rest = rest[u.Next(rest):]
	}
	return u.End(), u.At().failed
}

// written begins a body.
func written(dst []byte, r llm.Request) Written {
	return Written{Dst: dst, Pictures: &Pictures{images: r.Images, none: r.Setup.NoImages}}
}
