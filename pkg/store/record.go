package store

import (
	"podd/pkg/item"
	"podd/pkg/wire"
)

// MaxEntryBytes is the size of the largest entry that can be stored. It is below the
// largest message that podd sends, 16 MiB, so that every stored entry can be streamed.
const MaxEntryBytes = 15 << 20

// Decode is the record's entry.
func (r Record) Decode() (item.Entry, error) { return wire.DecodeEntry(r.Entry) }

// Decode is the entry of the submit; its kind is item.Submitted.
func (w Waiting) Decode() (item.Entry, error) { return wire.DecodeEntry(w.Entry) }
