// Package item is podd's vocabulary: items, tool output, segments, entries, alerts,
// usage, sequence numbers and error kinds. All other packages use it.
//
// It does no I/O, knows no wire format (pkg/wire has the one conversion) and imports
// nothing of podd. Its values are plain data: any goroutine may read them, and none may
// change one after passing it on.
package item
