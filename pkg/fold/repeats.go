package fold

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"

	"podd/pkg/item"
)

// MaxLoopSteps is the most steps over which repeats can be counted.
const MaxLoopSteps = 100

// Repeats is the results of the calls of the last steps, for finding a loop.
type Repeats struct {
	// Calls are in order. The same call with the same result counts once per step.
	Calls []Repeat
	// Noted is the step after which the model last got a note about a loop; 0 for never.
	Noted int
}

// Repeat is a call and its result, identified by their digest.
type Repeat struct {
	Step int
	Tool string
	Sum  uint64
}

// with is Repeats with one more call.
func (r Repeats) with(step int, tool, arguments string, out item.Output) Repeats {
	if polls(tool, arguments) {
		return r
	}
	sum := sha256.Sum256([]byte(tool + "\x00" + arguments + "\x00" + out.Text()))
	next := Repeat{step, tool, binary.BigEndian.Uint64(sum[:])}
	kept := make([]Repeat, 0, len(r.Calls)+1)
	for _, c := range r.Calls {
		if c == next {
			return r
		}
		if c.Step > step-MaxLoopSteps {
			kept = append(kept, c)
		}
	}
	r.Calls = append(kept, next)
	return r
}

// polls says whether a call reads a job: a job without news returns the same each time.
func polls(tool, arguments string) bool {
	var args struct {
		Action string `json:"action"`
	}
	return tool == "job" && json.Unmarshal([]byte(arguments), &args) == nil && (args.Action == "read" || args.Action == "list")
}

// most is the tool of the call that gave the same result in the most steps after a step,
// and the number of those steps.
func (r Repeats) most(after int) (tool string, times int) {
	counts := make(map[uint64]int)
	for _, c := range r.Calls {
		if c.Step <= after {
			continue
		}
		if counts[c.Sum]++; counts[c.Sum] > times {
			tool, times = c.Tool, counts[c.Sum]
		}
	}
	return tool, times
}

// Repeated is the tool of the call that gave the same result in the most of the turn's
// last steps, and the number of those steps.
func (t *Turn) Repeated(steps int) (tool string, times int) { return t.Repeats.most(t.Step - steps) }
