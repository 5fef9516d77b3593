package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"podd/internal/testing/logs"
	"podd/pkg/llm/scripted"
)

// TestScript runs testdata/script/*.txtar: the built podd and podctl as a person uses
// them. These scripts have further commands besides testscript's own:
//
//	model SCRIPT [KEY]      serves a scripted model and sets OPENAI_BASE_URL
//	podd start [ARG...]     starts podd, or that at $PODD, and waits until it is ready
//	podd stop, podd kill    drains it; kills it
//	podd VERB [ARG...]      runs another verb of podd to its end
//	exits CODE podctl ...   podctl must end with this exit code
//	await TEXT podctl ...   runs podctl until its standard output has TEXT
//	until EXPR podctl ...   runs podctl again and again, until its standard output matches: for
//	                        what may come later, and for completions, which wait for podd not long
//	keep NAME .PATH         sets a variable to a field of the last object
//	json .PATH[=VALUE]...   the first object of standard output has these fields
//	lastjson ...            so has the last one
//
// $EXAMPLES is the directory of examples, $BUILT that of podd and podd-launch.
func TestScript(t *testing.T) { runScripts(t, testscript.Params{Dir: "testdata/script"}) }

// TestSandboxScript runs scripts whose commands are confined. They are not in /tmp, which
// every sandbox replaces.
func TestSandboxScript(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp(cache, "podd-") //nolint:usetesting // t.TempDir is below /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	runScripts(t, testscript.Params{Dir: "testdata/sandbox", WorkdirRoot: root})
}

func runScripts(t *testing.T, p testscript.Params) {
	t.Helper()
	p.RequireExplicitExec, p.RequireUniqueNames = true, true
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("HOME", env.WorkDir+"/home")
		env.Setenv("PODD_STATE_DIR", env.WorkDir+"/state")
		examples, err := filepath.Abs("../../examples")
		if err != nil {
			return err
		}
		env.Setenv("EXAMPLES", examples)
		env.Setenv("BUILT", filepath.Dir(poddPath))
		env.Setenv("GORACE", "exitcode=99 atexit_sleep_ms=0")
		env.Values[daemonKey{}] = new(*daemon)
		env.Values[oauthKey{}] = new(*protected)
		env.Values[heldKey{}] = new(chan struct{})
		env.Defer(func() {
			for _, text := range logs.Check(context.Background(), env.WorkDir) {
				env.T().Log(text)
				defer env.T().FailNow()
			}
		})
		return os.MkdirAll(env.WorkDir+"/home", 0o700)
	}
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"model": scriptModel, "podd": scriptPodd, "exits": scriptExits, "await": scriptAwait, "until": scriptUntil, "keep": scriptKeep, "pages": scriptPages, "oauth": scriptOAuth, "recipe": scriptRecipe,
		"json":     func(ts *testscript.TestScript, neg bool, args []string) { scriptJSON(ts, neg, args, 0) },
		"lastjson": func(ts *testscript.TestScript, neg bool, args []string) { scriptJSON(ts, neg, args, -1) },
	}
	testscript.Run(t, p)
}

type daemonKey struct{}

func scriptModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: model SCRIPT [KEY]")
	}
	script, err := scripted.Parse(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	config := scripted.Config{Script: script}
	if len(args) == 2 {
		config.Key = args[1]
	}
	server, err := scripted.Serve(config)
	ts.Check(err)
	ts.Defer(func() { _ = server.Close() })
	ts.Setenv("OPENAI_BASE_URL", server.URL())
}

