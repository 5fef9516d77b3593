package config

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MCPServer is an MCP server: a command that speaks the protocol over its standard
// streams, or the address of one over HTTP.
type MCPServer struct {
	// Name is unique, and fit for the names of tools; see MCPName.
	Name string
	// Command is a program, Args its arguments; empty for a server over HTTP.
	Command string
	Args    []string
	// Env holds NAME=value, or NAME to pass on podd's own value; EnvFiles NAME=PATH for
	// a value that is the content of a file.
	Env, EnvFiles []string
	// Cwd is where the command runs; empty means the workspace.
	Cwd string
	// URL is the address of a server over HTTP; empty for a command.
	URL string
	// Headers are sent with each request. ${NAME} in a value is a variable of podd's
	// environment.
	Headers map[string]string
	// TokenFile holds a token that is sent as a bearer's; may be empty.
	TokenFile string
	// Tools are those that are offered, with * for any part of a name; empty means all.
	Tools []string
	// StartTimeout bounds the start, with the first lists; Timeout bounds a call. Both are
	// above 0.
	StartTimeout, Timeout time.Duration
	// Expand says that ${NAME} stands for a variable in the command, its arguments and
	// environment and in the URL too.
	Expand bool
	// Origin is where the server stands: FILE:LINE, or the file of a workspace.
	Origin string
}

// Target is the program, or the address without what may be secret in it.
func (s MCPServer) Target() string {
	if s.URL == "" {
		return s.Command
	}
	target, _, _ := strings.Cut(s.URL, "?")
	return target
}

// The defaults of a server, and what bounds them.
const (
	defaultMCPStart = 30 * time.Second
	defaultMCPCall  = 2 * time.Minute
)

var (
	mcpName      = regexp.MustCompile(`^[A-Za-z0-9]+([_-]?[A-Za-z0-9]+)*$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	reference    = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}`)
)

// MCPPrefix begins the names of all tools of MCP servers.
const MCPPrefix = "mcp__"

// maxMCPName bounds a server's name, so that the names of its tools have room.
const maxMCPName = 24

// MCPName says whether a name is fit for a server: letters, digits and single - and _
// between them, at most 24.
func MCPName(name string) bool { return len(name) <= maxMCPName && mcpName.MatchString(name) }

// mcpTable is the table of a server.
func mcpTable(name string) string { return keyText([]string{"mcp", "servers", name}) }

// mcpOf is the NAME of a key in [mcp.servers.NAME], its headers included.
func mcpOf(key []string) (string, bool) {
	if len(key) >= 4 && key[0] == "mcp" && key[1] == "servers" {
		return key[2], true
	}
	return "", false
}

// mcpSettings are the keys of a server, the names of its headers and variables aside.
func mcpSettings(table string, s *MCPServer) []setting {
	return []setting{
		prose(table+".command", &s.Command),
		words(table+".args", &s.Args),
		variables(table+".env", &s.Env).orTable(&s.Env),
		variables(table+".env_files", &s.EnvFiles).orTable(&s.EnvFiles),
		prose(table+".cwd", &s.Cwd).hinting("the workspace"),
		endpoint(table+".url", &s.URL),
		prose(table+".token_file", &s.TokenFile),
		names(table+".tools", &s.Tools).hinting("all"),
		duration(table+".start_timeout", &s.StartTimeout, time.Second),
		duration(table+".timeout", &s.Timeout, time.Second),
	}
}

// orTable lets a list of variables be a table too, whose keys variableSetting sets.
func (s setting) orTable(target *[]string) setting {
	list := s.set
	s.must += `, or a table, such as { NAME = "value" }`
	s.set = func(value any) bool {
		if value == (table{}) {
			*target = nil
			return true
		}
		return list(value)
	}
	return s
}

// variableSetting sets one variable in a table of them.
func variableSetting(key []string, target *[]string) setting {
	return setting{
		key: keyText(key), must: "a string", hidden: true,
		set: func(value any) bool {
			text, ok := value.(string)
			if ok {
				*target = append(*target, key[len(key)-1]+"="+text)
			}
			return ok
		},
	}
}

// headerSetting sets one header. Its value, which may be secret, is not shown.
func headerSetting(table string, s *MCPServer, header string) setting {
	return setting{
		key:    keyText([]string{"mcp", "servers", s.Name, "headers", header}),
		must:   "a string on one line",
		hidden: true,
		set: func(value any) bool {
			text, ok := value.(string)
			if !ok || strings.ContainsAny(text, "\r\n\x00") {
				return false
			}
			s.Headers[header] = text
			return true
		},
		show: func() string { return quote("...") },
	}
}

// words sets a variable to a list of any strings.
func words(key string, target *[]string) setting {
	return setting{
		key:  key,
		must: `a list of strings, such as ["-y", "a package"]`,
		set: func(value any) bool {
			all, ok := texts(value)
			if ok {
				*target = all
			}
			return ok
		},
		show: func() string { return quoteAll(*target) },
	}
}

// endpoint sets a variable to the address of one HTTP resource. Its query, which may be
// secret, is not shown.
func endpoint(key string, target *string) setting {
	return setting{
		key:    key,
		must:   "an absolute http or https URL without user or fragment, such as https://example.com/mcp",
		hidden: true,
		set: func(value any) bool {
			text, ok := value.(string)
			if !ok || !isEndpoint(text) {
				return false
			}
			*target = text
			return true
		},
		show: func() string {
			shown, _, more := strings.Cut(*target, "?")
			if more {
				shown += "?..."
			}
			return quote(shown)
		},
	}
}

func isEndpoint(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.Fragment == ""
}

