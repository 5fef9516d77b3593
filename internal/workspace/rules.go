package workspace

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"podd/internal/guard/policy"
	"podd/internal/questions"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// rulebook decides on the calls of one pod.
type rulebook struct {
	*policy.Policy
	// settings, spec and the workspace's rules are the sources of the policy.
	settings  *Settings
	spec      item.PodSpec
	workspace []item.Rule
	// dir is the pod's workspace, base that of the pod at the top of its family. Rules name
	// paths relative to base: a rule stays about the same files when a sub-pod's workspace
	// is further down.
	dir, base string
}

// policyOf makes the policy for a pod's calls: its own mode and rules, the operator's,
// and those of its workspace, which ask or deny.
func (s *Settings) policyOf(spec item.PodSpec, workspace []item.Rule) (*policy.Policy, error) {
	rules := slices.Concat(s.Rules, policy.PodRules(spec.Rules), workspace)
	return policy.New(cmp.Or(spec.Ask, s.Ask), rules)
}

// rulesOf are the rules of a spec, and those that its workspace adds.
func (w *Workspace) rulesOf(spec item.PodSpec, workspace []item.Rule) (*rulebook, error) {
	s := w.all.settings()
	p, err := s.policyOf(spec, workspace)
	if err != nil {
		return nil, err
	}
	above, err := w.above()
	if err != nil {
		return nil, err
	}
	book := &rulebook{Policy: p, settings: s, spec: spec, workspace: workspace, dir: spec.Dir, base: spec.Dir}
	if n := len(above); n > 0 {
		book.base = above[n-1].Spec.Dir
	}
	return book, nil
}

// rulesNow are the pod's rules under the current settings.
func (w *Workspace) rulesNow() (*rulebook, error) {
	book, s := w.rules.Load(), w.all.settings()
	if book.settings == s {
		return book, nil
	}
	p, err := s.policyOf(book.spec, book.workspace)
	if err != nil {
		return nil, err
	}
	next := *book
	next.Policy, next.settings = p, s
	// A spec that came meanwhile has its own rules.
	w.rules.CompareAndSwap(book, &next)
	return &next, nil
}

// Decide is the pod's policy for its turns. A rule added while a turn runs applies at
// once.
func (w *Workspace) Decide(name string, access tool.Access) worker.Ruling {
	rules, err := w.rulesNow()
	if err != nil {
		return worker.Ruling{Deny: fmt.Sprintf("podd cannot tell whether this is allowed: %v", err)}
	}
	switch v := rules.Decide(rules.call(name, access)); v.Decision {
	case policy.Allow:
		return worker.Ruling{}
	case policy.Ask:
		if name == questions.Name {
			return worker.Ruling{} // The person can decline.
		}
		return worker.Ruling{Ask: v.Why}
	default:
		return worker.Ruling{Deny: v.Why}
	}
}

// opens says whether a rule names a host and port that web_fetch may reach; see
// [policy.Policy.Opens].
func (w *Workspace) opens(host string) bool {
	rules, err := w.rulesNow()
	return err == nil && rules.Opens("web_fetch", host)
}

// call is a call as the rules see it.
func (b *rulebook) call(name string, access tool.Access) policy.Call {
	var leads [][]string
	for _, t := range access.Targets {
		leads = append(leads, b.allFromBase(t.Leads()))
	}
	return policy.Call{
		Tool: name, Command: access.Command, Host: access.Host, Paths: b.allFromBase(access.Paths), Leads: leads,
		Level: access.Level, Why: access.Why, Beyond: access.Beyond, Confined: access.Confined, Protected: access.Protected, Note: access.Note,
	}
}

// allFromBase names the pod's paths relative to base.
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

// fromBase names a path of the pod's relative to base if it is inside, otherwise as an
// absolute path.
func (b *rulebook) fromBase(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	if rel, err := filepath.Rel(b.base, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
