package mcp

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Server is a command that speaks the protocol over its standard
// streams, or the address of one over HTTP.
type Server struct {
	// Name is unique, and fit for the names of tools; see IsName.
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
func (s Server) Target() string {
	if s.URL == "" {
		return s.Command
	}
	target, _, _ := strings.Cut(s.URL, "?")
	return target
}

// NewServer is a server with the default times.
func NewServer(name, origin string) Server {
	return Server{Name: name, StartTimeout: 30 * time.Second, Timeout: 2 * time.Minute, Origin: origin}
}

var (
	serverName   = regexp.MustCompile(`^[A-Za-z0-9]+([_-]?[A-Za-z0-9]+)*$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// maxServerName bounds a server's name, so that the names of its tools have room.
const maxServerName = 24

// IsName says whether a name is fit for a server: letters, digits and single - and _
// between them, at most 24.
func IsName(name string) bool { return len(name) <= maxServerName && serverName.MatchString(name) }

// IsEndpoint says whether a text is an address that a server can have.
func IsEndpoint(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.Fragment == ""
}

// wrong says why there can't be such a server; empty when there can.
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
	return s.wrongEnv()
}

// podsKey holds podd's key for its model endpoint, which goes to no server.
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

// Wrong says why the user's own configuration can't have such a server; empty when it can.
func (s *Server) Wrong() string {
	if wrong := s.wrong(); wrong != "" {
		return wrong
	}
	if strings.ContainsRune(s.Command, '/') && !filepath.IsAbs(s.Command) {
		return "has a relative command, and the working directory is the workspace, where a model writes: name the program by its absolute path"
	}
	for _, path := range []string{s.Cwd, s.TokenFile} {
		if path != "" && !filepath.IsAbs(path) {
			return fmt.Sprintf("has the path %s, which is relative: write the whole path", strconv.Quote(path))
		}
	}
	for header, value := range s.Headers {
		if strings.EqualFold(header, "Authorization") && !reference.MatchString(value) {
			return `has a key in the file: put it into podd's environment and write headers = { Authorization = "Bearer ${NAME}" }, or into a file of its own that token_file names`
		}
	}
	return ""
}
