package worker

import "podd/pkg/tool"

// Lines of the state that say what a turn may do.
const (
	actMode  = "Mode: act.\n"
	planMode = "Mode: plan. Read and find out, and end with a plan; podd denies what changes something. The user's next prompt can let you act.\n"
)

// acts says why a call must not run in a turn that only plans, and what to do instead; empty
// when it may. r is policy's ruling.
func acts(a tool.Access, r Ruling) string {
	switch {
	case a.Obeys:
		return ""
	case a.Writes:
		return "this turn only plans, and the call changes files: put the change into your plan"
	case a.Command != "":
		return "this turn only plans, so a command needs a sandbox that keeps it from changes, and must not ask for more: " +
			"call it without changes and access, or use the tools that read"
	case !a.Confined && a.Host == "" && r.Ask != "":
		return "this turn only plans, and no rule allows this tool: put the call into your plan"
	}
	return ""
}
