package extern

import "podd/pkg/hook"

// ParseVerdict returns the word of a verdict and how many items it adds.
func ParseVerdict(edge, text string) (word string, items int, err error) {
	v, err := parseVerdict(hook.EdgeName(edge), text)
	return v.word, len(v.items), err
}

// Capture returns what is kept of a stream of chunks with this limit, and its size in
// bytes.
func Capture(limit int, chunks ...string) (text string, kept int) {
	c := &capture{limit: limit}
	for _, chunk := range chunks {
		c.add([]byte(chunk))
	}
	return c.text(), len(c.head) + cap(c.tail)
}
