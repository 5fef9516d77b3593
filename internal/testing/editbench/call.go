package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"podd/internal/tools/builtin"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// call is one recorded call, converted to podd's tools.
type call struct {
	// from is the recording.
	from string
	// tool is edit_file or apply_patch.
	tool string
	args map[string]any
	// before is the text of each file that the call names. Each unknown line is a different
	// filler.
	before map[string]string
	// refused: the agent's own tool refused the call.
	refused bool
	// after is the text of the files after the call; nil if the recording does not say.
	after map[string]string
	// retry is the next accepted edit of the same file, made instead of a refused one.
	retry *call
}

// outcome is the result of a call in podd's tool.
type outcome struct {
	refused          bool
	summary, content string
	after            map[string]string
}

// bench runs calls, each in its own workspace.
type bench struct {
	dir    string
	folder *spool.Folder
	n      int
}

func newBench() (*bench, error) {
	dir, err := os.MkdirTemp("", "editbench")
	if err != nil {
		return nil, err
	}
	all, err := spool.Open(spool.Config{Dir: filepath.Join(dir, "spool")})
	if err != nil {
		return nil, err
	}
	folder, err := all.Folder("p")
	return &bench{dir: dir, folder: folder}, err
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) }

// try runs a call on its files.
func (b *bench) try(ctx context.Context, c call) (outcome, error) {
	b.n++
	dir := filepath.Join(b.dir, fmt.Sprint(b.n))
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return outcome{}, err
	}
	for name, text := range c.before {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return outcome{}, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return outcome{}, err
		}
	}
	out, err := b.run(ctx, dir, c)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{refused: out.IsError, summary: out.Summary, content: out.Content, after: make(map[string]string)}
	for name := range c.before {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			o.after[name] = string(data)
		}
	}
	return o, nil
}

func (b *bench) run(ctx context.Context, dir string, c call) (tool.Output, error) {
	files, err := scopefs.Open(scopefs.Config{Dir: dir})
	if err != nil {
		return tool.Output{}, err
	}
	defer func() { _ = files.Close() }()
	tools, err := builtin.New(builtin.Config{FS: files, Spool: b.folder})
	if err != nil {
		return tool.Output{}, err
	}
	registry, err := tool.NewRegistry(tools...)
	if err != nil {
		return tool.Output{}, err
	}
	t, ok := registry.Lookup(c.tool)
	if !ok {
		return tool.Output{}, fmt.Errorf("no tool %s", c.tool)
	}
	args, err := json.Marshal(c.args)
	if err != nil {
		return tool.Output{}, err
	}
	return t.Run(ctx, &tool.Invocation{Arguments: string(args)})
}

var blanks = regexp.MustCompile(`(?m)[ \t]+$`)

// same says whether the files named in want have its text, except for blanks at line
// ends: an edit need not change them on lines that it keeps.
func same(got, want map[string]string) bool {
	for name, text := range want {
		if blanks.ReplaceAllString(got[name], "") != blanks.ReplaceAllString(text, "") {
			return false
		}
	}
	return true
}
