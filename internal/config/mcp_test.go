package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"podd/internal/config"
	"podd/internal/extend/mcp"
)

const mcpFile = `[mcp.servers.files]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
env = ["LEVEL=1", "HTTPS_PROXY"]
env_files = ["GITHUB_TOKEN=/run/keys/github"]
tools = ["read_*", "list_directory"]
timeout = "90s"

[mcp.servers.tickets]
url = "https://example.com/mcp?key=hidden"
token_file = "/run/keys/tickets"
headers = { X-Team = "blue", X-Key = "${TICKETS_KEY}" }
replay = "safe"
`

func TestMCPServers(t *testing.T) {
	c := load(t, mcpFile)
	if len(c.MCP) != 2 {
		t.Fatalf("%d servers: %+v", len(c.MCP), c.MCP)
	}
	files, tickets := c.MCP[0], c.MCP[1]
	want := mcp.Server{
		Name: "files", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "."},
		Env: []string{"LEVEL=1", "HTTPS_PROXY"}, EnvFiles: []string{"GITHUB_TOKEN=/run/keys/github"},
		Tools:        []string{"read_*", "list_directory"},
		StartTimeout: 30 * time.Second, Timeout: 90 * time.Second, Replay: mcp.ReplayNever, Origin: files.Origin,
	}
	if !reflect.DeepEqual(files, want) || !strings.HasSuffix(files.Origin, ":1") {
		t.Errorf("%+v", files)
	}
	if tickets.Headers["X-Team"] != "blue" || tickets.URL != "https://example.com/mcp?key=hidden" || tickets.TokenFile != "/run/keys/tickets" {
		t.Errorf("%+v", tickets)
	}
	if tickets.Replay != mcp.ReplaySafe {
		t.Errorf("replay is %q", tickets.Replay)
	}
	both := load(t, "[mcp.servers.a]\nurl = 'http://h/'\nclient_id = 'a'\ngrant = 'client_credentials'\nprivate_key_file = '/k'\n"+
		"[mcp.servers.b]\nurl = 'http://h/'\nclient_id = 'b'\ngrant = 'jwt_bearer'\nassertion_file = '/j'\nclient_secret_file = '/s'").SecretFiles()
	if !reflect.DeepEqual(both, []string{"/k", "/s", "/j"}) {
		t.Errorf("the files of secrets are %q", both)
	}
	if got := c.SecretFiles(); !reflect.DeepEqual(got, []string{"/run/keys/github", "/run/keys/tickets"}) {
		t.Errorf("the files of secrets are %q", got)
	}
	var shown strings.Builder
	for _, v := range c.Values() {
		shown.WriteString(v.Key + " = " + v.Value + "\n")
	}
	for _, hidden := range []string{"key=hidden", "LEVEL=1", "blue", "TICKETS_KEY"} {
		if strings.Contains(shown.String(), hidden) {
			t.Errorf("%s is shown:\n%s", hidden, shown.String())
		}
	}
	if !strings.Contains(shown.String(), `mcp.servers.tickets.headers = { X-Key = "...", X-Team = "..." }`) {
		t.Errorf("the name of a header is not shown:\n%s", shown.String())
	}
	for _, change := range []struct{ from, to, key string }{
		{"LEVEL=1", "LEVEL=2", "mcp.servers.files.env"}, {"blue", "red", "mcp.servers.tickets.headers"},
		{"key=hidden", "key=other", "mcp.servers.tickets.url"},
	} {
		keys := config.Changed(c, load(t, strings.Replace(mcpFile, change.from, change.to, 1)))
		if len(keys) == 0 || keys[0] != change.key && !strings.Contains(strings.Join(keys, " "), change.key) || strings.Contains(strings.Join(keys, " "), "command") {
			t.Errorf("%s for %s: changed are %q", change.to, change.from, keys)
		}
	}
}

