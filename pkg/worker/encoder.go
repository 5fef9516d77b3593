package worker

import (
	"bytes"
	"reflect"
	"slices"

	"podd/pkg/llm"
)

// Encoder makes the bodies of a pod's requests and remembers the last one, across turns.
// The zero Encoder has made none. It belongs to the running turn.
type Encoder struct {
	model  llm.Model
	encode llm.Encoder
	// made is the last request, and kept the last answered one. sent is the body of kept; an
	// Encoder that rests does not have it.
	made, kept llm.Request
	sent       llm.Body
}

// Rest drops the bytes of the last body until the next one is made. It must not be called
// during a turn. The items that it keeps are those of the pod.
func (e *Encoder) Rest() { e.encode, e.sent = nil, nil }

// Rests says that Rest would drop nothing.
func (e *Encoder) Rests() bool { return e.encode == nil }

// body is the body of a request to a model.
func (e *Encoder) body(m llm.Model, r llm.Request) (llm.Body, error) {
	if e.encode == nil && e.model != nil {
		e.wake()
	}
	if e.encode == nil || !sameModel(e.model, m) {
		e.model, e.encode = m, llm.NewEncoder(m)
	}
	e.made = r
	return e.encode(r)
}

// wake encodes the last answered request again: equal items have equal bytes. If that fails,
// the next request is treated as the first.
func (e *Encoder) wake() {
	e.encode = llm.NewEncoder(e.model)
	if len(e.kept.Items) > 0 {
		e.sent, _ = e.encode(e.kept)
	}
}

// sameModel compares models of any type, including those that == cannot compare.
func sameModel(a, b llm.Model) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// answered records that the last request, which has this body, was answered, and returns the
// number of its first bytes that equal the previous one: what a prompt cache can have. It is
// 0 for the first request, also after a restart.
func (e *Encoder) answered(body llm.Body) (prefix int) {
	prefix = commonPrefix(e.sent, body)
	e.kept, e.sent = e.made, body
	return prefix
}

// commonPrefix is the length of the common start of two bodies. Requests differ near their
// ends, so it compares large pieces; bytes that both share are not compared.
func commonPrefix(a, b llm.Body) (n int) {
	a, b = slices.Clone(a), slices.Clone(b)
	for len(a) > 0 && len(b) > 0 {
		length := min(len(a[0]), len(b[0]))
		same := commonStart(a[0][:length], b[0][:length])
		n += same
		if same < length {
			return n
		}
		a, b = without(a, length), without(b, length)
	}
	return n
}

// without is a body without n bytes of its first part.
func without(b llm.Body, n int) llm.Body {
	if b[0] = b[0][n:]; len(b[0]) == 0 {
		return b[1:]
	}
	return b
}

// commonStart is the length of the common start of slices of one length.
func commonStart(a, b []byte) (at int) {
	for step := len(a); step > 0; step /= 2 {
		for at+step <= len(a) && bytes.Equal(a[at:at+step], b[at:at+step]) {
			at += step
		}
	}
	return at
}
