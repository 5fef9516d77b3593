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

// spec is the spec of a pod that a call spawns: the parent's, and never wider.
func (s *spawner) spec(ctx context.Context, call *tool.Invocation, parent item.Pod, args arguments) (spec item.PodSpec, err error) {
	spec = parent.Spec
	spec.Parent, spec.ParentCall = parent.ID, call.CallID
	spec.Rules = slices.Clone(spec.Rules)
	spec.Plan = call.Plan
	if spec.SubPods--; s.depth+1 >= pod.MaxDepth {
		spec.SubPods = 0
	}
	if err := s.subset(&spec.Tools, args.Tools); err != nil {
		return spec, err
	}
	if args.Agent != "" {
		if err := s.preset(&spec, args); err != nil {
			return spec, err
		}
	}
	if err := s.scope(&spec, parent.Spec, args); err != nil {
		return spec, err
	}
	if args.Background {
		spec.ParentCall = ""
		spec.Limits, err = s.backgroundLimits(call, args, parent.Spec.Limits)
		return spec, err
	}
	spec.Limits, err = s.limits(ctx, call, args, parent.Spec.Limits)
	return spec, err
}

// subset returns the requested tools.
func (s *spawner) subset(tools *[]string, asked []string) error {
	for _, name := range asked {
		if !slices.Contains(s.tools, name) {
			return item.Errorf(item.KindInvalid, "BAD_TOOLS", "not run: you have no tool %q to pass on: choose from %s", name, strings.Join(s.tools, ", "))
		}
	}
	if len(asked) > 0 {
		*tools = asked
	}
	return nil
}

// scope returns the requested directories; all of the parent's when none is requested.
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

// inside returns a directory, with links resolved, that is inside one of some roots. Its
// errors say nothing about what is outside. A protected directory cannot be a root: from
// inside it podd could not recognize protected names.
func (s *spawner) inside(dir, base string, roots []string) (string, error) {
	outside := item.Errorf(item.KindInvalid, "BAD_DIR", "not run: %q is not a directory of your scope that you can pass on with this access", dir)
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
			return "", item.Errorf(item.KindInvalid, "BAD_DIR", "not run: %q is protected: do the work there yourself", dir)
		}
	}
	return resolved, nil
}
