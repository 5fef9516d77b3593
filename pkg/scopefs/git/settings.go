package git

import (
	"regexp"
	"slices"
	"strings"
)

// Mend compares the configuration of a repository with what it was before a command that may have changed
// it. It returns the text without new settings that make git run a program, follow a path, or send what it
// sends today to somewhere else; and the names of those, and of settings that may not be removed. Without
// any, mended is now.
//
// Which settings are harmless is a list, because git and the programs around it get new ones. tree says whether the
// working tree may be at a path.
func Mend(before, now string, tree func(path string) bool) (mended string, bad []string) {
	if before == now {
		return now, nil
	}
	had, has := collect(before), collect(now)
	for _, s := range had.list {
		if !has.all[s] && !s.mayGo(has) {
			bad = append(bad, s.name(had))
		}
	}
	if len(bad) > 0 {
		return before, unique(bad)
	}
	replaces := false
	for _, s := range has.list {
		if !had.all[s] && !s.mayCome(had, tree) {
			bad = append(bad, s.name(has))
			replaces = replaces || s.key == "remote" && had.follow[s.section]
		}
	}
	if replaces {
		return before, unique(bad) // The old one is gone.
	}
	kept, odd := keptLines(before, now, had, tree)
	if odd != "" {
		// Another reader may see something else in it.
		return before, unique(append(bad, odd))
	}
	if len(bad) == 0 {
		return now, nil
	}
	if slices.ContainsFunc(parseConfig(kept), func(s setting) bool { return !had.all[s] && !s.mayCome(had, tree) }) {
		kept = before
	}
	return kept, unique(bad)
}

// settings are those of a configuration, which may be so long that each must be found at once.
type settings struct {
	text, lower string
	list        []setting
	all         map[setting]bool
	// sections are those with a setting, urls those with a URL, follow those of branches that follow a remote.
	sections, urls, follow map[string]bool
}

func collect(text string) *settings {
	c := &settings{text: text, lower: strings.ToLower(text), list: parseConfig(text), all: map[setting]bool{}, sections: map[string]bool{}, urls: map[string]bool{}, follow: map[string]bool{}}
	for _, s := range c.list {
		c.all[s], c.sections[s.section] = true, true
		if s.key == "url" {
			c.urls[s.section] = true
		}
		if s.key == "remote" {
			c.follow[s.section] = true
		}
	}
	return c
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// The lines that git writes: the head of a section, and a setting in a line of its own.
var (
	headLine    = regexp.MustCompile(`^\[([A-Za-z0-9.-]+)(?: "((?:[^"\\]|\\["\\])*)")?\]$`)
	commentLine = regexp.MustCompile(`^[ \t]*[#;]`)
	settingLine = regexp.MustCompile(`^[ \t]*[A-Za-z][A-Za-z0-9-]*(?:[ \t]*=[ \t]*(?:[^"\\]|"(?:[^"\\]|\\["\\nt])*"|\\["\\nt])*)?$`)
)

// keptLines is a configuration without the lines of harmful new settings. odd is a line that was not there
// before, and that git would write in another form.
func keptLines(before, now string, had *settings, tree func(string) bool) (kept, odd string) {
	known := map[string]bool{}
	for line := range strings.SplitSeq(before, "\n") {
		known[line] = true
	}
	var lines []string
	head := ""
	for line := range strings.SplitSeq(now, "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case headLine.MatchString(trimmed) && (known[line] || !strings.Contains(line, "\r")):
			head = trimmed
		case known[line] || trimmed == "":
		case commentLine.MatchString(line) && !strings.ContainsFunc(line, isControl):
		case head == "" || !settingLine.MatchString(line) || strings.ContainsFunc(line, isControl):
			return "", shown(line)
		}
		if one := parseConfig(head + "\n" + line); len(one) != 1 || had.all[one[0]] || one[0].mayCome(had, tree) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), ""
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f || c == '\ufeff' }

// shown is a line as a message can quote it.
func shown(line string) string {
	const most = 60
	line = strings.Map(func(c rune) rune {
		if isControl(c) {
			return '?'
		}
		return c
	}, strings.TrimSpace(line))
	return `the line "` + line[:min(len(line), most)] + `"`
}

// name is that of the setting, as git-config(1) takes it and a configuration writes it.
func (s setting) name(in *settings) string {
	key := s.key
	if i := strings.Index(in.lower, key); i >= 0 && len(in.lower) == len(in.text) {
		key = in.text[i : i+len(key)]
	}
	return strings.TrimPrefix(s.section+"."+key, ".")
}

