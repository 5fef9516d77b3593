package trust

import (
	"fmt"
	"strings"

	"podd/internal/extend/claude"
	"podd/internal/extend/mcp"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// Project is the allowed content of a workspace's configuration: it informs and narrows.
type Project struct {
	// Instructions are sent as the workspace's word.
	Instructions string
	// Rules have the decision ask or deny.
	Rules []item.Rule
	// Servers are its MCP servers; see mcp.ParseServers.
	Servers []mcp.Server
	// Hooks are its hooks of Claude Code.
	Hooks []claude.Hook
}

// Parser reads the configuration of a workspace, without its servers; sentences name the
// file as path. It omits what such a file must not contain, with a sentence each in
// refused.
type Parser func(path string, text []byte) (p Project, refused []string)

// Follow returns what podd follows of a workspace's configuration, and in says one
// sentence for a person about what it ignores; says is empty if it ignores nothing. It
// parses exactly what it compared with the record.
//
// A configuration that differs from the trusted one permits nothing: the trusted rules
// apply until a person trusts other ones or withdraws the trust.
func (b *Book) Follow(dir string) (p Project, says string) {
	look, err := b.Look(dir)
	if err != nil {
		kept, still := b.kept(resolved(dir))
		return kept, "the configuration of the workspace is ignored" + still + ": " + err.Error()
	}
	shown := scopefs.Display(look.Dir)
	switch look.State {
	case None:
		return Project{}, ""
	case Never:
		return Project{}, fmt.Sprintf("%s is ignored until you trust it: review it with podctl trust %s", names(look), sanitize.Word(look.Dir))
	case Changed:
		kept, still := b.kept(look.Dir)
		return kept, fmt.Sprintf("the configuration of %s has changed since you trusted it and is ignored until you trust it again%s: run podctl trust %s", shown, still, sanitize.Word(look.Dir))
	}
	p, refused := look.Follows()
	return p, strings.Join(refused, "; ")
}

// Follows is what podd will follow of the files once they are trusted, and why not the
// rest, one sentence each.
func (l Look) Follows() (p Project, refused []string) {
	for _, f := range l.Files {
		var more []string
		switch {
		case f.Path == ConfigFile:
			p, more = l.parser.parse(f)
		case f.kind == hooksFile:
			var hooks []claude.Hook
			hooks, more = claude.Parse(f.Path, f.Content, claude.Plugin{})
			p.Hooks = append(p.Hooks, hooks...)
		case f.Path == ServersFile:
			p.Servers, more = mcp.ParseServers(f.Path, f.Content)
		}
		refused = append(refused, more...)
	}
	return p, refused
}

// kept are the rules of the configuration that a person trusted last, and a clause that
// says so; empty without any.
func (b *Book) kept(dir string) (p Project, still string) {
	b.mu.Lock()
	known := b.dirs[dir]
	b.mu.Unlock()
	p, _ = b.parser.parse(File{Path: ConfigFile + " (as trusted)", Content: []byte(known.Config)})
	if len(p.Rules) == 0 {
		return Project{}, ""
	}
	return Project{Rules: p.Rules}, "; the rules that you trusted stay in force"
}

// parse reads a trusted configuration.
func (parser Parser) parse(f File) (Project, []string) {
	p, refused := parser(f.Path, f.Content)
	var hidden int
	p.Instructions, hidden = sanitize.Visible(p.Instructions)
	if hidden > 0 {
		refused = append(refused, fmt.Sprintf("%s: instructions contains %d invisible characters, which are left out", f.Path, hidden))
	}
	return p, refused
}

// names are the files of a look, as text for a sentence.
func names(look Look) string {
	var all []string
	for _, f := range look.Files {
		if f.kind != script {
			all = append(all, f.Path)
		}
	}
	return strings.Join(all, " and ")
}
