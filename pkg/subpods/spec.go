package subpods

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// spec is that of a pod which a call spawns: the parent's, and never more.
func (s *spawner) spec(ctx context.Context, call *tool.Invocation, parent item.Pod, args arguments) (spec item.PodSpec, err error) {
	spec = parent.Spec
	spec.Parent, spec.ParentCall = parent.ID, call.CallID
	spec.Rules = slices.Clone(spec.Rules)
	if spec.SubPods--; s.depth+1 >= pod.MaxDepth {
		spec.SubPods = 0
	}
	if err := s.subset(&spec.Tools, args.Tools); err != nil {
		return spec, err
	}
	if err := s.scope(&spec, parent.Spec, args); err != nil {
		return spec, err
	}
	spec.Limits, err = s.limits(ctx, call, args, parent.Spec.Limits)
	return spec, err
}

// subset takes the tools that are asked for.
func (s *spawner) subset(tools *[]string, asked []string) error {
	for _, name := range asked {
		if !slices.Contains(s.tools, name) {
			return item.Errorf(item.KindInvalid, "BAD_TOOLS", "not run: you have no tool %q to give: name some of %s", name, strings.Join(s.tools, ", "))
		}
	}
	if len(asked) > 0 {
		*tools = asked
	}
	return nil
}

// scope takes the directories that are asked for; all of the parent's when none is.
func (s *spawner) scope(spec *item.PodSpec, parent item.PodSpec, args arguments) (err error) {
	if args.Dir == "" && len(args.Read)+len(args.Write) == 0 {
		return nil
	}
	if args.Dir != "" {
		if spec.Dir, err = s.inside(args.Dir, parent.Dir, parent.Writable()); err != nil {
			return err
		}
	}
	spec.Read, spec.Write = nil, nil
	for _, dir := range args.Write {
		resolved, err := s.inside(dir, parent.Dir, parent.Writable())
		if err != nil {
			return err
		}
		spec.Write = append(spec.Write, resolved)
	}
	for _, dir := range args.Read {
		resolved, err := s.inside(dir, parent.Dir, parent.Readable())
		if err != nil {
			return err
		}
		spec.Read = append(spec.Read, resolved)
	}
	return nil
}

// inside is a directory, its links resolved, that lies in one of some roots. Nothing is
// told of what lies outside, and nobody gets a root in what is protected: what a name
// means there could not be seen from its inside.
func (s *spawner) inside(dir, base string, roots []string) (string, error) {
	outside := item.Errorf(item.KindInvalid, "BAD_DIR", "not run: %q is no directory in your scope that you can hand on for that", dir)
	resolved := filepath.Clean(dir)
	if !filepath.IsAbs(resolved) {
		resolved = filepath.Join(base, resolved)
	}
	if !scopefs.LiesIn(resolved, roots) {
		return "", outside
	}
	resolved, err := scopefs.Directory(resolved, "directory")
	if err != nil || !scopefs.LiesIn(resolved, roots) {
		return "", outside
	}
	for _, path := range []string{resolved, filepath.Join(resolved, "x"), filepath.Join(resolved, "config")} {
		if _, protected := s.files.Protected(path); protected {
			return "", item.Errorf(item.KindInvalid, "BAD_DIR", "not run: %q is protected: do there yourself what has to be done", dir)
		}
	}
	return resolved, nil
}
