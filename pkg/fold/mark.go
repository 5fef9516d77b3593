package fold

import (
	"bytes"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// sentAs is how an item is sent.
type sentAs uint64

// The ways to send an item: as it is, as its summary alone, or a summary for it and all
// before it.
const (
	asIs sentAs = iota
	stub
	summary
)

// markOf names an item of the log as it is sent.
func markOf(seq item.Seq, as sentAs) llm.Mark { return llm.Mark(uint64(seq)<<2 | uint64(as)) }

// commonPrefix is how many bytes a and b begin with alike. Requests differ near their
// ends, so it goes in large steps.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	at := 0
	for step := 64 << 10; step > 0; step /= 16 {
		for at+step <= n && bytes.Equal(a[at:at+step], b[at:at+step]) {
			at += step
		}
	}
	return at
}
