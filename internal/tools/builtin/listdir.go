package builtin

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

type listArgs struct {
	Path string `json:"path,omitempty"`
}

func newListDir(f *files, c Config) tool.Tool {
	run := func(ctx context.Context, call *tool.Invocation, args listArgs) (tool.Output, error) {
		dir, err := f.Alike(orWorkspace(args.Path))
		if err != nil {
			return failed(ctx, "list_dir", err)
		}
		entries, err := f.bound(call).ReadDir(dir)
		if err != nil {
			return failed(ctx, "list_dir", err)
		}
		return listing(f.show(dir), f.Rel(dir), entries, c.ListDir.MaxEntries), nil
	}
	return tool.New("list_dir", "List one directory, including hidden and ignored entries, with sizes in bytes.", run,
		tool.Repeats[listArgs](), tool.Touches(func(a listArgs) tool.Access { return f.reading(f.alike(a.Path)) }))
}

// listing shows the entries of one directory.
func listing(shown, rel string, entries []fs.DirEntry, most int) tool.Output {
	var b strings.Builder
	var dirs int64
	for i, e := range entries {
		if e.IsDir() {
			dirs++
		}
		if i < most {
			b.WriteString(entryLine(e))
		}
	}
	summary := fmt.Sprintf("list_dir: %s, %s, %s", shown, tool.Plural(dirs, "directory"), tool.Plural(int64(len(entries))-dirs, "file"))
	if len(entries) > most {
		summary += fmt.Sprintf("; the first %d entries are shown", most)
	}
	return tool.Output{Summary: tool.Bound(summary), Content: b.String(), Kind: item.OutputSearch, Path: rel}
}

// entryLine shows one entry: a directory by a slash, a link by an at sign.
func entryLine(e fs.DirEntry) string {
	name := scopefs.Display(e.Name())
	switch info, err := e.Info(); {
	case e.IsDir():
		return name + "/\n"
	case e.Type()&fs.ModeSymlink != 0:
		return name + "@\n"
	case err != nil || !e.Type().IsRegular():
		return name + "\n"
	default:
		return fmt.Sprintf("%s %d\n", name, info.Size())
	}
}

func orWorkspace(path string) string {
	if path == "" {
		return "."
	}
	return path
}
