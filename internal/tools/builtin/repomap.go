package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"podd/internal/workspace/repomap"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// The inputs of a map. More would take too long.
const (
	maxMapped     = 10_000
	maxMappedFile = 512 << 10
	maxMappedAll  = 64 << 20
	// maxWholeMap bounds the map that a model summarises, in bytes.
	maxWholeMap = 1 << 20
	// mapTokenBytes is the assumed number of bytes per token of a map.
	mapTokenBytes = 4
)

type repoMapArgs struct {
	Path      string `json:"path,omitempty"`
	MaxTokens int    `json:"max_tokens,omitempty"`
}

func (a *repoMapArgs) check() error {
	if a.MaxTokens < 0 {
		return errors.New("max_tokens must be at least 1")
	}
	return nil
}

func newRepoMap(f *files, c Config) tool.Tool {
	limit := c.Limits.For("repo_map")
	run := func(ctx context.Context, call *tool.Invocation, args repoMapArgs) (tool.Output, error) {
		budget := repomap.Budget{Bytes: limit.MaxBytes, Lines: limit.MaxLines}
		small := args.MaxTokens > 0 && args.MaxTokens < budget.Bytes/mapTokenBytes
		if small {
			budget.Bytes = args.MaxTokens * mapTokenBytes
		}
		dir := f.alike(args.Path)
		m := mapper{files: f.bound(call), made: repomap.New()}
		if err := m.files.Walk(ctx, dir, scopefs.WalkOptions{}, m.add); err != nil {
			return failed(ctx, "repo_map", err)
		}
		out := m.output(f.show(dir), f.Rel(dir), budget)
		if limit.Strategy == tool.StrategySummarize && !small {
			if err := m.keepWhole(c.Spool, &out); err != nil {
				c.Logger.Warn("whole map not kept", "tool", "repo_map", "error", err)
			}
		}
		return out, nil
	}
	return tool.New("repo_map", "Map the definitions in a directory's source files, most used first.",
		run, tool.Validate((*repoMapArgs).check),
		tool.Repeats[repoMapArgs](), tool.Touches(func(a repoMapArgs) tool.Access { return f.reading(f.alike(a.Path)) }))
}

// mapper collects the files of a map.
type mapper struct {
	files *files
	made  *repomap.Map
	bytes int
	// left counts files that could not be read or were too large, more says that there are
	// files beyond the bounds.
	left int
	more bool
}

func (m *mapper) add(e scopefs.Entry) error {
	if !e.Type.IsRegular() || !repomap.Knows(e.Path) {
		return nil
	}
	if m.made.Files() == maxMapped || m.bytes > maxMappedAll {
		m.more = true
		return fs.SkipAll
	}
	file, err := m.files.ReadFile(e.Path, maxMappedFile)
	if err != nil || file.Truncated {
		m.left++
		return nil
	}
	m.bytes += len(file.Data)
	m.made.Add(e.Path, file.Data)
	return nil
}

// keepWhole stores the map of all definitions if a model can summarise it and out has
// only a part of it.
func (m *mapper) keepWhole(folder *spool.Folder, out *tool.Output) error {
	whole := m.made.Render(repomap.Budget{Bytes: maxWholeMap, Lines: maxWholeMap}, scopefs.Display).Text
	if len(whole) <= len(out.Content) {
		return nil
	}
	path, err := folder.Keep("repo_map", whole)
	if err != nil {
		return err
	}
	out.Cut = &item.Cut{
		TotalBytes: int64(len(whole)), TotalLines: tool.CountLines(whole), SpoolPath: path,
		KeptBytes: int64(len(out.Content)), KeptLines: tool.CountLines(out.Content),
	}
	return nil
}

func (m *mapper) output(shown, rel string, budget repomap.Budget) tool.Output {
	r := m.made.Render(budget, scopefs.Display)
	summary := fmt.Sprintf("repo_map: %s, %d of %s in %d of %s", shown,
		r.Definitions, tool.Plural(int64(m.made.Definitions()), "definition"), r.Files, tool.Plural(int64(m.made.Files()), "file"))
	switch {
	case m.more:
		summary += "; there are more files: name a directory"
	case m.made.Definitions() == 0:
		summary = fmt.Sprintf("repo_map: %s, no definitions in %s: try repo_structure or search", shown, tool.Plural(int64(m.made.Files()), "source file"))
	case r.Definitions < m.made.Definitions():
		summary += "; name a directory for the others"
	}
	if m.left > 0 {
		summary += fmt.Sprintf("; %s left out (unreadable or over 512 KiB)", tool.Plural(int64(m.left), "file"))
	}
	return tool.Output{Summary: tool.Bound(summary), Content: r.Text, Kind: item.OutputSearch, Path: rel}
}
