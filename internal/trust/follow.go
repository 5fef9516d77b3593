package trust

import (
	"fmt"
	"strings"

	"podd/internal/config"
	"podd/internal/sanitize"
	"podd/pkg/scopefs"
)

// Follow is what podd follows of a workspace's configuration, and in says one sentence
// for a person about what it does not; says is empty when that is nothing. What was read
// is what was held against the record.
func (b *Book) Follow(dir string) (p config.Project, says string) {
	look, err := b.Look(dir)
	if err != nil {
		return config.Project{}, "the configuration of the workspace is ignored: " + err.Error()
	}
	shown := scopefs.Display(look.Dir)
	switch look.State {
	case None:
		return config.Project{}, ""
	case Never:
		return config.Project{}, fmt.Sprintf("%s is ignored until you trust it: look at it with podctl trust %s", names(look), shown)
	case Changed:
		return config.Project{}, fmt.Sprintf("the configuration of %s has changed since you trusted it, and is ignored until you trust it again: run podctl trust %s", shown, shown)
	}
	for _, f := range look.Files {
		if f.Path == ConfigFile {
			p, says = parse(f)
		}
	}
	return p, says
}

// parse reads a trusted configuration.
func parse(f File) (config.Project, string) {
	p, refused := config.ParseProject(f.Path, f.Content)
	var hidden int
	p.Instructions, hidden = sanitize.Visible(p.Instructions)
	if hidden > 0 {
		refused = append(refused, fmt.Sprintf("%s: instructions has %d invisible characters, which are left out", f.Path, hidden))
	}
	return p, strings.Join(refused, "; ")
}

// names are the files of a look in a sentence.
func names(look Look) string {
	var all []string
	for _, f := range look.Files {
		all = append(all, f.Path)
	}
	return strings.Join(all, " and ")
}