func scriptPodd(ts *testscript.TestScript, neg bool, args []string) {
	running := ts.Value(daemonKey{}).(**daemon)
	end := func(s syscall.Signal) {
		if *running != nil {
			d := *running
			*running = nil
			ts.Check(d.end(s))
		}
	}
	switch {
	case neg || len(args) == 0:
		ts.Fatalf("usage: podd start|stop|kill|VERB")
	case args[0] == "start":
		var env []string
		for _, name := range []string{"PATH", "HOME", "PODD_STATE_DIR", "PODD_SOCKET", "PODD_CONFIG", "PODD_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY", "http_proxy", "GORACE"} {
			if value := ts.Getenv(name); value != "" {
				env = append(env, name+"="+value)
			}
		}
		d, err := startPodd(cmp.Or(ts.Getenv("PODD"), poddPath), env, ts.MkAbs("."), args[1:]...)
		ts.Check(err)
		*running = d
		ts.Defer(func() { end(syscall.SIGTERM) })
	case args[0] == "stop":
		end(syscall.SIGTERM)
	case args[0] == "kill":
		end(syscall.SIGKILL)
	default:
		ts.Check(ts.Exec(poddPath, args...))
	}
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if coded, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		code = strconv.Itoa(coded.ExitCode())
	} else {
		ts.Check(err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// scriptUntil repeats a command until its standard output matches; whether it fails does not
// count.
func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until EXPR COMMAND...")
	}
	awaited, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for began := time.Now(); time.Since(began) < patience; {
		_ = ts.Exec(args[1], args[2:]...)
		if awaited.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("%q did not come", args[0])
}

// scriptAwait runs a command until the awaited text has come.
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await TEXT COMMAND...")
	}
	cmd := exec.Command(args[1], args[2:]...)
	for _, name := range []string{"PATH", "HOME", "PODD_STATE_DIR", "PODD_SOCKET", "GORACE", "TZ"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	exited := make(chan struct{})
	out := &watched{done: exited}
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), out, out
	ts.Check(cmd.Start())
	endLate(cmd.Process)
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	for {
		found, more := out.look(args[0])
		if found {
			break
		}
		select {
		case <-more:
		case <-exited:
			ts.Fatalf("%q did not come; there is\n%s", args[0], out.String())
		}
	}
	_ = cmd.Process.Signal(os.Interrupt)
	<-exited
}

// scriptRecipe runs the shell lines of a recipe as a page has them, below a title in bold, in the directory of the test.
func scriptRecipe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: recipe PAGE TITLE")
	}
	page, err := os.ReadFile(filepath.Join(ts.Getenv("EXAMPLES"), "..", "docs", args[0]+".md"))
	ts.Check(err)
	_, text, found := strings.Cut(string(page), "**"+args[1])
	_, text, begun := strings.Cut(text, "```sh\n")
	text, _, ended := strings.Cut(text, "```\n")
	if !found || !begun || !ended {
		ts.Fatalf("%s has no recipe %q", args[0], args[1])
	}
	ts.Check(ts.Exec("sh", "-ec", text))
}

// scriptKeep keeps a field of the last object for later commands.
func scriptKeep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keep NAME .PATH")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	var object any
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &object))
	value, ok := field(object, args[1])
	if !ok {
		ts.Fatalf("there is no %s in %s", args[1], lines[len(lines)-1])
	}
	ts.Setenv(args[0], fmt.Sprint(value))
}

// scriptJSON checks one of the lines of standard output.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string, which int) {
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	line := lines[(which+len(lines))%len(lines)]
	var object any
	if err := json.Unmarshal([]byte(line), &object); err != nil || neg {
		ts.Fatalf("%v in %s", err, line)
	}
	for _, arg := range args {
		path, want, exact := strings.Cut(arg, "=")
		got, ok := field(object, path)
		if !ok || exact && fmt.Sprint(got) != want {
			ts.Fatalf("%s is %v, want %q, in %s", path, got, want, line)
		}
	}
}

// field finds a value by a path like .spec.read[0].
func field(object any, path string) (any, bool) {
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		name, index, indexed := strings.Cut(strings.TrimSuffix(name, "]"), "[")
		fields, ok := object.(map[string]any)
		if !ok {
			return nil, false
		}
		if object, ok = fields[name]; !ok {
			return nil, false
		}
		if indexed {
			n, err := strconv.Atoi(index)
			list, ok := object.([]any)
			if err != nil || !ok || n >= len(list) {
				return nil, false
			}
			object = list[n]
		}
	}
	return object, true
}
