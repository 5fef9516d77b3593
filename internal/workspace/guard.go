package workspace

import (
	"fmt"

	"podd/internal/guard/policy"
	"podd/pkg/scopefs"
)

// The tools whose rules apply to files that podd reads without a call.
var readingTools = []string{"read_file", "list_dir"}

// guarded are a pod's files for what podd reads itself: it skips a file that a rule
// denies. For a file that a rule asks about, asks decides, because podd cannot ask a
// person here; linked says that links lead the path elsewhere.
func (w *Workspace) guarded(fs *scopefs.FS, asks func(linked bool) (refused bool, why string)) *scopefs.FS {
	return fs.Guarded(func(named string, leads []string) string {
		rules, err := w.rulesNow()
		if err != nil {
			return fmt.Sprintf("is not read, because podd cannot find out whether the rules allow it: %v", err)
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
					return which + "needs approval by " + rule + why
				}
			}
		}
		return ""
	})
}

// referenced are the files that a submit may refer to: text may come from anywhere, and a
// reference cannot ask.
func (w *Workspace) referenced(fs *scopefs.FS) *scopefs.FS {
	return w.guarded(fs, func(bool) (bool, string) {
		return true, ", which a reference cannot ask for: let the model read the file, or paste the text"
	})
}

// toldBy are the files with a workspace's instructions. A rule that asks is about calls
// of the model; it applies here only to a link, by which the workspace would pass off
// another file as its own.
func (w *Workspace) toldBy(fs *scopefs.FS) *scopefs.FS {
	return w.guarded(fs, func(linked bool) (bool, string) { return linked, "" })
}

// wider opens a workspace with one more directory to read, for the instructions above it.
func (w *Workspace) wider(d *directory) func(root string) (*scopefs.FS, error) {
	return func(root string) (*scopefs.FS, error) {
		fs, err := scopefs.Open(scopefs.Config{Dir: d.spec.Dir, Read: []string{root}, Hidden: w.all.Hidden})
		if err != nil {
			return nil, err
		}
		return w.toldBy(fs), nil
	}
}
