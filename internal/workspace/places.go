package workspace

import (
	"slices"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// places maps existing directories, by the paths that clients or models gave, to their
// paths without links.
type places map[string]string

// findPlaces looks up the directories that a spec has and the previous one does not.
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

// resolve replaces the directories that a spec has and the previous one does not by their
// real paths. A path that was not looked up is from a spec that was stored meanwhile.
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

// within are the directories that a sub-pod's must be in: those that a person gave the
// pod at the top. Whatever happened to the specs in between, each pod's directories are
// in its parent's, or it has none.
func within(spec item.PodSpec, above []item.Pod) ([]string, error) {
	var outer []string
	for _, p := range above {
		if dir, ok := narrower(spec, p.Spec); !ok {
			return nil, item.Errorf(item.KindPrecondition, "WIDER_THAN_PARENT",
				"the directory %s is outside the directories of the parent pod %s: change one of the two with podctl update", dir, p.Name)
		}
		spec, outer = p.Spec, p.Spec.Readable()
	}
	return outer, nil
}

// checkNetwork refuses the network for a pod when one of those above has none.
func checkNetwork(above []item.Pod, configured bool) error {
	for i, p := range above {
		if !p.Spec.ReachesNetwork(above[i+1:], configured) {
			return item.Errorf(item.KindPrecondition, "WIDER_THAN_PARENT",
				"pod %s, which spawned this one, has no network: give it the network first, with podctl update %s --network on", p.Name, p.Name)
		}
	}
	return nil
}

// network says whether the pod's commands reach the network now, unasked.
func (w *Workspace) network() bool {
	w.mu.Lock()
	spec := w.spec
	w.mu.Unlock()
	above, err := w.above()
	return err == nil && spec.ReachesNetwork(above, w.all.Shell.Sandbox.ReachesNetwork())
}

// narrower says whether all directories of a spec are in another's, or which one is not.
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
