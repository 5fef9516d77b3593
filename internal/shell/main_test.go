package shell_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/commands/shim"
	"podd/internal/shell"
	"podd/internal/tools/builtin"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
	"podd/pkg/tool/tooltest"
)

func TestMain(m *testing.M) {
	shell.Main()
	openStarter()
	if os.Getenv(helperVariable) != "" {
		helperMain()
	}
	if os.Getenv(fullVariable) != "" {
		if err := fullMain(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(withShim{m})
}

// starter starts the commands of all tests, and of the helpers, as podd does.
var starter *shim.Client

func openStarter() {
	var err error
	if starter, err = shim.Open(slog.New(slog.DiscardHandler), nil); err != nil {
		panic(err)
	}
}

// withShim runs the tests, and then ends the process that started their commands.
type withShim struct{ *testing.M }

func (w withShim) Run() int {
	defer starter.Close()
	return w.M.Run()
}

// bench is a workspace with its tools.
type bench struct {
	t     *testing.T
	dir   string
	spool string
	fs    *scopefs.FS
	tools *tool.Registry
	// jobs are those of the pod, of allJobs.
	jobs    *shell.PodJobs
	allJobs *shell.Jobs
}

// setup is that of a runner, whose parts have different names.
type setup struct {
	shell.Config
	shell.Place
}

// newBench makes a workspace with files (name to content) and tools for it. adjust may
// change their configuration.
func newBench(t *testing.T, files map[string]string, adjust ...func(*setup)) *bench {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		(&bench{t: t, dir: dir}).write(name, content)
	}
	b, err := openBench(dir, t.TempDir(), adjust...)
	if err != nil {
		t.Fatal(err)
	}
	b.t = t
	t.Cleanup(func() {
		b.allJobs.Close()
		if err := b.fs.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// openBench makes tools for an existing workspace and spool.
func openBench(dir, spoolDir string, adjust ...func(*setup)) (*bench, error) {
	all, err := spool.Open(spool.Config{Dir: spoolDir})
	if err != nil {
		return nil, err
	}
	folder, err := all.Folder("p")
	if err != nil {
		return nil, err
	}
	fs, err := scopefs.Open(scopefs.Config{Dir: dir, Read: []string{folder.Dir()}})
	if err != nil {
		return nil, err
	}
	c := setup{shell.Config{Starter: starter}, shell.Place{FS: fs, Spool: folder}}
	for _, f := range adjust {
		f(&c)
	}
	jobs := shell.NewJobs(shell.JobsConfig{Max: 2, Runner: func(string) (*shell.Runner, error) { return shell.New(c.Config, c.Place), nil }})
	c.Jobs = jobs.Of("p")
	files := builtin.Config{FS: fs, Spool: folder, Commands: shell.New(c.Config, c.Place).Tools()}
	if c.Movable {
		files.MayChange = c.Lease.Check
	}
	tools, err := builtin.New(files)
	if err != nil {
		return nil, err
	}
	registry, err := tool.NewRegistry(tools...)
	return &bench{dir: dir, spool: folder.Dir(), fs: fs, tools: registry, allJobs: jobs, jobs: c.Jobs}, err
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name, content string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bench) tool(name string) tool.Tool {
	b.t.Helper()
	tl, ok := b.tools.Lookup(name)
	if !ok {
		b.t.Fatalf("there is no tool %s", name)
	}
	return tl
}

// call runs a tool as the worker does and fails the test if the output breaks the rules
// of all outputs.
func (b *bench) call(name, arguments string) tool.Output {
	b.t.Helper()
	return tooltest.Call(b.t.Context(), b.t, b.tool(name), arguments)
}

// object is the arguments of a call: keys and values in turn.
func object(pairs ...any) string {
	fields := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	return encode(fields)
}
