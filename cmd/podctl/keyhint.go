package main

import (
	"fmt"
	"regexp"
	"strings"

	"podd/pkg/item"
)

// variable is the name of an environment variable, as keys have.
var variable = regexp.MustCompile(`\b[A-Z][A-Z0-9_]*_KEY\b`)

// keyHint says so if a turn ended because podd has no key and this shell has it; otherwise it
// is empty.
func keyHint(env func(string) string, end item.TurnEnded) string {
	if end.Reason != "NO_API_KEY" && !strings.Contains(end.Cause, "none is set") {
		return ""
	}
	for _, name := range variable.FindAllString(end.Cause, -1) {
		if env(name) != "" {
			return fmt.Sprintf("%s is set in this shell, but podd was started without it: stop podd and start it again from here", name)
		}
	}
	return ""
}
