package builtin

import (
	"context"
	"fmt"

	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// target is a target of a scope.
type target struct{ scopefs.Target }

// Still says whether the path leads where it led earlier.
func (t target) Still(earlier tool.Target) bool {
	e, ok := earlier.(target)
	return ok && t.Target.Still(e.Target)
}

// Targets are where some paths of a scope, which a call may change, lead now.
func Targets(fs *scopefs.FS, paths []string) []tool.Target { return targets(fs.ChangeTarget, paths) }

func targets(lookUp func(path string) scopefs.Target, paths []string) []tool.Target {
	all := make([]tool.Target, len(paths))
	for i, path := range paths {
		all[i] = target{lookUp(path)}
	}
	return all
}

// named are paths relative to the workspace; an empty path means the workspace.
func (f *files) named(paths []string) []string {
	for i, path := range paths {
		paths[i] = f.Rel(orWorkspace(path))
	}
	return paths
}

// alike is the path of a file that is there already; see [scopefs.FS.Alike]. Several such files count as none.
func (f *files) alike(path string) string {
	path, _ = f.Alike(orWorkspace(path))
	return path
}

// reading is the access of a tool that reads files of the scope.
func (f *files) reading(paths ...string) tool.Access {
	paths = f.named(paths)
	return tool.Access{Paths: paths, Targets: targets(f.Target, paths), Confined: true}
}

// writing is the access of a tool that changes files of the scope.
func (f *files) writing(paths ...string) tool.Access {
	paths = f.named(paths)
	a := tool.Access{Paths: paths, Targets: Targets(f.FS, paths), Writes: true, Confined: true}
	for _, t := range a.Targets {
		// The question is about exactly what the call is limited to.
		if why, protected := t.(target).Protected(); protected {
			a.Protected = append(a.Protected, fmt.Sprintf("%s is protected because %s", scopefs.Display(t.Named()), why))
		}
	}
	return a
}

// bound are the files as a call may use them: where its paths led when it was decided on.
func (f *files) bound(call *tool.Invocation) *files {
	to := &files{FS: f.FS, changing: f.changing, mayChange: f.mayChange}
	if len(call.Agreed) > 0 {
		to.strict = call.Approved
		to.agreed = make(map[string]string, len(call.Agreed))
		for _, p := range call.Agreed {
			to.agreed[p.Path] = p.Base
		}
	}
	if len(call.Targets) == 0 {
		return to
	}
	var targets []scopefs.Target
	for _, d := range call.Targets {
		if t, ok := d.(target); ok {
			targets = append(targets, t.Target)
		}
	}
	to.FS = f.Bound(targets)
	return to
}

// granted is the context of a change: a call that a person approved in exactly this form
// may change protected paths.
func granted(ctx context.Context, call *tool.Invocation) context.Context {
	if call.Approved {
		return scopefs.Approved(ctx)
	}
	return ctx
}

// access is what a patch changes; one that can't be parsed changes nothing.
func (f *files) patchAccess(args patchArgs) tool.Access {
	changes, _ := f.patchChanges(args)
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.path)
		if c.moveTo != "" {
			paths = append(paths, c.moveTo)
		}
	}
	return f.writing(paths...)
}
