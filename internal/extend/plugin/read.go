package plugin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"podd/internal/extend/claude"
	"podd/internal/extend/mcp"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// Plugin is what a directory has for podd.
type Plugin struct {
	Name, Dir, Digest string
	Hooks             []claude.Hook
	Servers           []mcp.Server
	// Reads says that it has skills, commands or agents.
	Reads bool
	// Runs says what it would run, a line each, Refused what podd ignores, a sentence each.
	Runs, Refused []string
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// manifest is .claude-plugin/plugin.json. Hooks and servers are there, or in a file that it names.
type manifest struct {
	Name    string          `json:"name"`
	Hooks   json.RawMessage `json:"hooks"`
	Servers json.RawMessage `json:"mcpServers"`
}

const manifestFile = ".claude-plugin/plugin.json"

// read reads a plugin. stateDir is where its data are.
func read(dir, stateDir string) (p Plugin, err error) {
	if p.Dir, err = scopefs.Directory(dir, "plugin"); err != nil {
		return p, err
	}
	var m manifest
	text, err := os.ReadFile(filepath.Join(p.Dir, manifestFile))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, bad(p.Dir, fmt.Errorf("%s: %w", manifestFile, err))
	}
	p.Name = cmp.Or(m.Name, strings.ToLower(filepath.Base(p.Dir)))
	if !nameForm.MatchString(p.Name) {
		return p, bad(p.Dir, fmt.Errorf("its name %q is not of lower-case letters, digits, dots and dashes", p.Name))
	}
	if p.Digest, err = digest(p.Dir, false); err != nil {
		return p, bad(p.Dir, err)
	}
	p.hooks(m, claude.Plugin{Root: p.Dir, Data: filepath.Join(stateDir, "plugins", p.Name)})
	p.servers(m)
	if err := p.skills(); err != nil {
		return p, bad(p.Dir, err)
	}
	if len(p.Runs) == 0 {
		return p, bad(p.Dir, errors.New("it has no hooks, MCP servers, skills, commands or agents that podd knows"))
	}
	return p, nil
}

func bad(dir string, cause error) error {
	e := item.Errorf(item.KindPrecondition, "PLUGIN", "%s cannot be a plugin: %v", scopefs.Display(dir), cause)
	e.Cause = cause
	return e
}

// part is a part of the manifest: in it, in a file that it names, or in the usual file. One that
// is missing is empty.
func (p *Plugin) part(in json.RawMessage, usual string) (file string, text []byte) {
	file = usual
	if in != nil && json.Unmarshal(in, &file) != nil {
		return manifestFile, in
	}
	if file = filepath.Clean(file); !filepath.IsLocal(file) {
		p.Refused = append(p.Refused, fmt.Sprintf("%s: %s is not in the plugin", manifestFile, file))
		return file, nil
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, file))
	if err != nil && (in != nil || !errors.Is(err, fs.ErrNotExist)) {
		p.Refused = append(p.Refused, err.Error())
	}
	return file, text
}

func (p *Plugin) hooks(m manifest, of claude.Plugin) {
	file, text := p.part(m.Hooks, "hooks/hooks.json")
	if text == nil {
		return
	}
	var whole struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	if file == manifestFile && json.Unmarshal(text, &whole) == nil && whole.Hooks == nil {
		text = []byte(`{"hooks": ` + string(text) + `}`)
	}
	var refused []string
	p.Hooks, refused = claude.Parse(file, text, of)
	p.Refused = append(p.Refused, refused...)
	for _, h := range p.Hooks {
		p.Runs = append(p.Runs, h.String())
	}
}

func (p *Plugin) servers(m manifest) {
	file, text := p.part(m.Servers, ".mcp.json")
	if text == nil {
		return
	}
	root, _ := json.Marshal(p.Dir)
	text = []byte(strings.ReplaceAll(string(text), "${CLAUDE_PLUGIN_ROOT}", string(root[1:len(root)-1])))
	var whole map[string]json.RawMessage
	if json.Unmarshal(text, &whole) == nil && whole["mcpServers"] == nil {
		text = []byte(`{"mcpServers": ` + string(text) + `}`)
	}
	var refused []string
	p.Servers, refused = mcp.ParseServers(file, text)
	p.Refused = append(p.Refused, refused...)
	for i := range p.Servers {
		s := &p.Servers[i]
		s.Origin = "the plugin " + p.Name
		if s.Command != "" {
			s.Env = append(s.Env, "PYTHONDONTWRITEBYTECODE=1") // Else it would change the plugin.
		}
		p.Runs = append(p.Runs, fmt.Sprintf("MCP server %s: %s", s.Name, cmp.Or(s.URL, strings.Join(append([]string{s.Command}, s.Args...), " "))))
	}
}

// skills finds its skills, commands and agents.
func (p *Plugin) skills() error {
	scope, err := scopefs.Open(scopefs.Config{Dir: p.Dir})
	if err != nil {
		return err
	}
	defer scope.Close()
	before := len(p.Runs)
	for _, pattern := range []string{"skills/*/SKILL.md", "commands/*/SKILL.md"} {
		found, _ := fs.Glob(os.DirFS(p.Dir), pattern) // The pattern is valid.
		for _, file := range found {
			p.Runs = append(p.Runs, "skill "+path.Base(path.Dir(file)))
		}
	}
	commands, agents := skills.Named(scope)
	for _, name := range commands {
		p.Runs = append(p.Runs, "command /"+p.Name+":"+name)
	}
	for _, name := range agents {
		p.Runs = append(p.Runs, "agent "+name)
	}
	p.Reads = len(p.Runs) > before
	return nil
}
