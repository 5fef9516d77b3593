//go:build integrations

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// visitVariable has the address where a client of the suite reports. The suite starts the tests' program as its client, and the test
// does with a podd of its own what the scenario wants.
const visitVariable = "PODD_CONFORMANCE_VISIT"

func TestMain(m *testing.M) {
	if at := os.Getenv(visitVariable); at != "" {
		os.Exit(visit(at, os.Args[len(os.Args)-1]))
	}
	os.Exit(m.Run())
}

// visit reports the address of the scenario's server, and waits until the test is done with it.
func visit(at, server string) int {
	resp, err := http.PostForm(at, url.Values{"server": {server}, "context": {os.Getenv("MCP_CONFORMANCE_CONTEXT")}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stderr, resp.Body)
	return 0
}

// fails are the scenarios that podd does not pass, with the reason.
var fails = map[string]string{
	"auth/enterprise-managed-authorization": "a person signs in at an identity provider for it, and podd signs in persons at authorization servers of MCP servers alone",
	"auth/dpop":                             "neither the SDK nor podd binds tokens to a key",
	"auth/dpop-nonce":                       "neither the SDK nor podd binds tokens to a key",
}

// grants are the scenarios in which podd signs in by itself.
var grants = map[string]string{
	"auth/client-credentials-basic": "client_credentials",
	"auth/client-credentials-jwt":   "client_credentials",
	"auth/wif-jwt-bearer":           "jwt_bearer",
}

// scenario is a scenario of the suite at a version of the protocol; empty for one that has none.
type scenario struct{ name, version string }

// suite is the command of the suite. It wants a newer Node.js than Debian's, for a function that tests of clients do not use.
func suite(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), rig.Need(t, "node"), append([]string{
		"--import", filepath.Join(rig.Root(), "integrations", "mcp", "globsync.mjs"),
		rig.NPM(t, "@modelcontextprotocol", "conformance", "dist", "index.js"),
	}, args...)...)
}

// scenarios are those of clients, each at every version that podd may meet.
func scenarios(t *testing.T) (all []scenario) {
	t.Helper()
	_, clients, _ := strings.Cut(rig.Run(t, suite(t, "list")), "Client scenarios")
	clients, _, _ = strings.Cut(clients, "Authorization server scenarios")
	for _, found := range regexp.MustCompile(`- (\S+) \[(.*)\]`).FindAllStringSubmatch(clients, -1) {
		versions := strings.Split(found[2], ",")
		last := scenario{name: found[1]}
		if versions[0] != "extension" {
			last.version = versions[len(versions)-1]
		}
		if all = append(all, last); last.version == "2026-07-28" && slices.Contains(versions, "2025-11-25") {
			all = append(all, scenario{found[1], "2025-11-25"})
		}
	}
	return all
}

// The suite's scenarios for clients pass with a real podd, and each that does not is known.
func TestConformance(t *testing.T) {
	all := scenarios(t)
	for _, s := range all {
		t.Run(s.name+"/"+s.version, func(t *testing.T) {
			t.Parallel()
			said, passed := s.run(t)
			for again := 0; !passed && s.name == "sse-retry" && again < 5; again++ {
				// Its server takes the stream that each session opens for the new connection, if that comes behind the call.
				said, passed = s.run(t)
			}
			switch reason := fails[s.name]; {
			case !passed && reason == "":
				t.Errorf("it fails:\n%s", said)
			case passed && reason != "":
				t.Errorf("it passes, though %s", reason)
			}
		})
	}
	for name := range fails {
		if !slices.ContainsFunc(all, func(s scenario) bool { return s.name == name }) {
			t.Errorf("there is no scenario %s", name)
		}
	}
}

