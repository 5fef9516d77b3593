package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/internal/extend/mcp"
	"podd/pkg/tool"
)

// bench is a Manager with one server in a workspace.
type bench struct {
	*mcp.Manager
	t       *testing.T
	server  mcp.Server
	dir     string
	mu      sync.Mutex
	alerts  []string
	secrets []string
}

// serverOf is this binary as a server.
func serverOf(mode string) mcp.Server {
	return mcp.Server{
		Name: "test", Command: os.Args[0], Env: []string{"MCP_TEST_SERVER=" + mode, "GIVEN", "A_TOKEN=${SECRET_ONE}"}, Expand: true,
		StartTimeout: time.Minute, Timeout: time.Minute, Origin: "config.toml:1",
	}
}

func newBench(t *testing.T, mode string, adjust ...func(*mcp.Config)) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, server: serverOf(mode), dir: dir}
	b.open(t.TempDir(), adjust...)
	return b
}

func (b *bench) open(state string, adjust ...func(*mcp.Config)) {
	b.t.Helper()
	c := mcp.Config{
		StateDir: state, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "GIVEN=yes", "OTHER=no", "SECRET_ONE=sesame-sesame"},
		Backoff: func(int) time.Duration { return 0 }, PingTime: 200 * time.Millisecond,
		Alert: func(text string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.alerts = append(b.alerts, text)
		},
		Secret: func(values ...string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.secrets = append(b.secrets, values...)
		},
	}
	for _, a := range adjust {
		a(&c)
	}
	m, err := mcp.New(b.t.Context(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(m.Close)
	b.Manager = m
}

// told are the alerts so far. Close waits for those in flight.
func (b *bench) told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.alerts)
}

func (b *bench) tools() []tool.Tool {
	b.t.Helper()
	tools := b.Tools(b.t.Context(), []mcp.Server{b.server}, b.dir, true)
	if len(tools) == 0 {
		b.t.Fatalf("no tools; alerts: %q", b.told())
	}
	return tools
}

func (b *bench) tool(name string) tool.Tool {
	b.t.Helper()
	for _, t := range b.tools() {
		if t.Spec().Name == "mcp__test__"+name {
			return t
		}
	}
	b.t.Fatalf("there is no tool %s", name)
	return nil
}

// A server gets the key of a call with it.
func TestCallsHaveTheirKey(t *testing.T) {
	b := newBench(t, "good")
	out, err := b.tool("key").Run(t.Context(), &tool.Invocation{Arguments: "{}", Key: "k1"})
	if err != nil || out.Content != "k1" && out.Summary != "k1" {
		t.Errorf("%+v, %v", out, err)
	}
}

// A call is sent again if the server says that it only reads, or a person says that the server is safe. Its
// hint that a tool is idempotent does not do it.
func TestWhatIsSentAgain(t *testing.T) {
	b := newBench(t, "good")
	for replay, want := range map[mcp.Replay]bool{mcp.ReplayNever: false, mcp.ReplaySafe: true} {
		b.server.Replay = replay
		for name, want := range map[string]bool{"echo": true, "key": want} {
			if r, ok := b.tool(name).(tool.Repeater); !ok || r.Repeats() != want {
				t.Errorf("replay %q, %s: %v", replay, name, r.Repeats())
			}
		}
	}
}

func (b *bench) call(name, arguments string) tool.Output {
	b.t.Helper()
	out, err := b.tool(name).Run(b.t.Context(), &tool.Invocation{Arguments: arguments})
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	return out
}

func (b *bench) fails(name string, want ...string) {
	b.t.Helper()
	out, err := b.tool(name).Run(b.t.Context(), &tool.Invocation{Arguments: "{}"})
	if err == nil {
		b.t.Fatalf("%s gives %q", name, out.Text())
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			b.t.Errorf("%s: %v; want %q", name, err, w)
		}
	}
}

// oneAlert closes the Manager and expects exactly this alert.
func (b *bench) oneAlert(want ...string) {
	b.t.Helper()
	b.Close()
	alerts := b.told()
	if len(alerts) != 1 {
		b.t.Fatalf("%d alerts: %q", len(alerts), alerts)
	}
	for _, w := range want {
		if !strings.Contains(alerts[0], w) {
			b.t.Errorf("the alert is %q, want %q", alerts[0], w)
		}
	}
}

func text(out tool.Output) string { return out.Text() }

