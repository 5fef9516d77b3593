package fold

import "strings"

// WindowOf is the context window of a model in tokens, input and output together; 0
// when it is not known, and then only the endpoint says when it is full.
func WindowOf(model string) int {
	bare := model[strings.LastIndexByte(model, '/')+1:]
	window, length := 0, 0
	for _, w := range windows() {
		if len(w.model) > length && begins(bare, w.model) {
			window, length = w.tokens, len(w.model)
		}
	}
	return window
}

type modelWindow struct {
	model  string
	tokens int
}

// windows is the table of the vendors' published sizes, by the beginning of a
// model's name.
func windows() []modelWindow {
	return []modelWindow{
		{"gpt-6", 400_000},
		{"gpt-5", 400_000},
		{"gpt-4.1", 1_047_576},
		{"gpt-4o", 128_000},
		{"gpt-4-turbo", 128_000},
		{"o1", 200_000},
		{"o3", 200_000},
		{"o4-mini", 200_000},
	}
}
