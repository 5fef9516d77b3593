package worker

import (
	"bytes"
	"reflect"

	"podd/pkg/llm"
)

// Encoder makes the bodies of a pod's requests and remembers the last one, across turns.
// The zero Encoder has made none. It belongs to the running turn.
type Encoder struct {
	model  llm.Model
	encode llm.Encoder
	// sent is the body of the last answered request.
	sent []byte
}

// body is the body of a request to a model.
func (e *Encoder) body(m llm.Model, r llm.Request) ([]byte, error) {
	if e.encode == nil || !sameModel(e.model, m) {
		e.model, e.encode = m, llm.NewEncoder(m)
	}
	return e.encode(r)
}

// sameModel compares models of any type, including those that == cannot compare.
func sameModel(a, b llm.Model) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// answered records the body of an answered request, and returns the number of its first
// bytes that equal the previous one: what a prompt cache can have. It is 0 for the first
// request, also after a restart.
func (e *Encoder) answered(body []byte) (prefix int) {
	prefix = commonPrefix(e.sent, body)
	e.sent = body
	return prefix
}

// commonPrefix is the length of the common start of a and b. Requests differ near their
// ends, so it compares large pieces.
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
