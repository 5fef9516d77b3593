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

//go:embed sample desk sample.script visit.script web.script
var files embed.FS

// prepare prepares the sample workspace, or checks the user's directory, which is only
// read.
func (d *demo) prepare() error {
	if d.Dir != "" {
		dir, err := filepath.Abs(d.Dir)
		if err != nil {
			return err
		}
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() {
			return item.Errorf(item.KindInvalid, "BAD_DIR", "%s is not a directory: give one for the demo to read, or none", d.Dir)
		}
		d.Dir = dir
		d.act = act{script: "visit.script", prompt: "What is in this directory?" + reference(dir)}
		d.introduce("The pod only reads " + dir + ".")
		return nil
	}
	d.Dir = filepath.Join(d.root, "greet")
	d.act = act{script: "sample.script", prompt: "greet.sh does not do what @README.md promises. Fix it."}
	d.introduce("The pod works in a sample workspace.")
	sample, err := fs.Sub(files, "sample")
	if err != nil {
		return err
	}
	return os.CopyFS(d.Dir, sample)
}

func (d *demo) introduce(where string) {
	d.print("This is podd with a scripted model: the model's text is written in advance.")
	d.print("Everything else is real: the daemon, its socket, the log, the tools.")
	d.print("%s", where)
}

// confinement says which sandbox the commands of the demo run in, and what gives a better one.
func confinement(mode string) string {
	switch mode {
	case "bwrap":
		return "Its commands run in bubblewrap: they write to the workspace only, and have no network."
	case "landlock":
		return "Its commands run under Landlock: they write to the workspace only, and have no network. Install bubblewrap for a stronger sandbox."
	}
	return "Its commands run without a sandbox: none works on this machine. On Linux, install bubblewrap."
}

// reference is an @path to the directory's README, if it has one.
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

// epilogue says what was stored and how to start with a real model.
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
	d.print("\nStored, each entry synced to disk before it was acted on: %d entries, of them", last)
	d.print("%d items of the conversation; %d tool calls, each recorded before it ran.", counts["item"], counts["tool_started"])
	d.print("They were in a temporary directory, which has been removed.\n")
	d.print("To start with a real model:")
	d.print("    export OPENAI_API_KEY=...                          # api.openai.com, or")
	d.print("    export OPENAI_BASE_URL=http://localhost:11434/v1   # any compatible endpoint")
	d.print("    podd &")
	d.print("    podctl submit -f \"explain @README.md\"              # in any directory")
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
