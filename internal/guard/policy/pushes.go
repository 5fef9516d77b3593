package policy

import (
	"slices"
	"sync"

	"podd/pkg/item"
)

// gitPush is git push, as a rule that asks sees it.
var gitPush = sync.OnceValue(func() *compiled {
	c, err := compile(item.Rule{Command: "git push **", Decision: Ask}, "git push")
	if err != nil {
		panic(err) // It is a constant.
	}
	return c
})

// Pushes says whether a line certainly runs git push, which changes what other people see. It is a courtesy to the
// person who is asked, not a wall: a script may push too.
func Pushes(line string) bool {
	return slices.ContainsFunc(findCommands(line).commands, func(e execution) bool { return gitPush().likens(e) == alike })
}
