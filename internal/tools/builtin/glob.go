package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

type globArgs struct {
	Pattern string `json:"pattern" jsonschema:"such as src/**/*.{ts,tsx}"`
}

func (a *globArgs) check() error {
	if a.Pattern == "" {
		return errors.New("pattern is empty: write one such as **/*.go")
	}
	return nil
}

func newGlob(f *files, c Config) tool.Tool {
	run := func(ctx context.Context, call *tool.Invocation, args globArgs) (tool.Output, error) {
		paths, more, err := f.bound(call).Glob(ctx, args.Pattern, c.Glob.MaxEntries)
		if err != nil {
			return failed(ctx, "glob", err)
		}
		var b strings.Builder
		for _, path := range paths {
			b.WriteString(scopefs.Display(path) + "\n")
		}
		summary := fmt.Sprintf("glob: %s, %s", tool.Shorten(args.Pattern, 80), tool.Plural(int64(len(paths)), "file"))
		if more {
			summary = fmt.Sprintf("glob: %s, the first %d files; narrow the pattern to see others", tool.Shorten(args.Pattern, 80), len(paths))
		}
		return tool.Output{Summary: tool.Bound(summary), Content: b.String(), Kind: item.OutputSearch}, nil
	}
	return tool.New("glob", "Find files by a pattern of their path, except those that git ignores.", run, tool.Validate((*globArgs).check),
		tool.Repeats[globArgs](), tool.Touches(func(a globArgs) tool.Access { return f.reading(scopefs.GlobBase(a.Pattern)) }))
}
