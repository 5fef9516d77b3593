package builtin

import "podd/pkg/tool"

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
	return a
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
