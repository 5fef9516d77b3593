// Command editbench runs the recorded edits of coding agents through edit_file and
// apply_patch and counts how many apply as the model meant. README.md describes
// what it reads and prints.
//
// Rank 4: it imports internal/tools/builtin. The daemon does not contain it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) //nolint:forbidigo // main's own context
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

const usage = "usage: editbench [-v] [-repo DIR] FOLDER\n"

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("editbench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { _, _ = fmt.Fprint(stderr, usage); flags.PrintDefaults() }
	verbose := flags.Bool("v", false, "print each call that does not apply as recorded")
	repo := flags.String("repo", "", "the git repository that the chats of aider are about")
	switch err := flags.Parse(args); {
	case err != nil:
		return 2
	case flags.NArg() != 1:
		flags.Usage()
		return 2
	}
	if err := measure(ctx, flags.Arg(0), *repo, *verbose, stdout); err != nil {
		_, _ = fmt.Fprintln(stderr, "editbench:", err)
		return 1
	}
	return 0
}

// measure runs the recordings in each directory of folder. The name of a directory is
// that of its agent.
func measure(ctx context.Context, folder, repo string, verbose bool, out io.Writer) error {
	agents, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	bench, err := newBench()
	if err != nil {
		return err
	}
	defer bench.close()
	var all tally
	header(out)
	for _, agent := range agents {
		if !agent.IsDir() {
			continue
		}
		calls, err := readAgent(ctx, filepath.Join(folder, agent.Name()), repo)
		if err != nil {
			return err
		}
		for tool, t := range bench.tally(ctx, calls, verbose, out) {
			t.row(out, agent.Name()+", "+tool)
			all.add(t)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	all.row(out, "all")
	all.reasons(out)
	return nil
}

// readAgent reads all recordings below dir.
func readAgent(ctx context.Context, dir, repo string) ([]call, error) {
	var calls []call
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var more []call
		if strings.HasSuffix(path, ".md") {
			more, err = readAider(ctx, string(data), repo)
		} else {
			more, err = readMessages(data)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for i := range more {
			more[i].from = filepath.Base(path)
		}
		calls = append(calls, more...)
		return nil
	})
	return calls, err
}
