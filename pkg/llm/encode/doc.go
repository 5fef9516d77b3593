// Package encode has what the adapters share when they encode a request: JSON without
// reflection, frames around text without authority, images, and an encoder that copies
// what a request has in common with the one before. It knows no wire format.
//
// An adapter writes the units of a conversation through Units. The bytes of a unit never
// depend on later items, so a longer conversation extends a shorter one byte for byte, up
// to the closing brackets.
package encode
