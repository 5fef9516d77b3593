// Package podname makes names for unnamed pods, from their workspace's name.
//
// Rank 1. Its functions are pure.
package podname

import (
	"fmt"
	"strings"

	"podd/pkg/item"
)

// For makes a pod's name from a directory's.
func For(dir string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, dir)
	name = strings.Trim(name[:min(len(name), item.MaxPodName)], "-")
	switch {
	case name == "":
		return "pod"
	case !item.ValidPodName(name):
		return "pod-" + name[:min(len(name), item.MaxPodName-len("pod-"))]
	}
	return name
}

// Numbered adds a number to a name from the second pod on, within the length of a name.
func Numbered(base string, n int) string {
	if n == 1 {
		return base
	}
	suffix := fmt.Sprintf("-%d", n)
	return base[:min(len(base), item.MaxPodName-len(suffix))] + suffix
}