func TestMCPServersThatCannotBe(t *testing.T) {
	const account = "[mcp.servers.x]\nurl = 'http://h/'\ngrant = 'client_credentials'\n"
	for text, want := range map[string]string{
		"[mcp.servers.x]": ":1: [mcp.servers.x] has neither command nor url",
		"[mcp.servers.x]\ncommand = 'a'\nurl = 'http://h/'":                 ":1: [mcp.servers.x] has command and url",
		"[mcp.servers.x]\nurl = 'ftp://h'":                                  ":2: mcp.servers.x.url must be an absolute http or https URL",
		"[mcp.servers.x]\nurl = 'http://h/'\nargs = ['a']":                  "which are for a command",
		"[mcp.servers.x]\ncommand = 'a'\nheaders = { A = 'b' }":             "which a command is not sent",
		"[mcp.servers.x]\ncommand = './a'":                                  "has a relative command",
		"[mcp.servers.x]\ncommand = 'a'\ncwd = 'b'":                         "relative: write the whole path",
		"[mcp.servers.x]\ncommand = 'a'\nenv = ['OPENAI_API_KEY']":          "podd's key goes to no server",
		"[mcp.servers.x]\ncommand = 'a'\nenv = ['1=2']":                     "neither NAME nor NAME=value",
		"[mcp.servers.x]\ncommand = 'a'\nenv_files = ['A=b']":               "not NAME=PATH with an absolute path",
		"[mcp.servers.x]\nurl = 'http://h/'\nheaders.Authorization = 'abc'": "has a key in the file",
		"[mcp.servers.x]\nurl = 'http://h/'\nheaders = { 'a b' = 'c' }":     "not a valid header name",
		"[mcp.servers.x]\nurl = 'http://h/'\nheaders = { a = \"b\\nc\" }":   "mcp.servers.x.headers must be a table of strings on one line",
		"[mcp.servers.x]\ncommand = 'a'\noops = 1":                          ":3: unknown key mcp.servers.x.oops: [mcp.servers.x] has command, args, env,",
		"[mcp.servers.a__b]\ncommand = 'a'":                                 "use at most 24 letters and digits",
		"[mcp.servers.abcdefghijklmnopqrstuvwxy]\ncommand = 'a'":            "use at most 24 letters and digits",
		"[mcp.servers.x]\ncommand = 'a'\nissuer = 'https://h'":              "which only a url has",
		"[mcp.servers.x]\nurl = 'http://h/'\nissuer = 'https://h'":          "has an issuer and no client_id or grant",
		"[mcp.servers.x]\nurl = 'http://h/'\nassertion_file = '/a'":         `no grant: set grant = "client_credentials"`,
		"[mcp.servers.x]\nurl = 'http://h/'\ngrant = 'password'":            `mcp.servers.x.grant must be "client_credentials" or "jwt_bearer"`,
		account: "set client_id, and one of client_secret_file, private_key_file and assertion_file",
		account + "client_id = 'a'\nclient_secret_file = '/a'\nprivate_key_file = '/b'":                      "set client_id, and one of",
		account + "private_key_file = '/b'":                                                                  "set client_id, and one of",
		account + "client_id = 'a'\nprivate_key_file = 'b'":                                                  "relative: write the whole path",
		account + "client_id = 'a'\nprivate_key_file = '/b'\ntoken_file = '/c'":                              "has token_file and client_id or grant",
		account + "client_id = 'a'\nprivate_key_file = '/b'\nheaders.Authorization = '${A}'":                 "has a grant and the header Authorization",
		"[mcp.servers.x]\nurl = 'http://h/'\ngrant = 'jwt_bearer'\nclient_id = 'a'\nprivate_key_file = '/b'": "set assertion_file, and no private_key_file",
		"[mcp]\nfoo = 1": "unknown key mcp.foo: [mcp] has [servers.NAME]",
		"[mcp.servers.x]\ncommand = 'a'\ntimeout = '0s'": "must be a duration of at least 1s",
		"[mcp.servers.x]\ncommand = 'a'\nargs = 'b'":     "must be a list of strings",
	} {
		_, err := config.Load(write(t, text), true, environment())
		wantError(t, err, want)
	}
}

// Variables can be written as a table too, as .mcp.json has them.
func TestVariablesAsATable(t *testing.T) {
	for _, text := range []string{
		"[mcp.servers.x]\ncommand = 'a'\nenv = { B = 'secret=2', A = '1' }\nenv_files = { K = '/k' }",
		"[mcp.servers.x]\ncommand = 'a'\nenv.B = 'secret=2'\nenv.A = '1'\nenv_files.K = '/k'",
		"[mcp.servers.x]\ncommand = 'a'\n[mcp.servers.x.env]\nB = 'secret=2'\nA = '1'\n[mcp.servers.x.env_files]\nK = '/k'",
	} {
		c := load(t, text)
		if s := c.MCP[0]; !reflect.DeepEqual(s.Env, []string{"A=1", "B=secret=2"}) || !reflect.DeepEqual(s.EnvFiles, []string{"K=/k"}) {
			t.Errorf("%s: %+v", text, s)
		}
		for _, v := range c.Values() {
			if v.Key == "mcp.servers.x.env" && (v.Value != `["A=...", "B=..."]` || v.Origin == "default") {
				t.Errorf("%s: shown as %+v", text, v)
			}
		}
	}
	if s := load(t, "[mcp.servers.x]\ncommand = 'a'\nenv = {}\nenv_files = {}\nheaders = {}").MCP[0]; len(s.Env)+len(s.EnvFiles) > 0 {
		t.Errorf("%+v", s)
	}
	for text, want := range map[string]string{
		"env = { A = 1 }":          ":3: mcp.servers.x.env must be a list of variables",
		"env = { '1' = 'a' }":      "neither NAME nor NAME=value",
		"env = 1":                  "mcp.servers.x.env must be a list of variables",
		"env = { A = { B = '1' }}": "mcp.servers.x.env must be a list of variables",
		"env_files = { A = 'b' }":  "not NAME=PATH with an absolute path",
	} {
		_, err := config.Load(write(t, "[mcp.servers.x]\ncommand = 'a'\n"+text), true, environment())
		wantError(t, err, want)
	}
}
