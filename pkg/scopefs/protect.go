package scopefs

import (
	"context"
	"path"
	"strings"
	"unicode"
)

// The reasons of protections.
const (
	ofGit     = "git executes it or uses it as configuration"
	ofShell   = "a shell runs it at start"
	ofEditor  = "an editor or its tools run commands from it"
	ofAccess  = "it controls who can log in"
	ofRunner  = "tools started in its directory run it"
	ofDesktop = "it runs at login"
	ofPodd    = "podd reads it as configuration"
	ofAgents  = "agents read it as instructions in every later conversation"
)

// protections are the rules from any directory on. The lists follow what git, shells and
// editors are documented to read automatically.
var protections = makeProtections()

func makeProtections() *Protection {
	all := &Protection{}
	add := func(what string, paths ...string) {
		for _, p := range paths {
			all.add(what, p)
		}
	}
	add(ofGit, ".git/", ".gitconfig", ".config/git/", ".husky/")
	add(ofShell, ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".envrc",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".cshrc", ".tcshrc", ".login", ".logout", ".kshrc",
		".mkshrc", ".inputrc", ".config/fish/", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".tmux.conf")
	add(ofEditor, ".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".vim/", ".config/nvim/", ".ideavimrc",
		".emacs", ".emacs.d/", ".dir-locals.el", ".dir-locals-2.el", ".nanorc", ".vscode/", ".idea/",
		"*.code-workspace", ".zed/", ".cursor/", ".fleet/",
		".devcontainer/", ".devcontainer.json", ".config/Code/")
	add(ofRunner, ".gdbinit", ".lldbinit", ".pdbrc", ".pdbrc.py", ".irbrc", ".Rprofile", ".npmrc", ".yarnrc", ".yarnrc.yml", ".mise.toml", ".mcp.json")
	add(ofAccess, ".ssh/", ".gnupg/", ".netrc", ".pypirc", ".docker/config.json", ".aws/", ".kube/")
	add(ofDesktop, ".config/autostart/", ".config/systemd/", ".config/environment.d/", "Library/LaunchAgents/")
	add(ofPodd, ".podd/")
	add(ofAgents, "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "SKILL.md", ".claude/", ".agents/",
		".codex/", ".gemini/", ".windsurf/", ".windsurfrules", ".clinerules/", ".cursorrules", ".roo/", ".goosehints",
		".github/copilot-instructions.md", ".github/instructions/", ".github/prompts/")
	return all
}

// Protected says why a change of the path needs a person's approval, in any mode: a file
// there makes other programs run something automatically. It checks the path by its name
// and by its links' targets, in any case of letters, whether it exists or not.
//
// Protected are all of .git and of directories that look like a repository of git, the
// start-up files of shells, editors and debuggers, settings of editors that name
// programs, files that control access, and files that agents read as instructions.
func (f *FS) Protected(path string) (why string, protected bool) {
	p, err := f.locate(path)
	if err != nil {
		return "", false
	}
	for _, last := range []bool{false, true} {
		followed, err := f.follow(p, last)
		if err != nil {
			continue
		}
		if why, protected = protects(p, followed); protected {
			return why, true
		}
	}
	return "", false
}

// protects says whether a change is protected by the path's name, or by its target.
func protects(named, followed place) (why string, protected bool) {
	for _, p := range []place{named, followed} {
		if why, protected = protectedName(path.Join(p.prefix, p.rel)); protected {
			return why, true
		}
	}
	if inRepository(followed) || obeyedByGit(followed) {
		return ofGit, true
	}
	return "", false
}

// protectedName checks a path against the rules.
func protectedName(rel string) (why string, protected bool) {
	names := strings.Split(fold(rel), "/")
	for i := range names {
		rule := protections
		for j, name := range names[i:] {
			if rule = rule.next(name); rule == nil {
				break
			}
			if rule.why != "" && (rule.tree || i+j == len(names)-1) {
				return rule.why, true
			}
		}
	}
	return "", false
}

// fold makes names equal that a file system may treat as equal: without case, and without
// the characters that HFS+ ignores.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r <= unicode.MaxASCII:
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, name)
}

// inRepository says whether a directory above the place is a repository of git under
// another name, bare ones included, or would become one by the change: git looks for
// HEAD, objects and refs, and then obeys config and hooks beside them.
func inRepository(p place) bool {
	for at := range parents(p.rel) {
		child := fold(path.Base(stepDown(at, p.rel)))
		switch child {
		case "head", "objects", "refs", "config", "hooks", "commondir":
		default:
			continue
		}
		there := 0
		for _, name := range []string{"HEAD", "objects", "refs"} {
			if _, err := p.Lstat(path.Join(at, name)); err == nil && fold(name) != child {
				there++
			}
		}
		if there >= 2 {
			return true
		}
	}
	return false
}

type approvedKey struct{}

// Approved is a context under which protected paths may be changed: that of a call which
// a person has approved in exactly this form.
func Approved(ctx context.Context) context.Context {
	return context.WithValue(ctx, approvedKey{}, true)
}

// mayChange refuses the change of a protected path without an approval.
func mayChange(ctx context.Context, named, followed place) error {
	if approved, _ := ctx.Value(approvedKey{}).(bool); approved {
		if tell := followed.onApproved; tell != nil {
			tell(named.resolved())
			tell(followed.resolved())
		}
		return nil
	}
	why, protected := protects(named, followed)
	if !protected {
		return nil
	}
	return sayf(Protected, named.given, nil,
		"is protected (%s): changing it needs a person's approval; leave it to the user, or say what to change and why", why)
}
