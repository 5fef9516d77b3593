package config

import (
	"fmt"

	"podd/internal/guard/policy"
	"podd/internal/guard/trust"
)

// MaxProjectInstructions bounds a workspace's instructions, in bytes.
const MaxProjectInstructions = 32 << 10

// ParseProject reads the configuration of a workspace; errors and rules name it as path.
// It leaves out what such a file must not contain, with one sentence each in refused; a
// file that is not TOML has no effect.
func ParseProject(path string, text []byte) (p trust.Project, refused []string) {
	d := newDecoder(path)
	d.only = []string{"instructions", keyRule}
	refused = d.decode(text)
	p.Instructions = d.Instructions
	if n := len(p.Instructions); n > MaxProjectInstructions {
		p.Instructions = ""
		refused = append(refused, fmt.Sprintf("%s: instructions has %d bytes, more than %d", path, n, MaxProjectInstructions))
	}
	for _, r := range d.rules() {
		if r.Decision == policy.Allow {
			refused = append(refused, r.Source+": a rule of a workspace cannot allow: write \"ask\" or \"deny\", or put the rule into your own configuration")
			continue
		}
		p.Rules = append(p.Rules, r)
	}
	return p, refused
}
