package extern

import "podd/pkg/hook"

// ParseVerdict gives the word of a verdict and how many items it adds.
func ParseVerdict(edge, text string) (word string, items int, err error) {
	v, err := parseVerdict(hook.EdgeName(edge), text)
	return v.word, len(v.items), err
}
