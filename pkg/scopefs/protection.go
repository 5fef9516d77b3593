package scopefs

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Protection is the rules for a protected name in a directory. It is for code that keeps
// others than the file tools from those paths.
type Protection struct {
	// name is how the name is commonly written; it may be a pattern.
	name string
	// why says what obeys a file of this name; empty if only names below are protected.
	why string
	// tree also protects everything below; otherwise the name ends the path.
	tree bool
	// instructs says that agents read it, and nothing runs it.
	instructs bool
	// below has the rules for a directory of this name, by folded name; patterns are in
	// patterns.
	below    map[string]*Protection
	patterns []*Protection
}

// Protections are the rules for the names in any directory.
func Protections() *Protection { return protections }

// add adds a path, which may end in a pattern, or in a slash that includes everything
// below.
func (p *Protection) add(why, path string) {
	path, tree := strings.CutSuffix(path, "/")
	for name := range strings.SplitSeq(path, "/") {
		if p.below == nil {
			p.below = map[string]*Protection{}
		}
		next := p.below[fold(name)]
		switch {
		case next != nil:
		case strings.Contains(name, "*"):
			next = &Protection{name: name}
			p.patterns = append(p.patterns, next)
		default:
			next = &Protection{name: name}
			p.below[fold(name)] = next
		}
		p = next
	}
	p.why, p.tree, p.instructs = why, tree, why == ofAgents && !tree
}

// Next is the rules for the name in the directory, in any case; nil without any.
func (p *Protection) Next(name string) *Protection { return p.next(fold(name)) }

func (p *Protection) next(folded string) *Protection {
	if next := p.below[folded]; next != nil {
		return next
	}
	for _, next := range p.patterns {
		if matched, _ := path.Match(next.name, folded); matched {
			return next
		}
	}
	return nil
}

// Why says what obeys a file of the name; empty if a directory of that name only has
// protected ones in it.
func (p *Protection) Why() string { return p.why }

// Instructs says that the name is a file of instructions, which agents read and nothing
// runs.
func (p *Protection) Instructs() bool { return p.instructs }

// Names are the names in the directory that the rules mention, as they are commonly
// written, without patterns.
func (p *Protection) Names() []string {
	var names []string
	for _, folded := range slices.Sorted(maps.Keys(p.below)) {
		names = append(names, p.below[folded].name)
	}
	return names
}
