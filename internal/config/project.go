package config

import (
	"fmt"

	"podd/internal/guard/policy"
	"podd/internal/guard/trust"
)

// MaxProjectInstructions is the most that a workspace's instructions may have, in
// bytes.
const MaxProjectInstructions = 32 << 10

// ParseProject reads the configuration of a workspace; path is how errors and rules
// name it. What such a file must not say is left out, with one sentence each in refused;
// what is no TOML says nothing at all.
func ParseProject(path string, text []byte) (p trust.Project, refused []string) {
	l := newLoader()
	d := decoder{file: path, root: []*setting{find(l.root, "instructions"), find(l.root, keyRule)}, project: true}
	refused = d.decode(text)
	p.Instructions = l.Pods.Instructions
	if n := len(p.Instructions); n > MaxProjectInstructions {
		p.Instructions = ""
		refused = append(refused, fmt.Sprintf("%s: instructions has %d bytes, more than %d", path, n, MaxProjectInstructions))
	}
	for _, r := range l.Rules {
		if r.Decision == policy.Allow {
			refused = append(refused, r.Source+": a rule of a workspace cannot allow: write \"ask\" or \"deny\", or put the rule into your own configuration")
			continue
		}
		p.Rules = append(p.Rules, r)
	}
	return p, refused
}
