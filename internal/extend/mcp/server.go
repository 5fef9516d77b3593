package mcp

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Server is a command that speaks the protocol over its standard streams, or the address
// of one over HTTP.
type Server struct {
	// Name is unique, and suitable for the names of tools; see IsName.
	Name string
	// Command is a program, Args its arguments; empty for a server over HTTP.
	Command string   `toml:"command"`
	Args    []string `toml:"args" is:"arguments"`
	// Env has NAME=value, or NAME to pass on podd's own value; EnvFiles NAME=PATH for a
	// value that is the content of a file.
	Env      []string `toml:"env" is:"variables or table"`
	EnvFiles []string `toml:"env_files" is:"variables or table"`
	// Cwd is where the command runs; empty means the workspace.
	Cwd string `toml:"cwd" default:"the workspace"`
	// URL is the address of a server over HTTP; empty for a command.
	URL string `toml:"url" is:"url"`
	// Headers are sent with each request. ${NAME} in a value is a variable of podd's
	// environment.
	Headers map[string]string `toml:"headers" is:"headers"`
	// TokenFile contains a token that is sent as a bearer token; may be empty.
	TokenFile string `toml:"token_file"`
	// ClientID is podd's at the server's authorization server, ClientSecretFile holds the
	// secret that belongs to it. Without one podd registers itself.
	ClientID         string `json:",omitempty" toml:"client_id"`
	ClientSecretFile string `json:",omitempty" toml:"client_secret_file"`
	// Grant is how podd signs in by itself; empty means that a person signs in. PrivateKeyFile or
	// AssertionFile, a token that the platform renews, can be the proof in place of a secret.
	Grant          Grant  `json:",omitempty" toml:"grant" oneof:"client_credentials jwt_bearer" default:"a person signs in"`
	PrivateKeyFile string `json:",omitempty" toml:"private_key_file"`
	AssertionFile  string `json:",omitempty" toml:"assertion_file"`
	// Issuer is the only authorization server that gets the secret; empty means the one that the server names.
	Issuer string `json:",omitempty" toml:"issuer" is:"url"`
	// Tools are the offered ones, with * for any part of a name; empty means all.
	Tools []string `toml:"tools" is:"names" default:"all"`
	// StartTimeout bounds the start, including the first lists; Timeout bounds a call. Both
	// are above 0.
	StartTimeout time.Duration `toml:"start_timeout" least:"1s"`
	Timeout      time.Duration `toml:"timeout" least:"1s"`
	// Replay says whether a call that podd's end interrupted is sent again, with its key. A workspace
	// cannot set it.
	Replay Replay `json:",omitempty" toml:"replay" oneof:"never safe"`
	// Expand says that ${NAME} means a variable also in the command, its arguments and
	// environment and in the URL.
	Expand bool
	// Origin is where the server is configured: FILE:LINE, or the file of a workspace.
	Origin string
}

// Replay says whether interrupted calls of a server are sent again.
type Replay string

// ReplayNever leaves the outcome of an interrupted call unknown, unless the server calls the tool read-only.
// ReplaySafe is a person's word that the server does a call with the same key once.
const (
	ReplayNever Replay = "never"
	ReplaySafe  Replay = "safe"
)

// Grant is how podd gets a token without a person.
type Grant string

// GrantClient is the grant of a client that proves who it is; see SEP-1046. GrantAssertion exchanges
// the token of a workload; see SEP-1933.
const (
	GrantClient    Grant = "client_credentials"
	GrantAssertion Grant = "jwt_bearer"
)

// Target is the program, or the address without its possibly secret parts.
func (s Server) Target() string {
	if s.URL == "" {
		return s.Command
	}
	target, _, _ := strings.Cut(s.URL, "?")
	return target
}

// NewServer is a server with the defaults.
func NewServer(name, origin string) Server {
	return Server{Name: name, StartTimeout: 30 * time.Second, Timeout: 2 * time.Minute, Replay: ReplayNever, Origin: origin}
}