// run runs a scenario with a podd of its own.
func (s scenario) run(t *testing.T) (said string, passed bool) {
	t.Helper()
	visits, done := make(chan url.Values), make(chan struct{})
	desk := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		visits <- r.PostForm
		<-done
	}))
	defer desk.Close()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	args := []string{"client", "--command", program, "--scenario", s.name, "--timeout", "600000", "-o", out}
	if s.version != "" {
		args = append(args, "--spec-version", s.version)
	}
	cmd := suite(t, args...)
	cmd.Dir, cmd.Env = out, append(os.Environ(), visitVariable+"="+desk.URL)
	ended := make(chan error, 1)
	var text []byte
	go func() {
		var err error
		text, err = cmd.CombinedOutput()
		ended <- err
	}()
	select {
	case v := <-visits:
		c := newClient(t, s, v)
		c.act()
		c.w.Stop() // The suite waits until its server has no connections.
		close(done)
		err = <-ended
		return c.said + "\n" + string(text) + failures(out), err == nil
	case err := <-ended:
		close(done)
		return string(text), err == nil && strings.Contains(string(text), "SKIPPED")
	}
}

// failures are the checks of a scenario that failed.
func failures(dir string) (text string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	nested, _ := filepath.Glob(filepath.Join(dir, "*", "*", "checks.json"))
	for _, f := range append(files, nested...) {
		var checks []map[string]any
		raw, _ := os.ReadFile(f)
		_ = json.Unmarshal(raw, &checks)
		for _, c := range checks {
			if c["status"] == "FAILURE" || c["status"] == "WARNING" {
				text += fmt.Sprintf("\n%v %v: %v, %v, %v", c["status"], c["id"], c["description"], c["errorMessage"], c["details"])
			}
		}
	}
	return text
}

// client is podd as a scenario wants it.
type client struct {
	t     *testing.T
	s     scenario
	w     *rig.World
	said  string
	grant string
	given struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		PrivateKey   string `json:"private_key_pem"`
		Assertion    string `json:"valid_jwt"`
		ToolCalls    []toolCall
	}
}

// toolCall is a call that the model makes.
type toolCall struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

func newClient(t *testing.T, s scenario, v url.Values) *client {
	t.Helper()
	c := &client{t: t, s: s, w: rig.Prepare(t, obeys)}
	_ = json.Unmarshal([]byte(v.Get("context")), &c.given)
	config := fmt.Sprintf("[mcp.servers.s]\nurl = %q\n", v.Get("server"))
	if s.name == "auth/basic-cimd" {
		c.given.ClientID = "https://conformance-test.local/client-metadata.json"
	}
	if c.given.ClientID != "" {
		config += fmt.Sprintf("client_id = %q\n", c.given.ClientID)
	}
	if c.grant = grants[s.name]; c.grant != "" {
		config += fmt.Sprintf("grant = %q\n", c.grant)
	}
	for key, secret := range map[string]string{"client_secret_file": c.given.ClientSecret, "private_key_file": c.given.PrivateKey, "assertion_file": c.given.Assertion} {
		if secret == "" {
			continue
		}
		file := filepath.Join(c.w.Dir, key)
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		config += fmt.Sprintf("%s = %q\n", key, file)
	}
	c.w.Configure(config + allow)
	c.w.Start()
	return c
}

// obeys is a model that makes the calls that the user asks for.
func obeys(_ context.Context, r scripted.Request) scripted.Reply {
	var list []toolCall
	_ = json.Unmarshal([]byte(r.LastUser()), &list)
	n := 0
	for _, m := range r.Messages {
		switch m.Role {
		case "user":
			n = 0
		case "assistant":
			n++
		}
	}
	if n >= len(list) {
		return scripted.Say(scripted.Text("Done."))
	}
	return scripted.Say(call(len(r.Messages), list[n].Name, list[n].Arguments))
}

// act does what a scenario wants.
func (c *client) act() {
	c.w.Podctl("create", "demo")
	switch name := c.s.name; {
	case strings.HasPrefix(name, "auth/"):
		c.authorize()
	case name == "elicitation-sep1034-client-defaults":
		c.asked(1, "--text", "1:-", "--text", "2:-", "--text", "3:-", "--text", "4:-", "--text", "5:-")
	case name == "sep-2322-client-request-state":
		c.asked(2, "--choice", "1:1")
	case len(c.given.ToolCalls) > 0:
		for i := range c.given.ToolCalls {
			c.given.ToolCalls[i].Name = "mcp__s__" + c.given.ToolCalls[i].Name
		}
		c.turn(c.given.ToolCalls)
	default:
		c.turn(c.everything())
	}
}

