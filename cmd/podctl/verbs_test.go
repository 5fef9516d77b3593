package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"podd/pkg/llm/scripted"
)

// For any arguments of a verb, too few, too many or unknown names, podctl ends with a
// documented exit code and one sentence.
func TestVerbsTakeAnyArguments(t *testing.T) {
	w := newWorld(t, scripted.Handler(func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("Yes.")) }))
	t.Chdir(t.TempDir())
	var verbs [][]string
	var walk func(path []string, cmd *cobra.Command)
	walk = func(path []string, cmd *cobra.Command) {
		if len(path) > 0 {
			verbs = append(verbs, path)
		}
		for _, sub := range cmd.Commands() {
			walk(append(path[:len(path):len(path)], sub.Name()), sub)
		}
	}
	walk(nil, newRootCommand(&program{}))
	for _, verb := range verbs {
		for _, arg := range []string{"no-such-pod", "", "../x", "\xff\x1b", "7", "-1"} {
			for n := range 4 {
				args := verb
				for range n {
					args = append(args[:len(args):len(args)], arg)
				}
				code, stderr := w.runHere(args)
				said := strings.Count(stderr, "podctl: ")
				if code == 0 && said > 0 || code != 0 && said != 1 || code < 0 || code > exitTurn {
					t.Errorf("podctl %q: exit code %d, standard error %q", args, code, stderr)
				}
			}
		}
	}
}

// runHere runs podctl in this process.
func (w *world) runHere(args []string) (code int, stderr string) {
	var out, said bytes.Buffer
	code = run(w.t.Context(), args, program{
		stdin: strings.NewReader(""), stdout: &out, stderr: &said, now: time.Now, startFor: time.Hour,
		env: func(name string) string {
			for _, v := range w.env {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		},
	})
	return code, said.String()
}
