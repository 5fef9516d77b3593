package workspace

import (
	"fmt"

	"podd/internal/guard/policy"
	"podd/pkg/scopefs"
)

// The tools whose rules count for what podd reads without a call.
var readingTools = []string{"read_file", "list_dir"}

// guarded are the files of a pod for what podd reads by itself: what a rule denies is
// not read. What a rule asks about is not read either where that is said to be so, for
// there is nobody to ask: asks is told whether the path leads elsewhere by links.
func (w *Workspace) guarded(fs *scopefs.FS, asks func(linked bool) (refused bool, why string)) *scopefs.FS {
	return fs.Guarded(func(named string, leads []string) string {
		rules, err := w.rulesNow()
		if err != nil {
			return fmt.Sprintf("is not read, because podd can't tell whether the rules allow it: %v", err)
		}
		which := ""
		if len(leads) > 0 {
			which = "leads to " + scopefs.Display(leads[0]) + " and "
		}
		for _, name := range readingTools {
			call := policy.Call{
				Tool: name, Paths: rules.allFromBase([]string{named}), Leads: [][]string{rules.allFromBase(leads)}, Confined: true,
			}
			switch d, rule := rules.Against(call); d {
			case policy.Deny:
				return which + "is denied by " + rule
			case policy.Ask:
				if refused, why := asks(len(leads) > 0); refused {
					return which + "must be approved by " + rule + why
				}
			}
		}
		return ""
	})
}

// referenced are the files that a submit may refer to: text may come from anywhere, and a
// reference asks nobody.
func (w *Workspace) referenced(fs *scopefs.FS) *scopefs.FS {
	return w.guarded(fs, func(bool) (bool, string) {
		return true, ", and a reference asks nobody: have the model read it, or paste what it needs"
	})
}

// toldBy are the files that a workspace gives orders in. A rule that asks is about calls of
// the model, unless a link leads there: then the workspace hands a file on as its own.
func (w *Workspace) toldBy(fs *scopefs.FS) *scopefs.FS {
	return w.guarded(fs, func(linked bool) (bool, string) { return linked, "" })
}
