//go:build !purego

package search

// places is the first of n places that passes; -1 without one. n is a multiple of 16, and the
// text has three bytes more. It tests 16 places at once.
//
//go:noescape
func places(text *byte, n int, p *probe) int
