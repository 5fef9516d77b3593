//go:build integrations

// Package clients runs the example clients of examples/clients, written in languages
// other than Go, against a real podd.
package clients

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// script is a model that makes one call that asks, and answers with text that contains
// terminal control characters.
const script = `step
text I will run it.
call shell {"command": "echo hi"}
step
text It said \x1b[31mhi.
`

func newWorld(t *testing.T, script string) *rig.World {
	t.Helper()
	s, err := scripted.Parse(strings.NewReader(strings.ReplaceAll(script, `\x1b`, "\x1b")))
	if err != nil {
		t.Fatal(err)
	}
	w := rig.New(t, s.Reply)
	return w
}

func examples() string { return filepath.Join(rig.Root(), "examples", "clients") }

// python is ask.py with Debian's Python, which has gRPC.
func python(t *testing.T, w *rig.World, args ...string) *exec.Cmd {
	t.Helper()
	const debian = "/usr/bin/python3"
	if out, err := exec.Command(debian, "-c", "import grpc, grpc_tools").CombinedOutput(); err != nil {
		t.Fatalf("%s has no gRPC; `make test-integrations` installs what these tests need where it can: %v\n%s", debian, err, out)
	}
	dir := t.TempDir()
	protos, err := filepath.Glob(filepath.Join(rig.Root(), "proto", "podd", "v1", "*.proto"))
	if err != nil {
		t.Fatal(err)
	}
	generate := []string{"-m", "grpc_tools.protoc", "-I", filepath.Join(rig.Root(), "proto"), "-I", examples(), "--python_out=" + dir, "--grpc_python_out=" + dir}
	rig.Run(t, w.Command(debian, append(append(generate, protos...), filepath.Join(examples(), "rpc_error.proto"))...))
	c := w.Command(debian, append([]string{filepath.Join(examples(), "python", "ask.py")}, args...)...)
	c.Env = append(c.Env, "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
	return c
}

// compiled is the directory of ask.js; TestMain removes it.
var compiled string

func TestMain(m *testing.M) {
	code := m.Run()
	if compiled != "" {
		os.RemoveAll(compiled)
	}
	os.Exit(code)
}

// typescript is ask.ts, compiled once in a directory with the npm packages.
func typescript(t *testing.T, w *rig.World, args ...string) *exec.Cmd {
	t.Helper()
	if compiled == "" {
		compile(t, w)
	}
	c := w.Command("node", append([]string{filepath.Join(compiled, "ask.js")}, args...)...)
	c.Env = append(c.Env, "PODD_PROTO="+filepath.Join(rig.Root(), "proto"), "PODD_EXAMPLES="+examples())
	return c
}

func compile(t *testing.T, w *rig.World) {
	t.Helper()
	packages := rig.NPM(t)
	dir, err := os.MkdirTemp("", "podd-client") //nolint:usetesting // It outlives the test that makes it.
	if err != nil {
		t.Fatal(err)
	}
	compiled = dir
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(examples(), "typescript"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(packages, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	tsc := w.Command("node", rig.NPM(t, "typescript", "bin", "tsc"), "-p", dir)
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

var languages = map[string]func(*testing.T, *rig.World, ...string) *exec.Cmd{"python": python, "typescript": typescript}

// output is everything a client has written.
type output struct {
	text strings.Builder
	// seen gets the whole output whenever it grows.
	seen chan string
}

// Write adds text.
func (o *output) Write(p []byte) (int, error) {
	o.text.Write(p)
	o.seen <- o.text.String()
	return len(p), nil
}

// A client creates the pod, submits, shows the answer, asks about the waiting call, and
// survives a crash of podd in between.
func TestAsk(t *testing.T) {
	for name, client := range languages {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script)
			w.Podctl("create", "p", "--dir", w.Workspace, "--ask", "always")
			c := client(t, w, w.Workspace, "run it")
			in, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out := &output{seen: make(chan string, 1000)}
			c.Stdout, c.Stderr = out, out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			for text := ""; !strings.Contains(text, "Run it? y/n"); {
				select {
				case text = <-out.seen:
				case err := <-ended:
					t.Fatalf("the client ended: %v\n%s", err, out.text.String())
				}
			}
			w.Kill()
			w.Start()
			if _, err := io.WriteString(in, "y\n"); err != nil {
				t.Fatal(err)
			}
			// The client asks again after it saw that podd was gone.
			_, _ = io.WriteString(in, "y\n")
			if err := <-ended; err != nil {
				t.Fatalf("the client ended: %v\n%s", err, out.text.String())
			}
			text := out.text.String()
			for _, want := range []string{"I will run it.\n", `? shell {"command":"echo hi"`, "[OUTCOME_FINISHED]\n"} {
				if strings.Count(text, want) < 1 {
					t.Errorf("the client did not say %q:\n%s", want, text)
				}
			}
			if strings.Count(text, "I will run it.") != 1 || strings.Count(text, "It said ") != 1 || strings.Contains(text, "\x1b") {
				t.Errorf("the client said %q", text)
			}
		})
	}
}

// The client creates a missing pod with the client token; an error has podd's reason.
func TestMakesThePodAndTellsErrors(t *testing.T) {
	for name, client := range languages {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "otherwise\ntext Yes.\n")
			if out := rig.Run(t, client(t, w, w.Workspace, "hello")); out != "Yes.\n[OUTCOME_FINISHED]\n" {
				t.Errorf("the client said %q", out)
			}
			if out := w.Podctl("list"); !strings.Contains(out, "work ") {
				t.Errorf("the pods are\n%s", out)
			}
			out, err := client(t, w, w.Workspace, "").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "INVALID_ARGUMENT EMPTY_PROMPT: ") {
				t.Errorf("the client ended with %v and %q", err, out)
			}
		})
	}
}

func TestGrpcurl(t *testing.T) {
	build := exec.Command("make", "-s", "bin/tools/grpcurl")
	build.Dir = rig.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("grpcurl cannot be built: %v\n%s", err, out)
	}
	rig.Need(t, "jq")
	w := newWorld(t, "otherwise\ntext Yes.\n")
	c := w.Command("sh", filepath.Join(examples(), "grpcurl", "ask.sh"), "p", w.Workspace, "hello")
	c.Env = append(c.Env, "PATH="+filepath.Join(rig.Root(), "bin", "tools")+":"+os.Getenv("PATH"))
	out := rig.Run(t, c)
	for _, want := range []string{"made pod p\n", `"assistantMessage":{"text":"Yes."}`, `"outcome":"OUTCOME_FINISHED"`} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %s:\n%s", want, out)
		}
	}
}

// The documentation quotes the examples verbatim.
func TestDocsQuoteTheExamples(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(rig.Root(), "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```")
	quoted := 0
	for i := 1; i < len(blocks); i += 2 {
		info, text, _ := strings.Cut(blocks[i], "\n")
		_, path, ok := strings.Cut(info, " ")
		if !ok {
			continue
		}
		quoted++
		source, err := os.ReadFile(filepath.Join(rig.Root(), path))
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(text, "\n...\n") {
			if part = strings.TrimRight(part, "\n"); !strings.Contains(string(source), part) {
				t.Errorf("docs/clients.md quotes what %s does not have:\n%s", path, part)
			}
		}
	}
	if quoted < 3 {
		t.Errorf("docs/clients.md quotes %d examples", quoted)
	}
}
