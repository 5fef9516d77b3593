package worker

import (
	"bytes"
	"reflect"

	"podd/pkg/llm"
)

// Encoder makes the bodies of a pod's requests and remembers the last one, from turn to turn.
// The zero Encoder has made none. It belongs to the turn that runs.
type Encoder struct {
	model  llm.Model
	encode llm.Encoder
	// sent is the body of the last request that was answered.
	sent []byte
}

// body is the body of a request to a model.
func (e *Encoder) body(m llm.Model, r llm.Request) ([]byte, error) {
	if e.encode == nil || !sameModel(e.model, m) {
		e.model, e.encode = m, llm.NewEncoder(m)
	}
	return e.encode(r)
}

// sameModel compares models of any type, also of one that == takes no values of.
func sameModel(a, b llm.Model) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// answered remembers the body of a request that was answered, and gives how many bytes it
// begins with like the one before: what a prompt cache can have. It is 0 for the first one,
// also after a restart.
func (e *Encoder) answered(body []byte) (prefix int) {
	prefix = commonPrefix(e.sent, body)
	e.sent = body
	return prefix
}

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
