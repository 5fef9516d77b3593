package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// maxScanned bounds the entries from which repo_structure chooses.
const maxScanned = 50_000

type structureArgs struct {
	Path  string `json:"path,omitempty"`
	Depth int    `json:"depth,omitempty"`
}

func (a *structureArgs) check() error {
	if a.Depth < 0 {
		return errors.New("depth must be at least 1")
	}
	return nil
}

func newRepoStructure(f *files, c Config) tool.Tool {
	run := func(ctx context.Context, call *tool.Invocation, args structureArgs) (tool.Output, error) {
		dir, depth := f.alike(args.Path), args.Depth
		if depth == 0 {
			depth = c.Tree.Depth
		}
		t := tree{most: c.Tree.MaxEntries}
		if err := f.bound(call).Walk(ctx, dir, scopefs.WalkOptions{MaxDepth: depth}, t.add); err != nil {
			return failed(ctx, "repo_structure", err)
		}
		return t.output(f.show(dir), f.Rel(dir), depth), nil
	}
	return tool.New("repo_structure", fmt.Sprintf("Show the tree of a directory without files that git ignores, %d levels deep by default.", c.Tree.Depth),
		run, tool.Validate((*structureArgs).check),
		tool.Repeats[structureArgs](), tool.Touches(func(a structureArgs) tool.Access { return f.reading(f.alike(a.Path)) }))
}

// tree is the entries below a directory. If there are too many, the upper levels are
// shown before the lower ones: an overview of everything is better than all of the first
// directory.
type tree struct {
	most    int
	entries []scopefs.Entry
	atDepth []int
	dirs    int64
	cut     bool
}

func (t *tree) add(e scopefs.Entry) error {
	if len(t.entries) == maxScanned {
		t.cut = true
		return fs.SkipAll
	}
	for len(t.atDepth) <= e.Depth {
		t.atDepth = append(t.atDepth, 0)
	}
	t.atDepth[e.Depth]++
	if e.IsDir() {
		t.dirs++
	}
	t.entries = append(t.entries, e)
	return nil
}

// room is the level that is only partly shown, and how many of its entries.
func (t *tree) room() (level, some int) {
	left := t.most
	for level, n := range t.atDepth {
		if n > left {
			return level, left
		}
		left -= n
	}
	return len(t.atDepth), 0
}

func (t *tree) output(shown, rel string, depth int) tool.Output {
	level, some := t.room()
	hidden := make(map[string]int)
	var lines []scopefs.Entry
	for _, e := range t.entries {
		switch {
		case e.Depth < level:
		case e.Depth == level && some > 0:
			some--
		default:
			hidden[path.Dir(e.Path)]++
			continue
		}
		lines = append(lines, e)
	}
	var b strings.Builder
	for _, e := range lines {
		b.WriteString(strings.Repeat("  ", max(e.Depth-1, 0)))
		b.WriteString(treeLine(e, hidden[e.Path]))
	}
	summary := fmt.Sprintf("repo_structure: %s, %s, %s, depth %d", shown, tool.Plural(t.dirs, "directory"), tool.Plural(int64(len(t.entries))-t.dirs, "file"), depth)
	switch {
	case t.cut:
		summary += fmt.Sprintf("; %d of more are shown: name a directory", len(lines))
	case len(lines) < len(t.entries):
		summary += fmt.Sprintf("; %d of %d entries are shown: name a directory", len(lines), len(t.entries))
	}
	return tool.Output{Summary: tool.Bound(summary), Content: b.String(), Kind: item.OutputSearch, Path: rel}
}

// treeLine shows one entry, and for a directory how many of its entries are not shown.
func treeLine(e scopefs.Entry, hidden int) string {
	name := scopefs.Display(path.Base(e.Path))
	switch {
	case e.Err != nil:
		return name + "/ (cannot be read)\n"
	case hidden > 0:
		return fmt.Sprintf("%s/ (%d more)\n", name, hidden)
	case e.IsDir():
		return name + "/\n"
	case e.Type&fs.ModeSymlink != 0:
		return name + "@\n"
	}
	return name + "\n"
}
