//go:build integrations

// Package clients runs the packages of sdk, their examples and those of examples/clients
// against a real podd.
package clients

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

const debian = "/usr/bin/python3"

func sdk(elem ...string) string {
	return filepath.Join(append([]string{rig.Root(), "sdk"}, elem...)...)
}

// python is a program with Debian's Python, which has gRPC, and the package in sdk/python.
func python(t *testing.T, w *rig.World, program string, args ...string) *exec.Cmd {
	t.Helper()
	if out, err := exec.Command(debian, "-c", "import grpc").CombinedOutput(); err != nil {
		t.Fatalf("%s has no gRPC; `make test-integrations` installs what these tests need where it can: %v\n%s", debian, err, out)
	}
	c := w.Command(debian, append([]string{sdk("python", program+".py")}, args...)...)
	c.Env = append(c.Env, "PYTHONPATH="+sdk("python"), "PYTHONDONTWRITEBYTECODE=1")
	return c
}

// build compiles sdk/typescript with its tests and examples, once.
var build = sync.OnceValues(func() ([]byte, error) {
	c := exec.Command("npm", "run", "--silent", "build")
	c.Dir = sdk("typescript")
	return c.CombinedOutput()
})

// typescript is a compiled program of sdk/typescript.
func typescript(t *testing.T, w *rig.World, program string, args ...string) *exec.Cmd {
	t.Helper()
	compiled(t)
	return w.Command("node", append([]string{sdk("typescript", "dist", "sdk", "typescript", program+".js")}, args...)...)
}

func compiled(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(sdk("typescript", "node_modules", ".bin", "tsc")); err != nil {
		t.Fatal("the packages of sdk/typescript are not installed; `make test-integrations` installs them")
	}
	if out, err := build(); err != nil {
		t.Fatalf("sdk/typescript cannot be built: %v\n%s", err, out)
	}
}

var languages = map[string]func(*testing.T, *rig.World, string, ...string) *exec.Cmd{"python": python, "typescript": typescript}

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
			c := client(t, w, "example/ask", w.Workspace, "run it")
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
			for _, want := range []string{"I will run it.\n", `? shell {"command":"echo hi"`, "[finished]\n"} {
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
			if out := rig.Run(t, client(t, w, "example/ask", w.Workspace, "hello")); out != "Yes.\n[finished]\n" {
				t.Errorf("the client said %q", out)
			}
			if out := w.Podctl("list"); !strings.Contains(out, "work ") {
				t.Errorf("the pods are\n%s", out)
			}
			out, err := client(t, w, "example/ask", w.Workspace, "").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "EMPTY_PROMPT: ") {
				t.Errorf("the client ended with %v and %q", err, out)
			}
		})
	}
}

// A client follows over a kill -9 of podd in the middle of an answer: it sees each entry once, and what it
// submits meanwhile runs once.
func TestCrash(t *testing.T) {
	for name, client := range languages {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "step\ntext The first half\nstall times=1\ntext and the second.\non \"after\"\nstep\ntext Yes.\n")
			w.Podctl("create", "p", "--dir", w.Workspace)
			program := map[string]string{"python": "tests/crash", "typescript": "test/crash"}[name]
			c := client(t, w, program, "p")
			stdout, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr strings.Builder
			c.Stderr = &stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var last string
			killed, away := false, false
			for lines := bufio.NewScanner(stdout); lines.Scan(); {
				last = lines.Text()
				if last == "live" && !killed {
					killed = true
					w.Kill()
				} else if last == "away" {
					away = true
					w.Start()
				}
			}
			if err := c.Wait(); err != nil || !away {
				t.Fatalf("the client ended: %v\n%s\n%s", err, last, stderr.String())
			}
			var seqs []int
			if err := json.Unmarshal([]byte(last), &seqs); err != nil {
				t.Fatalf("%q: %v", last, err)
			}
			submits := 0
			var want []int
			for line := range strings.Lines(w.Podctl("tail", "p", "--after", "0", "-o", "json")) {
				var message struct {
					Entry *struct{ Submitted *struct{} }
				}
				if err := json.Unmarshal([]byte(line), &message); err != nil {
					t.Fatal(err)
				}
				if message.Entry == nil {
					continue // The end of the log.
				}
				if message.Entry.Submitted != nil {
					submits++
				}
				want = append(want, len(want)+1)
			}
			if !slices.Equal(seqs, want) || submits != 2 {
				t.Errorf("the client saw the entries %v of %d; there are %d submits", seqs, len(want), submits)
			}
		})
	}
}

