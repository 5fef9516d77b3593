package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"podd/pkg/item"
)

// leaving says of a level what a call does that asks for it.
var leaving = map[item.Access]string{
	item.AccessNetwork: "it asks for the machine's network",
	item.AccessHost:    "it asks to run without a sandbox",
}

// accessGit was a level: rules that are stored in pods may name it, and cover no call by it.
const accessGit item.Access = "git"

// compileLevels refuses levels that do not exist.
func compileLevels(levels []item.Access) error {
	for _, level := range levels {
		if !slices.Contains(item.Accesses(), level) && level != accessGit {
			return fmt.Errorf(`there is no access %s: write "sandbox", "network" or "host"`, quoted(string(level)))
		}
	}
	return nil
}

// coversLevel says whether a rule is about calls of this level. A rule that allows names each
// level that is more than the pod has.
func (c *compiled) coversLevel(call Call) bool {
	if len(c.Access) == 0 {
		return c.Decision != Allow || !call.Beyond
	}
	return call.Level != "" && (slices.Contains(c.Access, call.Level) || !call.Beyond && slices.Contains(c.Access, item.AccessSandbox))
}

// level begins a sentence about a call that asks for more than the sandbox: with what it
// asks for, and what the model says why.
func (c Call) level() string {
	if c.Level == "" || c.Level == item.AccessSandbox {
		return ""
	}
	return fmt.Sprintf("Access %q, why %s: ", c.Level, strconv.Quote(c.Why))
}

// names are levels in one text.
func names(levels []item.Access) string {
	all := make([]string, len(levels))
	for i, level := range levels {
		all[i] = string(level)
	}
	return strings.Join(all, ", ")
}