// mcpServer is the server of a key, begun when it is new.
func (l *loader) mcpServer(name string) *MCPServer {
	if l.mcp[name] == nil {
		l.mcp[name] = &MCPServer{
			Name: name, Headers: map[string]string{}, StartTimeout: defaultMCPStart, Timeout: defaultMCPCall,
		}
	}
	return l.mcp[name]
}

// beginMCP begins a server whose table has no key yet.
func (l *loader) beginMCP(table []string, where string) {
	if len(table) == 3 && table[0] == "mcp" {
		if s := l.mcpServer(table[2]); s.Origin == "" {
			s.Origin = where
		}
	}
}

// findMCP are the settings that a key in [mcp.servers.NAME] may mean.
func (l *loader) findMCP(key []string) []setting {
	name, ok := mcpOf(key)
	if !ok {
		return nil
	}
	s := l.mcpServer(name)
	if len(key) == 5 {
		switch key[3] {
		case "headers":
			return []setting{headerSetting(mcpTable(name), s, key[4])}
		case "env":
			return []setting{variableSetting(key, &s.Env)}
		case "env_files":
			return []setting{variableSetting(key, &s.EnvFiles)}
		}
	}
	return mcpSettings(mcpTable(name), s)
}

// finishMCP refuses servers that can't be.
func (l *loader) finishMCP() error {
	for _, name := range slices.Sorted(maps.Keys(l.mcp)) {
		s, table := l.mcp[name], mcpTable(name)
		all := mcpSettings(table, s)
		for _, header := range slices.Sorted(maps.Keys(s.Headers)) {
			all = append(all, headerSetting(table, s, header))
		}
		if s.Origin == "" {
			s.Origin = l.firstOrigin(all)
		}
		for _, key := range slices.Sorted(maps.Keys(l.origins)) {
			// A variable of a table that no line begins stands for the whole.
			for _, list := range []string{table + ".env", table + ".env_files"} {
				if strings.HasPrefix(key, list+".") && l.origins[list] == "" {
					l.origins[list] = l.origins[key]
				}
			}
		}
		if wrong := s.wrong(); wrong != "" {
			return bad("%s: [%s] %s", s.Origin, table, wrong)
		}
		if wrong := s.unfitForFile(); wrong != "" {
			return bad("%s: [%s] %s", s.Origin, table, wrong)
		}
		l.config.MCP = append(l.config.MCP, *s)
		l.show(all, true)
	}
	return nil
}

// wrong says why there can't be such a server; empty when there can.
func (s *MCPServer) wrong() string {
	switch {
	case !MCPName(s.Name):
		return fmt.Sprintf("has the name %s: use at most %d letters and digits, with single - or _ between them", quote(s.Name), maxMCPName)
	case s.Command == "" && s.URL == "":
		return "has neither command nor url: set the program to start, or the address of a server"
	case s.Command != "" && s.URL != "":
		return "has command and url: it can be one alone"
	case s.URL == "" && (len(s.Headers) > 0 || s.TokenFile != ""):
		return "has headers or a token_file, which a command is not sent: leave them out"
	case s.URL != "" && (len(s.Args)+len(s.Env)+len(s.EnvFiles) > 0 || s.Cwd != ""):
		return "has args, env, env_files or cwd, which are for a command: leave them out"
	}
	for _, text := range append([]string{s.Command, s.Cwd}, s.Args...) {
		if strings.ContainsRune(text, 0) {
			return "has a NUL character"
		}
	}
	for header := range s.Headers {
		if !headerName.MatchString(header) {
			return fmt.Sprintf("has a header %s, which is no name of one", quote(header))
		}
	}
	return s.wrongEnv()
}

// podsKey holds podd's key for its model endpoint, which goes to no server.
const podsKey = "OPENAI_API_KEY"

func (s *MCPServer) wrongEnv() string {
	for _, entry := range s.Env {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case !variableName.MatchString(name) || strings.ContainsRune(entry, 0):
			return fmt.Sprintf("has %s in env, which is neither NAME nor NAME=value", quote(name))
		case name == podsKey:
			return "has " + podsKey + " in env, and podd's key goes to no server: give the server a key of its own by env_files"
		}
	}
	for _, entry := range s.EnvFiles {
		name, path, _ := strings.Cut(entry, "=")
		if !variableName.MatchString(name) || !filepath.IsAbs(path) {
			return fmt.Sprintf("has %s in env_files, which is not NAME=PATH with an absolute path", quote(name))
		}
	}
	return ""
}

// unfitForFile says what a server in the user's own configuration can't have.
func (s *MCPServer) unfitForFile() string {
	if strings.ContainsRune(s.Command, '/') && !filepath.IsAbs(s.Command) {
		return "has a relative command, and the working directory is the workspace, where a model writes: name the program by its absolute path"
	}
	for _, path := range []string{s.Cwd, s.TokenFile} {
		if path != "" && !filepath.IsAbs(path) {
			return fmt.Sprintf("has the path %s, which is relative: write the whole path", quote(path))
		}
	}
	for header, value := range s.Headers {
		if strings.EqualFold(header, "Authorization") && !reference.MatchString(value) {
			return `has a key in the file: put it into podd's environment and write headers = { Authorization = "Bearer ${NAME}" }, or into a file of its own that token_file names`
		}
	}
	return ""
}

// SecretFiles are the files that hold secrets for MCP servers.
func (c Config) SecretFiles() []string {
	var files []string
	for _, s := range c.MCP {
		if s.TokenFile != "" {
			files = append(files, s.TokenFile)
		}
		for _, entry := range s.EnvFiles {
			_, path, _ := strings.Cut(entry, "=")
			files = append(files, path)
		}
	}
	return files
}