// kind is the section without its subsection.
func (s setting) kind() string {
	kind, _, _ := strings.Cut(s.section, ".")
	return kind
}

// isTree says whether a setting is where the working tree is.
func (s setting) isTree() bool { return s.section == "core" && s.key == "worktree" }

// mayGo says whether a setting may be missing: a harmless one, and everything of a remote that is gone.
func (s setting) mayGo(has *settings) bool {
	if s.isTree() {
		return true // Then it is where the .git is, or git has moved the setting to config.worktree.
	}
	if kind := s.kind(); kind == "remote" || kind == "submodule" {
		return !has.sections[s.section] || s.key != "url" && s.key != "pushurl" && harmless(s)
	}
	return harmless(s)
}

// mayCome says whether a setting may be new. What a remote or a submodule of before leads to stays, and what a branch
// follows becomes no new remote: it is where the person's next push goes, and where the next fetch comes from.
func (s setting) mayCome(had *settings, tree func(path string) bool) bool {
	if s.isTree() {
		return tree(s.value)
	}
	switch kind := s.kind(); {
	case (kind == "remote" || kind == "submodule") && slices.Contains([]string{"url", "pushurl", "mirror"}, s.key):
		return !had.urls[s.section]
	case kind == "branch" && (s.key == "pushremote" || s.key == "remote" && had.follow[s.section]):
		return s.value == "." || had.urls["remote."+s.value]
	}
	return harmless(s)
}

// safe are the settings because of which git runs nothing and obeys nothing else: by their section, the keys;
// * is any key. The keys of a subsection, such as one branch, are in the list of their section.
var safe = map[string]string{
	"core": "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf sharedrepository " +
		"sparsecheckout sparsecheckoutcone quotepath abbrev untrackedcache preloadindex whitespace commentchar multipackindex commitgraph",
	"extensions": "worktreeconfig objectformat compatobjectformat partialclone preciousobjects refstorage relativeworktrees noop",
	"user":       "*", "author": "*", "committer": "*", "advice": "*", "color": "*", "column": "*", "i18n": "*", "index": "*", "stash": "*", "status": "*",
	"branch":    "remote merge rebase description pushremote autosetupmerge autosetuprebase sort vscode-merge-base github-pr-owner-number",
	"remote":    "fetch tagopt prune prunetags promisor partialclonefilter skipdefaultupdate skipfetchall followremotehead gh-resolved",
	"submodule": "url active branch ignore fetchrecursesubmodules shallow recurse",
	"checkout":  "defaultremote guess", "clean": "requireforce", "commit": "cleanup gpgsign status verbose",
	"diff":    "algorithm renames renamelimit colormoved colormovedws mnemonicprefix noprefix context submodule ignoresubmodules",
	"feature": "manyfiles", "fetch": "prune prunetags parallel writecommitgraph", "gc": "auto autopacklimit autodetach pruneexpire reflogexpire",
	"gpg": "format", "init": "defaultbranch", "lfs": "repositoryformatversion", "log": "abbrevcommit date decorate follow showsignature",
	"maintenance": "auto autodetach strategy", "merge": "ff conflictstyle renames renamelimit autostash stat", "pack": "threads window depth",
	"pull": "rebase ff", "push": "default autosetupremote followtags", "rebase": "autosquash autostash updaterefs stat",
	"rerere": "enabled autoupdate", "tag": "sort gpgsign", "worktree": "guessremote userelativepaths",
}

// StrategyOf is the way to merge in the options of a cherry-pick or revert that is under way; empty without one.
func StrategyOf(options string) (strategy string) {
	for _, s := range parseConfig(options) {
		if s.section == "options" && s.key == "strategy" {
			strategy = s.value
		}
	}
	return strategy
}

// harmless says whether git runs nothing and obeys nothing else because of a setting.
func harmless(s setting) bool {
	kind := s.kind()
	switch {
	case kind == "submodule" && s.key == "update":
		return !strings.HasPrefix(strings.TrimSpace(s.value), "!")
	case kind == "branch" && (s.key == "remote" || s.key == "pushremote"):
		return !strings.ContainsAny(s.value, "/:\\") // The name of a remote, not an address.
	}
	return safe[kind] == "*" || slices.Contains(strings.Fields(safe[kind]), s.key)
}
