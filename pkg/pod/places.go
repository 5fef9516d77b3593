package pod

import (
	"slices"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// places are directories that exist, by the paths that somebody gave: what each is called
// without links.
type places map[string]string

// findPlaces looks for the directories that a spec has and the one before has not.
func findPlaces(spec, before item.PodSpec) (places, error) {
	found := make(places)
	find := func(what string, paths, before []string) error {
		if slices.Equal(paths, before) {
			return nil
		}
		for _, path := range paths {
			resolved, err := scopefs.Directory(path, what)
			if err != nil {
				return err
			}
			found[path] = resolved
		}
		return nil
	}
	if err := find("workspace", []string{spec.Dir}, []string{before.Dir}); err != nil {
		return nil, err
	}
	if err := find("read root", spec.Read, before.Read); err != nil {
		return nil, err
	}
	return found, find("write root", spec.Write, before.Write)
}

// resolve gives the directories that a spec has and the one before has not their names. A
// path that was not looked for comes from a spec that was stored meanwhile.
func (p places) resolve(spec, before item.PodSpec) item.PodSpec {
	names := func(paths, before []string) []string {
		if slices.Equal(paths, before) {
			return paths
		}
		paths = slices.Clone(paths)
		for i, path := range paths {
			if name, ok := p[path]; ok {
				paths[i] = name
			}
		}
		return paths
	}
	spec.Dir = names([]string{spec.Dir}, []string{before.Dir})[0]
	spec.Read, spec.Write = names(spec.Read, before.Read), names(spec.Write, before.Write)
	return spec
}
