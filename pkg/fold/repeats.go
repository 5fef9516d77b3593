package fold

import (
	"crypto/sha256"

	"podd/pkg/item"
)

// The bounds of a loop: a call that gives the same result LoopTimes in LoopSteps leads nowhere.
const (
	LoopSteps = 10
	LoopTimes = 5
)

// Repeats is what the calls of the last LoopSteps steps gave, in their order.
type Repeats []Repeat

// Repeat is a call and its result, told from others by their digest.
type Repeat struct {
	Step int
	Sum  [sha256.Size]byte
}

// with is Repeats with one more call.
func (r Repeats) with(step int, tool, arguments string, out item.Output) Repeats {
	kept := make(Repeats, 0, len(r)+1)
	for _, c := range r {
		if c.Step > step-LoopSteps {
			kept = append(kept, c)
		}
	}
	return append(kept, Repeat{step, sha256.Sum256([]byte(tool + "\x00" + arguments + "\x00" + out.Text()))})
}

// Loop says whether a call gave the same result LoopTimes.
func (r Repeats) Loop() bool {
	times := make(map[[sha256.Size]byte]int)
	for _, c := range r {
		if times[c.Sum]++; times[c.Sum] >= LoopTimes {
			return true
		}
	}
	return false
}