// podctl runs podctl, and notes what it says.
func (c *client) podctl(args ...string) string {
	c.t.Helper()
	text, _ := c.w.Command("podctl", args...).CombinedOutput() // What fails here, the suite or the test sees.
	c.said += "podctl " + strings.Join(args, " ") + "\n" + string(text)
	return string(text)
}

// turn lets the model make calls, and waits until they are done.
func (c *client) turn(calls []toolCall) string {
	text, _ := json.Marshal(calls)
	return c.podctl("submit", "-f", "-p", "demo", string(text))
}

// arguments of tools that want some.
var arguments = map[string]any{"add_numbers": map[string]int{"a": 5, "b": 3}}

// everything are calls of all that the server offers. A schema that one tool returns goes to another as podctl shows it.
func (c *client) everything() (calls []toolCall) {
	var offer struct {
		Tools []struct {
			Name      string `json:"name"`
			OfferedAs string `json:"offered_as"`
			Schema    string `json:"schema"`
		} `json:"tools"`
		Resources []struct{ URI string }  `json:"resources"`
		Prompts   []struct{ Name string } `json:"prompts"`
	}
	text := c.podctl("mcp", "test", "s", "-o", "json")
	_ = json.Unmarshal([]byte(text), &struct{ Server any }{&offer})
	_ = json.Unmarshal([]byte(text), &offer)
	for _, t := range offer.Tools {
		with := arguments[t.Name]
		if with == nil {
			with = map[string]any{}
		}
		if t.Name == "json_schema_echo" {
			for _, o := range offer.Tools {
				if o.Name == "json_schema_2020_12_tool" {
					with = map[string]any{"schema": json.RawMessage(o.Schema)}
				}
			}
		}
		calls = append(calls, toolCall{t.OfferedAs, with})
	}
	for _, r := range offer.Resources {
		calls = append(calls, toolCall{"mcp__s__read_resource", map[string]any{"uri": r.URI}})
	}
	for _, p := range offer.Prompts {
		calls = append(calls, toolCall{"mcp__s__get_prompt", map[string]any{"name": p.Name}})
	}
	return calls
}

// asked answers that many questions of a turn in the same way.
func (c *client) asked(times int, answer ...string) {
	text, _ := json.Marshal(c.everything())
	c.podctl("submit", "-p", "demo", string(text))
	for range times {
		rig.Await(c.t, "a question", func() bool { return strings.Contains(c.w.Podctl("questions"), "the MCP server s") })
		c.podctl(append([]string{"answer", "demo"}, answer...)...)
	}
	rig.Await(c.t, "the end of the turn", func() bool { return strings.Contains(c.w.Podctl("list"), " idle ") })
}

// authorize signs in and calls a tool, and signs in again where podd says so, as a person does who gives up one day.
func (c *client) authorize() {
	if c.grant != "" {
		c.everything()
		c.turn([]toolCall{{"mcp__s__test-tool", map[string]any{}}})
		return
	}
	for range 3 {
		if !c.login() || !strings.Contains(c.turn([]toolCall{{"mcp__s__test-tool", map[string]any{}}}), "podctl mcp login s") {
			return
		}
	}
}

// login signs in: the browser goes where it is sent.
func (c *client) login() bool {
	cmd := c.w.Command("podctl", "mcp", "login", "s")
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.said += "podctl mcp login s\n"
	for lines := bufio.NewScanner(out); lines.Scan(); {
		c.said += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "http") {
			if resp, err := http.Get(lines.Text()); err == nil {
				_ = resp.Body.Close()
			}
		}
	}
	return cmd.Wait() == nil
}