func TestTools(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	var names []string
	for _, made := range b.tools() {
		names = append(names, made.Spec().Name)
	}
	if !slices.IsSorted(names) || !slices.Contains(names, "mcp__test__echo") || !slices.Contains(names, "mcp__test__read_resource") || !slices.Contains(names, "mcp__test__get_prompt") {
		t.Errorf("the tools are %q", names)
	}
	echo := b.tool("echo")
	if d := echo.Spec().Description; d != "says the same again" {
		t.Errorf("described as %q", d)
	}
	if !strings.Contains(echo.Spec().Schema, `"text":{"type":"string"}`) {
		t.Errorf("schema %s", echo.Spec().Schema)
	}
	if a := echo.Access("{}"); a.Confined || len(a.Protected) > 0 || a.Note != "its server says that it only reads" {
		t.Errorf("access %+v", a)
	}
	if out := b.call("echo", `{"text": "hello"}`); text(out) != "hello" || out.IsError {
		t.Errorf("%+v", out)
	}
	if out := b.call("fail", "{}"); !out.IsError || text(out) != "no such ticket" {
		t.Errorf("%+v", out)
	}
	if out := b.call("long", "{}"); len(out.Content) != 700 || !strings.HasPrefix(out.Summary, "100 lines | a line") {
		t.Errorf("%+v", out)
	}
	want := "a text\n[image of 5 bytes, not shown: it is not a PNG, JPEG, GIF or WebP image: convert it first]\n[audio, audio/wav, 3 bytes: not shown, as only text and images are]\n" +
		"[resource test://one: one; read_resource of this server reads it]\n[resource test://two]\nthe second\n{\"n\":1}"
	if out := b.call("kinds", "{}"); text(out) != want {
		t.Errorf("%s", text(out))
	}
	// The server checks the arguments.
	if out, err := echo.Run(t.Context(), &tool.Invocation{Arguments: `{"texd": "hello"}`}); err == nil && !out.IsError {
		t.Errorf("%+v", out)
	}
	if alerts := b.told(); len(alerts) > 0 {
		t.Errorf("alerts: %q", alerts)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	b.server.Tools = []string{"e*", "long", "read_resource"}
	var names []string
	for _, made := range b.tools() {
		names = append(names, strings.TrimPrefix(made.Spec().Name, "mcp__test__"))
	}
	if got := strings.Join(names, " "); got != "echo env long read_resource" {
		t.Errorf("offered are %s", got)
	}
}

func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	for _, tt := range []struct{ tool, arguments, want string }{
		{"read_resource", "{}", "test://day/{day}: days (a template: replace the names in braces)\ntest://one: one: the first"},
		{"read_resource", `{"uri": "test://one"}`, "[resource test://one]\nits text\n[resource test://one, a/b, 2 bytes: not shown, as only text and images are]"},
		{"get_prompt", "{}", "greet(who, how?): a greeting\nhang()\npage()\nwith blanks()"},
		{"get_prompt", `{"name": "greet", "arguments": {"who": "Ada"}}`, "user: Greet Ada"},
	} {
		if out := b.call(tt.tool, tt.arguments); text(out) != tt.want {
			t.Errorf("%s %s: %q", tt.tool, tt.arguments, text(out))
		}
	}
	if _, err := b.tool("read_resource").Run(t.Context(), &tool.Invocation{Arguments: `{"uri": "test://none"}`}); err == nil || !strings.Contains(err.Error(), "the MCP server test refused the call: ") {
		t.Errorf("%v", err)
	}
	for server, want := range map[string]bool{"test": true, "toast": false} {
		got, known, err := b.Resource(t.Context(), []mcp.Server{b.server}, b.dir, server, "test://one")
		if known != want || err != nil || strings.HasPrefix(got, "[resource test://one]\nits text") != want {
			t.Errorf("%s: %q, %t, %v", server, got, known, err)
		}
	}
	if _, err := b.tool("get_prompt").Run(t.Context(), &tool.Invocation{Arguments: `{"arguments": {"a": 1}}`}); err == nil || !strings.Contains(err.Error(), "an object of strings") {
		t.Errorf("%v", err)
	}
}

// A server gets the listed variables of podd's environment, and runs in the workspace.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	got := text(b.call("env", "{}"))
	for _, want := range []string{"HOME=/nowhere\n", "GIVEN=yes\n", "A_TOKEN=sesame-sesame\n", "PWD=" + b.dir + "\n", "cwd=" + b.dir + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "OTHER") || strings.Contains(got, "SECRET_ONE=") {
		t.Errorf("too much:\n%s", got)
	}
	if !slices.Contains(b.secrets, "sesame-sesame") {
		t.Errorf("what is known as secret is %q", b.secrets)
	}
	b.server.Env = append(b.server.Env, "MISSING")
	if _, _, err := b.Test(t.Context(), b.server, b.dir); err == nil || !strings.Contains(err.Error(), "the MCP server test (config.toml:1) should get the variable MISSING, which is not set in podd's environment") {
		t.Errorf("%v", err)
	}
}

func TestSecretFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("  sesame-from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, "good", func(c *mcp.Config) { c.SecretFiles = []string{file} })
	b.server.EnvFiles = []string{"FILED=" + file}
	if got := text(b.call("env", "{}")); !strings.Contains(got, "FILED=sesame-from-file\n") {
		t.Errorf("%s", got)
	}
	if !slices.Contains(b.secrets, "sesame-from-file") {
		t.Errorf("what is known as secret is %q", b.secrets)
	}
	b.server.EnvFiles = []string{"FILED=" + file + "2"}
	if _, _, err := b.Test(t.Context(), b.server, b.dir); err == nil || !strings.Contains(err.Error(), "was not configured when podd started") {
		t.Errorf("%v", err)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	var mu sync.Mutex
	var shown strings.Builder
	report := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		shown.WriteString(text)
		if strings.HasPrefix(text, "3/3") {
			_ = os.WriteFile(filepath.Join(b.dir, "seen"), nil, 0o600)
		}
	}
	if out, err := b.tool("steps").Run(t.Context(), &tool.Invocation{Report: report, Arguments: "{}"}); err != nil || text(out) != "done" {
		t.Fatalf("%v %v", out, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if shown.String() != "1/3 step\n2/3 step\n3/3 step\n" {
		t.Errorf("shown is %q", shown.String())
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A cancelled call is cancelled on the server, which keeps running.
func TestCancel(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	b.tools()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	done := make(chan error, 1)
	wait := b.tool("wait")
	go func() {
		_, err := wait.Run(ctx, &tool.Invocation{Arguments: "{}"})
		done <- err
	}()
	eventually(t, "the call", func() bool { return exists(filepath.Join(b.dir, "waiting")) })
	cancel(enough)
	if err := <-done; !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
	eventually(t, "the cancel on the server", func() bool { return exists(filepath.Join(b.dir, "cancelled")) })
	if out := b.call("echo", `{"text": "on"}`); text(out) != "on" {
		t.Errorf("%+v", out)
	}
	if alerts := b.told(); len(alerts) > 0 {
		t.Errorf("alerts: %q", alerts)
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// A server ends with everything that it started.
func TestEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	child, err := strconv.Atoi(text(b.call("child", "{}")))
	if err != nil || !alive(child) {
		t.Fatalf("%d: %v", child, err)
	}
	b.Close()
	eventually(t, "the end of the child", func() bool { return !alive(child) })
	if tools := b.Tools(t.Context(), []mcp.Server{serverOf("other")}, b.dir, true); len(tools) > 0 {
		t.Errorf("a closed manager starts a server: %v", tools)
	}
}

func pid(t *testing.T, b *bench) string {
	t.Helper()
	_, pid, _ := strings.Cut(text(b.call("env", "{}")), "pid=")
	return pid
}

// An unused server ends, and is restarted at the next use.
func TestIdle(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good", func(c *mcp.Config) { c.Idle = 50 * time.Millisecond })
	first := pid(t, b)
	eventually(t, "the end", func() bool { return b.Look(b.server, b.dir).State == mcp.Idle })
	if second := pid(t, b); second == first {
		t.Errorf("the same process, %s", second)
	}
	if alerts := b.told(); len(alerts) > 0 {
		t.Errorf("alerts: %q", alerts)
	}
}

// One process serves all pods of a workspace; another workspace has another one.
func TestShared(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	first := pid(t, b)
	if second := pid(t, b); second != first {
		t.Errorf("%s and %s", first, second)
	}
	b.dir = t.TempDir()
	if other := pid(t, b); other == first {
		t.Errorf("another workspace has the same process")
	}
}

// A known list starts no server.
func TestLazy(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	b := newBench(t, "good")
	b.open(state)
	before := b.tools()
	b.Close()
	b.open(state)
	after := b.tools()
	if len(after) != len(before) || b.Look(b.server, b.dir).State != mcp.Idle {
		t.Errorf("%d tools, then %d; it is %s", len(before), len(after), b.Look(b.server, b.dir).State)
	}
	for n := range after {
		if before[n].Spec() != after[n].Spec() {
			t.Errorf("%+v became %+v", before[n].Spec(), after[n].Spec())
		}
	}
	if out := b.call("echo", `{"text": "now"}`); text(out) != "now" {
		t.Errorf("%+v", out)
	}
	if unknown := b.Tools(t.Context(), []mcp.Server{serverOf("other")}, b.dir, false); len(unknown) > 0 {
		t.Errorf("a server of which nothing is known has tools without being started")
	}
}

// However a server names its tools, each has a unique name, the same each time.
func TestNamesThatCollide(t *testing.T) {
	t.Parallel()
	b := newBench(t, "names")
	var first []string
	for range 2 {
		var names []string
		for _, made := range b.tools() {
			names = append(names, made.Spec().Name)
		}
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) || len(names) != len(collidingNames())+5 {
			t.Fatalf("the tools are %q", names)
		}
		if _, err := tool.NewRegistry(b.tools()...); err != nil {
			t.Error(err)
		}
		if first != nil && !slices.Equal(first, names) {
			t.Errorf("%q, then %q", first, names)
		}
		first = names
	}
	look := b.Look(b.server, b.dir)
	for n, listed := range look.Listing.Tools {
		i := slices.IndexFunc(b.tools(), func(made tool.Tool) bool { return made.Spec().Name == look.Names[n] })
		if out, err := b.tools()[i].Run(t.Context(), &tool.Invocation{Arguments: "{}"}); err != nil || text(out) != "called "+listed.Name {
			t.Errorf("%s calls %q, %v", look.Names[n], text(out), err)
		}
	}
}

// Content that a result has in two forms is shown once, and content in only one form is
// not lost.
func TestBothForms(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	for name, want := range map[string]string{
		"form_json": "{\n  \"name\": \"ad\\u0061\",\n  \"n\": [1, 2]\n}", "form_file": "package main\n", "form_table": "| name | stars |\n| ada | 17 |",
		"form_less": "Found 3 items of 17.\n{\"items\":[\"one\",\"two\"]}", "form_count": "Found items: 17.\n{\"total\":17}", "form_alone": `{"n":1}`,
	} {
		if out := b.call(name, "{}"); text(out) != want {
			t.Errorf("%s: %q", name, text(out))
		}
	}
}

// A server that announces lists but does not support the requests has empty ones, and a
// tool that runs only as a task is not offered.
func TestListsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t, "raw")
	wantTaskTools(t, b)
	b.oneAlert("the tool slow is left out because it runs only as a task, which podd does not support")
}

func wantTaskTools(t *testing.T, b *bench) {
	t.Helper()
	var names []string
	for _, made := range b.tools() {
		names = append(names, made.Spec().Name)
	}
	if strings.Join(names, " ") != "mcp__test__either mcp__test__plain" {
		t.Errorf("the tools are %q", names)
	}
}

// A person gets a prompt with arguments in their order. Its resources and images come with it; what is wrong is a sentence.
func TestPromptsForAPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, "good")
	servers := []mcp.Server{b.server}
	if list := b.Prompts(servers, b.dir); len(list) != 0 {
		t.Errorf("before the server ever ran: %+v", list)
	}
	get := func(server, name string, words ...string) (string, bool) {
		got, known, err := b.Prompt(t.Context(), servers, b.dir, server, name, words)
		text := got.Text
		for _, p := range got.With {
			text += fmt.Sprintf("|%s: %s (%d)", p.Name, strings.SplitN(p.Text, ",", 2)[0], len(p.Images))
		}
		if err != nil {
			text = err.Error()
		}
		return text, known
	}
	for _, tt := range []struct {
		name  string
		words []string
		want  string
	}{
		{"greet", []string{"Ada"}, "Greet Ada"},
		{"greet", []string{"Ada L.", "with", "care"}, "Greet Ada L."},
		{"greet", nil, "it needs who"},
		{"page", []string{"x"}, "it takes no arguments"},
		{"none", nil, "there is no such prompt: the server has greet, hang, page, with blanks"},
		{"page", nil, "Read it.\n\n[test://one]\n\n[an image]\n\n[test://shot]\n\n[image of 4 bytes, not shown: it is not a PNG, JPEG, GIF or WebP image: convert it first]\n\n[audio, a/b, 2 bytes: not shown, as only text and images are]\n\nassistant: I did." +
			"|test://one: its text (0)|an image: image 1x1 (1)|test://shot: image 1x1 (1)"},
	} {
		if got, known := get("test", tt.name, tt.words...); !known || got != tt.want {
			t.Errorf("%s %q: %t, %q, want %q", tt.name, tt.words, known, got, tt.want)
		}
	}
	if _, known := get("other", "greet", "x"); known {
		t.Error("a server that there is not has prompts")
	}
	var listed []string
	for _, p := range b.Prompts(servers, b.dir) {
		listed = append(listed, p.Name+" "+strings.Join(p.Arguments, " "))
	}
	if want := []string{"test:greet who how?", "test:hang ", "test:page "}; !slices.Equal(listed, want) {
		t.Errorf("%q, want %q", listed, want)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(errors.New("no answer")) })
	if _, _, err := b.Prompt(ctx, servers, b.dir, "test", "hang", nil); err == nil || err.Error() != "no answer" {
		t.Errorf("a server that hangs: %v", err)
	}
}
