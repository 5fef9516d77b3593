package workspace

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

// within are the directories that a spawned pod's must lie in: those that a person gave
// the pod at the top. Whatever became of the specs in between, each pod's directories lie
// in its parent's, or it has none.
func within(spec item.PodSpec, above []item.Pod) ([]string, error) {
	var outer []string
	for _, p := range above {
		if dir, ok := narrower(spec, p.Spec); !ok {
			return nil, item.Errorf(item.KindPrecondition, "WIDER_THAN_PARENT",
				"the directory %s lies outside of those of pod %s, which spawned this one: change one of the two with podctl update", dir, p.Name)
		}
		spec, outer = p.Spec, p.Spec.Readable()
	}
	return outer, nil
}

// narrower says whether all directories of a spec lie in another's, or which does not.
func narrower(spec, than item.PodSpec) (dir string, ok bool) {
	for _, dir := range spec.Writable() {
		if !scopefs.LiesIn(dir, than.Writable()) {
			return dir, false
		}
	}
	for _, dir := range spec.Read {
		if !scopefs.LiesIn(dir, than.Readable()) {
			return dir, false
		}
	}
	return "", true
}
