package extern

import "podd/pkg/hook"

// ParseVerdict gives the word of a verdict and how many items it adds.
func ParseVerdict(edge, text string) (word string, items int, err error) {
	v, err := parseVerdict(hook.EdgeName(edge), text)
	return v.word, len(v.items), err
}

// Capture keeps of chunks what is kept of a stream with this limit, and says how many
// bytes that are.
func Capture(limit int, chunks ...string) (text string, kept int) {
	c := &capture{limit: limit}
	for _, chunk := range chunks {
		c.add([]byte(chunk))
	}
	return c.text(), len(c.head) + cap(c.tail)
}
