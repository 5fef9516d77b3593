package mcp

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"podd/internal/guard/secrets"
)

// passed are copied from podd's own environment, like all that begin with LC_.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
}

var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// resolved is a server with its variables and secrets filled in, ready to start.
type resolved struct {
	argv    []string
	env     []string
	dir     string
	url     string
	headers http.Header
	// oauth signs requests; nil for a server whose key is configured. client is podd as the
	// authorization server knows it; nil means that podd registers.
	oauth  auth.OAuthHandler
	client *oauthex.ClientCredentials
}

// resolve fills in values from podd's environment and from files, and registers values that
// may be secret. An error is the rest of a sentence that begins with the server's name.
func (m *Manager) resolve(s Server, workspace string) (r resolved, err error) {
	var first error
	expand := func(text string) string {
		out, err := m.expand(text)
		if first == nil {
			first = err
		}
		return out
	}
	ofProject := func(text string) string {
		if !s.Expand {
			return text
		}
		return expand(text)
	}
	r.dir = workspace
	if cwd := ofProject(s.Cwd); cwd != "" {
		if r.dir = cwd; !filepath.IsAbs(cwd) {
			r.dir = filepath.Join(workspace, cwd)
		}
	}
	if s.Command != "" {
		r.argv = append(r.argv, ofProject(s.Command))
		for _, arg := range s.Args {
			r.argv = append(r.argv, ofProject(arg))
		}
		r.env, err = m.environment(s, r.dir, ofProject)
	} else {
		r.url = ofProject(s.URL)
		err = m.overNet(s, &r, expand)
	}
	if err == nil {
		err = first
	}
	return r, err
}

// overNet fills in what requests to a URL carry.
func (m *Manager) overNet(s Server, r *resolved, expand func(string) string) (err error) {
	if u, bad := url.Parse(r.url); bad != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("has no http or https URL after its variables are filled in")
	}
	r.headers, err = m.headers(s, expand)
	if r.headers.Get("Authorization") == "" {
		r.oauth = bearer{m: m, key: signInKey(s, r.url), name: s.Name}
		if s.Grant != "" {
			r.oauth = m.account(s, r.url)
		}
	}
	if err == nil && s.ClientID != "" && s.Grant == "" {
		r.client, err = m.client(s)
	}
	return err
}

// client is podd as a server's configuration says that it is registered.
func (m *Manager) client(s Server) (*oauthex.ClientCredentials, error) {
	c := &oauthex.ClientCredentials{ClientID: s.ClientID, Issuer: s.Issuer}
	if s.ClientSecretFile != "" {
		secret, err := m.secretFile(s.ClientSecretFile)
		if err != nil {
			return nil, err
		}
		c.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
	}
	return c, nil
}

// expand replaces ${NAME} and ${NAME:-default} with the values of variables.
func (m *Manager) expand(text string) (out string, err error) {
	out = reference.ReplaceAllStringFunc(text, func(whole string) string {
		parts := reference.FindStringSubmatch(whole)
		value, ok := m.variable(parts[1])
		switch {
		case ok && value != "":
			m.maySecret(parts[1], value)
			return value
		case parts[2] != "":
			return parts[3]
		case err == nil:
			err = fmt.Errorf("needs the variable %s, which is not set in podd's environment: set it and restart podd", parts[1])
		}
		return ""
	})
	return out, err
}

// variable is a variable of podd's environment that a server may use.
func (m *Manager) variable(name string) (string, bool) {
	for _, entry := range m.Environ {
		if n, value, _ := strings.Cut(entry, "="); n == name {
			return value, true
		}
	}
	return "", false
}

// maySecret registers the value of a variable as a secret if its name suggests it.
func (m *Manager) maySecret(name, value string) {
	name = strings.ToUpper(name)
	for _, word := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL", "AUTH"} {
		if strings.Contains(name, word) {
			m.Secret(value)
			return
		}
	}
}

// environment is the environment of a command.
func (m *Manager) environment(s Server, dir string, expand func(string) string) ([]string, error) {
	var env []string
	set := func(name, value string) {
		env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
		env = append(env, name+"="+value)
	}
	for _, entry := range m.Environ {
		if name, value, _ := strings.Cut(entry, "="); slices.Contains(passed, name) || strings.HasPrefix(name, "LC_") {
			set(name, value)
		}
	}
	set("PWD", dir)
	for _, entry := range s.Env {
		name, value, given := strings.Cut(entry, "=")
		if !given {
			var ok bool
			if value, ok = m.variable(name); !ok {
				return nil, fmt.Errorf("should get the variable %s, which is not set in podd's environment: set it and restart podd", name)
			}
		}
		value = expand(value)
		m.maySecret(name, value)
		set(name, value)
	}
	for _, entry := range s.EnvFiles {
		name, path, _ := strings.Cut(entry, "=")
		value, err := m.secretFile(path)
		if err != nil {
			return nil, err
		}
		set(name, value)
	}
	return env, nil
}

// headers are sent with each request.
func (m *Manager) headers(s Server, expand func(string) string) (http.Header, error) {
	headers := http.Header{}
	for name, value := range s.Headers {
		filled := expand(value)
		if strings.ContainsAny(filled, "\r\n\x00") {
			return nil, fmt.Errorf("has a header %s with more than one line after its variables are filled in", name)
		}
		if filled != value || strings.EqualFold(name, "Authorization") {
			m.Secret(filled, strings.TrimPrefix(filled, "Bearer "))
		}
		headers.Set(name, filled)
	}
	if s.TokenFile != "" {
		token, err := m.secretFile(s.TokenFile)
		if err != nil {
			return nil, err
		}
		headers.Set("Authorization", "Bearer "+token)
	}
	return headers, nil
}

// secretFile is the secret in a file that tools cannot read.
func (m *Manager) secretFile(path string) (string, error) { return m.secretBy(path, secrets.ReadFile) }

func (m *Manager) secretBy(path string, read func(path string) (string, error)) (string, error) {
	if !slices.Contains(m.SecretFiles, path) {
		return "", fmt.Errorf("uses the file %s, which was not configured when podd started: restart podd, so that tools cannot read it", path)
	}
	value, err := read(path)
	if err != nil {
		return "", fmt.Errorf("has no secret: %w", err)
	}
	m.Secret(value)
	return value, nil
}