var (
	serverName   = regexp.MustCompile(`^[A-Za-z0-9]+([_-]?[A-Za-z0-9]+)*$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// maxServerName bounds a server's name, so that the names of its tools have room.
const maxServerName = 24

// IsName says whether a name is valid for a server: letters, digits and single - and _
// between them, at most 24.
func IsName(name string) bool { return len(name) <= maxServerName && serverName.MatchString(name) }

// IsEndpoint says whether a text is a valid address of a server.
func IsEndpoint(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.Fragment == ""
}

// wrong says why such a server is invalid; empty if it is valid.
func (s *Server) wrong() string {
	switch {
	case !IsName(s.Name):
		return fmt.Sprintf("has the name %s: use at most %d letters and digits, with single - or _ between them", strconv.Quote(s.Name), maxServerName)
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
			return fmt.Sprintf("has a header %s, which is not a valid header name", strconv.Quote(header))
		}
	}
	return cmp.Or(s.wrongSignIn(), s.wrongEnv())
}

// wrongSignIn says why podd cannot sign in like that; empty if it can.
func (s *Server) wrongSignIn() string {
	proofs := slices.DeleteFunc([]string{s.ClientSecretFile, s.PrivateKeyFile, s.AssertionFile}, func(path string) bool { return path == "" })
	signs := s.ClientID != "" || s.Grant != ""
	switch {
	case s.URL == "" && (signs || len(proofs) > 0 || s.Issuer != ""):
		return "has a client_id, a grant, an issuer or a file for them, which only a url has: leave them out"
	case s.ClientID == "" && s.ClientSecretFile != "":
		return "has a client_secret_file and no client_id: set client_id"
	case signs && s.TokenFile != "":
		return "has token_file and client_id or grant: use token_file for a fixed token, or the others to sign in"
	case s.Issuer != "" && !signs:
		return "has an issuer and no client_id or grant: leave it out"
	case s.Grant == "" && s.PrivateKeyFile+s.AssertionFile != "":
		return `has a private_key_file or assertion_file and no grant: set grant = "client_credentials"`
	case s.Grant == GrantClient && (s.ClientID == "" || len(proofs) != 1):
		return `has grant = "client_credentials": set client_id, and one of client_secret_file, private_key_file and assertion_file`
	case s.Grant == GrantAssertion && (s.AssertionFile == "" || s.PrivateKeyFile != ""):
		return `has grant = "jwt_bearer": set assertion_file, and no private_key_file`
	}
	return ""
}

// podsKey contains podd's key for its model endpoint, which no server gets.
const podsKey = "OPENAI_API_KEY"

func (s *Server) wrongEnv() string {
	for _, entry := range s.Env {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case !variableName.MatchString(name) || strings.ContainsRune(entry, 0):
			return fmt.Sprintf("has %s in env, which is neither NAME nor NAME=value", strconv.Quote(name))
		case name == podsKey:
			return "has " + podsKey + " in env, and podd's key goes to no server: give the server a key of its own by env_files"
		}
	}
	for _, entry := range s.EnvFiles {
		name, path, _ := strings.Cut(entry, "=")
		if !variableName.MatchString(name) || !filepath.IsAbs(path) {
			return fmt.Sprintf("has %s in env_files, which is not NAME=PATH with an absolute path", strconv.Quote(name))
		}
	}
	return ""
}

// Wrong says why such a server is invalid in the user's own configuration; empty if it is
// valid.
func (s *Server) Wrong() string {
	if wrong := s.wrong(); wrong != "" {
		return wrong
	}
	if strings.ContainsRune(s.Command, '/') && !filepath.IsAbs(s.Command) {
		return "has a relative command, and the working directory is the workspace, where a model writes: name the program by its absolute path"
	}
	for _, path := range []string{s.Cwd, s.TokenFile, s.ClientSecretFile, s.PrivateKeyFile, s.AssertionFile} {
		if path != "" && !filepath.IsAbs(path) {
			return fmt.Sprintf("has the path %s, which is relative: write the whole path", strconv.Quote(path))
		}
	}
	for header, value := range s.Headers {
		switch authorizes := strings.EqualFold(header, "Authorization"); {
		case authorizes && s.Grant != "":
			return "has a grant and the header Authorization: use one of them"
		case authorizes && !reference.MatchString(value):
			return `has a key in the file: put it into podd's environment and write headers = { Authorization = "Bearer ${NAME}" }, or into a file of its own that token_file names`
		}
	}
	return ""
}
