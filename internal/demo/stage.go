package demo

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

//go:embed sample sample.script visit.script
var files embed.FS

// prepare sets the stage: the sample workspace, or the user's directory, which is
// only looked at.
func (d *demo) prepare() error {
	if d.Dir != "" {
		dir, err := filepath.Abs(d.Dir)
		if err != nil {
			return err
		}
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() {
			return item.Errorf(item.KindInvalid, "BAD_DIR", "%s is no directory: give one for the demo to look at, or none", d.Dir)
		}
		d.Dir = dir
		d.act = act{script: "visit.script", prompt: "What is in this directory?" + reference(dir)}
		d.introduce("It only reads in " + dir + ".")
		return nil
	}
	d.Dir = filepath.Join(d.root, "greet")
	d.act = act{script: "sample.script", prompt: "greet.sh does not do what @README.md promises. Mend it."}
	d.introduce("It works in a sample workspace of its own, in which nobody is asked first.")
	sample, err := fs.Sub(files, "sample")
	if err != nil {
		return err
	}
	return os.CopyFS(d.Dir, sample)
}

func (d *demo) introduce(where string) {
	d.say("This is podd with a scripted model: what the model says is written down in")
	d.say("advance. Everything else is real: the daemon, its socket, the log, the tools.")
	d.say("%s\n", where)
}

// reference is an @path to a README of the directory, where there is one.
func reference(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Type().IsRegular() && slices.Contains([]string{"readme.md", "readme", "readme.txt"}, strings.ToLower(e.Name())) {
			return fmt.Sprintf(" Here is its @%s", e.Name())
		}
	}
	return ""
}

// epilogue says what is stored and how to go on with a real model.
func (d *demo) epilogue(ctx context.Context, c *client.Client) error {
	counts := map[string]int{}
	last := int64(0)
	for m, err := range c.Stream(ctx, client.StreamOptions{Pod: podName}) {
		if err != nil {
			return err
		}
		if e := m.GetEntry(); e != nil {
			last = e.GetSeq()
			counts[kindName(e)]++
		}
	}
	d.say("\nStored, each entry synced to disk before it was acted on: %d entries, of them", last)
	d.say("%d items of the conversation, %d tool calls journaled before they ran.", counts["item"], counts["tool_started"])
	d.say("They were in a temporary directory and are gone now.\n")
	d.say("To go on with a real model:")
	d.say("    export OPENAI_API_KEY=...                          # api.openai.com, or")
	d.say("    export OPENAI_BASE_URL=http://localhost:11434/v1   # any compatible endpoint")
	d.say("    podd &")
	d.say("    podctl submit -f \"explain @README.md\"              # in any directory")
	return nil
}

// kindName is the name of an entry's kind on the wire.
func kindName(e *poddv1.Entry) string {
	m := e.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
	if field == nil {
		return ""
	}
	return string(field.Name())
}
