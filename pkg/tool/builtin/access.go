package builtin

import (
	"context"
	"fmt"

	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// reading is the access of a tool that reads files of the scope, named from the
// workspace; no path stands for the workspace.
func (f *files) reading(paths ...string) tool.Access {
	for i, path := range paths {
		paths[i] = f.Rel(orWorkspace(path))
	}
	return tool.Access{Paths: paths, Confined: true}
}

// writing is the access of a tool that changes files of the scope.
func (f *files) writing(paths ...string) tool.Access {
	a := f.reading(paths...)
	a.Writes = true
	for _, path := range a.Paths {
		if why, protected := f.Protected(path); protected {
			a.Protected = append(a.Protected, fmt.Sprintf("%s is protected (%s)", scopefs.Display(path), why))
		}
	}
	return a
}

// granted is the context of a change: protected paths may be changed by a call that a
// person has agreed to as it stands.
func granted(ctx context.Context) context.Context {
	if tool.CallFrom(ctx).Approved {
		return scopefs.Approved(ctx)
	}
	return ctx
}

// access is what a patch changes; one that can't be read changes nothing.
func (p *patcher) access(args patchArgs) tool.Access {
	changes, _ := parsePatch(args.Input)
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.path)
		if c.moveTo != "" {
			paths = append(paths, c.moveTo)
		}
	}
	return p.writing(paths...)
}
