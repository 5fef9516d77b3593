package pod

import (
	"context"
	"path/filepath"

	"podd/internal/guard/policy"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// rulebook decides on the calls of one pod.
type rulebook struct {
	*policy.Policy
	// settings, spec and the rules of the workspace are what the policy was made of.
	settings  *settings
	spec      item.PodSpec
	workspace []item.Rule
	// dir is the pod's workspace, base that of the pod at the top of its family. Rules
	// name paths from base: what a rule is about stays the same when a pod is spawned
	// with a workspace further down.
	dir, base string
}

// rulesOf are those of a pod with a spec, and with what its workspace adds.
func (h *Host) rulesOf(ctx context.Context, spec item.PodSpec, workspace []item.Rule) (*rulebook, error) {
	s := h.settings()
	p, err := s.policyOf(spec, workspace)
	if err != nil {
		return nil, err
	}
	above, err := h.ancestors(ctx, spec)
	if err != nil {
		return nil, err
	}
	book := &rulebook{Policy: p, settings: s, spec: spec, workspace: workspace, dir: spec.Dir, base: spec.Dir}
	if n := len(above); n > 0 {
		book.base = above[n-1].Spec.Dir
	}
	return book, nil
}

// rulesNow are the pod's rules under the settings of now.
func (a *actor) rulesNow() (*rulebook, error) {
	book, s := a.rules.Load(), a.host.settings()
	if book.settings == s {
		return book, nil
	}
	p, err := s.policyOf(book.spec, book.workspace)
	if err != nil {
		return nil, err
	}
	next := *book
	next.Policy, next.settings = p, s
	// Another spec that came meanwhile brings rules of its own.
	a.rules.CompareAndSwap(book, &next)
	return &next, nil
}

// call is a call as the rules see it.
func (b *rulebook) call(name string, access tool.Access) policy.Call {
	var leads [][]string
	for _, t := range access.Targets {
		leads = append(leads, b.allFromBase(t.Leads()))
	}
	return policy.Call{
		Tool: name, Command: access.Command, Paths: b.allFromBase(access.Paths), Leads: leads, Confined: access.Confined, Protected: access.Protected, Note: access.Note,
	}
}

// allFromBase names paths of the pod's from base.
func (b *rulebook) allFromBase(paths []string) []string {
	if b.dir == b.base {
		return paths
	}
	all := make([]string, len(paths))
	for i, path := range paths {
		all[i] = b.fromBase(path)
	}
	return all
}

// fromBase names a path of the pod's from base: relative in it, else absolute.
func (b *rulebook) fromBase(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	if rel, err := filepath.Rel(b.base, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
