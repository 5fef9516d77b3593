// Package item is podd's vocabulary: items, tool output, segments, entries,
// alerts, usage, sequence numbers and error kinds. Every other package speaks in
// these words.
//
// It does no I/O, knows no wire format (internal/wire has the one conversion) and
// imports nothing of podd. Its values are plain data: whoever holds one may read
// it from any goroutine and must not change it after handing it on.
package item