// Both packages make the same blocks of a stream as pkg/transcript.
func TestSharedCases(t *testing.T) {
	compiled(t)
	ts := exec.Command("npm", "--silent", "test")
	ts.Dir = sdk("typescript")
	rig.Run(t, ts)
	py := exec.Command(debian, "-B", "-m", "unittest", "discover", "-s", "tests")
	py.Dir = sdk("python")
	rig.Run(t, py)
}

// The programs of the READMEs run.
func TestReadmes(t *testing.T) {
	program := func(t *testing.T, w *rig.World, language, fence string) (dir string) {
		t.Helper()
		page, err := os.ReadFile(sdk(language, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		_, text, ok := strings.Cut(string(page), "```"+fence+"\n")
		text, _, ended := strings.Cut(text, "```")
		if !ok || !ended {
			t.Fatalf("sdk/%s/README.md has no program", language)
		}
		dir = t.TempDir()
		text = strings.Replace(text, "/home/ada/greeter", w.Workspace, 1)
		if err := os.WriteFile(filepath.Join(dir, "hello."+map[string]string{"python": "py", "typescript": "ts"}[fence]), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	check := func(t *testing.T, said string) {
		t.Helper()
		if strings.Join(strings.Fields(said), " ") != "answer Yes. end" {
			t.Errorf("the program said %q", said)
		}
	}
	t.Run("python", func(t *testing.T) {
		w := newWorld(t, "otherwise\ntext Yes.\n")
		c := w.Command(debian, filepath.Join(program(t, w, "python", "python"), "hello.py"))
		c.Env = append(c.Env, "PYTHONPATH="+sdk("python"), "PYTHONDONTWRITEBYTECODE=1")
		check(t, rig.Run(t, c))
	})
	t.Run("typescript", func(t *testing.T) {
		compiled(t)
		w := newWorld(t, "otherwise\ntext Yes.\n")
		dir := program(t, w, "typescript", "typescript")
		if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, to := range map[string]string{"podd": sdk("typescript"), "@types": sdk("typescript", "node_modules", "@types")} {
			if err := os.Symlink(to, filepath.Join(dir, "node_modules", name)); err != nil {
				t.Fatal(err)
			}
		}
		tsc := w.Command("node", sdk("typescript", "node_modules", "typescript", "bin", "tsc"), "--strict", "--target", "es2022", "--module", "node16", "hello.ts")
		tsc.Dir = dir
		rig.Run(t, tsc)
		check(t, rig.Run(t, w.Command("node", filepath.Join(dir, "hello.js"))))
	})
}

func TestGrpcurl(t *testing.T) {
	build := exec.Command("make", "-s", "bin/tools/grpcurl")
	build.Dir = rig.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("grpcurl cannot be built: %v\n%s", err, out)
	}
	rig.Need(t, "jq")
	w := newWorld(t, "otherwise\ntext Yes.\n")
	c := w.Command("sh", filepath.Join(rig.Root(), "examples", "clients", "grpcurl", "ask.sh"), "p", w.Workspace, "hello")
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
	if quoted < 1 {
		t.Errorf("docs/clients.md quotes %d examples", quoted)
	}
}

// The committed types match proto/. The test generates them with Debian's protoc; they
// equal buf's except for the line that names the compiler.
func TestTypesAreFresh(t *testing.T) {
	proto := filepath.Join(rig.Root(), "proto")
	dir := t.TempDir()
	args := []string{"-m", "grpc_tools.protoc", "-I", proto, "--plugin=protoc-gen-ts_proto=node_modules/.bin/protoc-gen-ts_proto", "--ts_proto_out=" + dir}
	template, err := os.ReadFile(sdk("typescript", "buf.gen.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(template)) {
		if option, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && !strings.Contains(option, ":") {
			args = append(args, "--ts_proto_opt="+option)
		}
	}
	messages, err := filepath.Glob(filepath.Join(proto, "podd", "v1", "*.proto"))
	if err != nil || len(messages) == 0 {
		t.Fatalf("no messages in %s: %v", proto, err)
	}
	args = append(args, messages...)
	c := exec.Command(debian, args...)
	c.Dir = sdk("typescript")
	rig.Run(t, c)
	diff := exec.Command("diff", "-r", "-I", `^//   protoc  `, filepath.Join(dir, "podd"), sdk("typescript", "src", "gen", "podd"))
	if out, err := diff.CombinedOutput(); err != nil {
		t.Errorf("run `npm run generate` in sdk/typescript and commit what it changes: %v\n%s", err, out)
	}
}
