// Package lazy makes what few runs of a program need when it is needed first, so that the
// others start faster and use less memory.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles the expression when it is called first.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
