package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"podd/internal/endpoints"
	"podd/internal/guard/keys"
	"podd/internal/guard/secrets"
	"podd/pkg/item"
	"podd/pkg/lazy"
)

// keyEndpoints is the table of endpoints.
const keyEndpoints = "endpoints"

var (
	endpointName = lazy.Regexp(`^[a-z][a-z0-9-]{0,23}$`)
	// headerName is RFC 9110's token.
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

func isEndpointName(s string) bool { return endpointName().MatchString(s) }

// ownMembers are the members of a request that podd sets, which body cannot.
var ownMembers = []string{"model", "stream", "stream_options", "store", "include", "instructions", "input", "messages", "system", "tools"}

// definition is an [endpoints.NAME] while it is read.
type definition struct {
	endpoints.Endpoint
	env string
	// key shows whether there is a key, and where it is from.
	key     Secret
	shown   *setting
	table   *table
	headers map[string]string
	body    map[string]any
}

// endpoint begins [endpoints.NAME].
func (l *loader) endpoint(t *table) {
	d := &definition{table: t}
	e := &d.Endpoint
	e.Name, e.Key.TTL = t.name, keys.DefaultTTL
	d.shown = secret("key", &d.key)
	d.shown.quiet = true
	t.keys = []*setting{
		address("base_url", &e.BaseURL).needed().like(`"https://openrouter.ai/api/v1"`),
		choice("api", &e.API, endpoints.APIs()...).hinting("responses at api.openai.com, messages at api.anthropic.com, elsewhere chat").like(`"chat"`),
		text("key_env", "the name of an environment variable", &d.env, isVariable).hinting("none").like(`"OPENROUTER_API_KEY"`, "openrouter"),
		path("key_file", &e.Key.File).hinting("none"),
		texts("key_command", `a list of a program and its arguments, such as ["pass", "show", "work"]`, &e.Key.Command, anything).hinting("none").like(`["pass", "show", "work"]`, "work"),
		duration("key_ttl", &e.Key.TTL, time.Second),
		d.shown,
		choice("key_header", &e.KeyHeader, keys.Bearer, keys.XAPIKey, keys.APIKey).hinting("x-api-key for messages, else bearer").like(`"bearer"`),
		headers("headers", &d.headers).like(`{ X-Team = "blue" }`),
		members("body", &d.body).like(`{ provider = { sort = "price" } }`, "openrouter"),
		duration("first_byte", &e.FirstByte, time.Second).hinting("10m").like(`"10m"`),
		duration("idle", &e.Idle, time.Second).hinting("5m").like(`"5m"`),
		proxy("proxy", &e.Proxy).hinting("HTTPS_PROXY, HTTP_PROXY and NO_PROXY").like(`"none"`),
		number("max_parallel", &e.MaxParallel, 0, 10_000).hinting("no limit"),
	}
	t.keys = append(t.keys, optionSettings(&e.Options)...)
	t.keys = append(t.keys, section("quirks", quirkSettings(&e.Quirks.Quirks)...).like("", "openrouter"))
	t.check = func() error { return l.defined(d) }
}

// defined adds an endpoint to the configuration.
func (l *loader) defined(d *definition) error {
	t := d.table
	switch {
	case !isEndpointName(t.name):
		return bad("%s: [%s] has a name that models cannot have before a slash: use 1 to 24 lower-case letters, digits and dashes, and begin with a letter", t.origin, t.path)
	case t.name == item.DefaultEndpoint:
		return bad("%s: [%s] is the endpoint of the top-level keys base_url, api and api_key_file: set those, or choose another name and set endpoint to it", t.origin, t.path)
	}
	var from []*setting
	for _, key := range []string{"key_env", "key_file", "key_command"} {
		if s := t.key(key); s.origin != "" && s.show() != `""` && s.show() != "[]" {
			from = append(from, s)
		}
	}
	switch {
	case len(from) > 1:
		return bad("%s: [%s] has both %s and %s: keep one", from[1].origin, t.path, from[0].key, from[1].key)
	case len(from) == 1:
		d.Key.Setting = t.path + "." + from[0].key
	}
	for _, name := range slices.Sorted(maps.Keys(d.body)) {
		if slices.Contains(ownMembers, name) {
			return bad("%s: %s.body cannot set %s, which podd sets itself: leave it out", t.key("body").origin, t.path, name)
		}
	}
	for name, value := range d.headers {
		isKey := slices.Contains([]string{"authorization", keys.XAPIKey, keys.APIKey}, strings.ToLower(name))
		switch {
		case !headerName.MatchString(name):
			return bad("%s: %s.headers has %s, which cannot be the name of a header", t.key("headers").origin, t.path, quote(name))
		case isKey && !strings.Contains(value, "${"):
			return bad("%s: %s.headers has a key in the file: use key_env, key_file or key_command, or write ${NAME} for a variable of podd", t.key("headers").origin, t.path)
		}
	}
	for _, s := range t.key("quirks").keys {
		if s.origin != "" {
			d.Quirks.Names = append(d.Quirks.Names, s.key)
		}
	}
	l.defining = append(l.defining, d)
	return nil
}

// readEndpoints completes the endpoints: with their keys and with the values of variables.
func (l *loader) readEndpoints(env func(string) string) error {
	for _, d := range l.defining {
		e := &d.Endpoint
		at := func(key string) (origin, path string) { return d.table.key(key).origin, d.table.path + "." + key }
		origin, source := "", ""
		switch {
		case d.env != "":
			origin, source = at("key_env")
			e.Key.Value, d.shown.origin, e.Key.Setting = strings.TrimSpace(env(d.env)), d.env, d.env+" ("+source+")"
			if !keys.Valid(e.Key.Value) {
				return bad("%s: %s: the variable %s must have %s", origin, source, d.env, d.shown.must)
			}
		case e.Key.File != "":
			origin, source = at("key_file")
			key, err := secrets.ReadFile(e.Key.File)
			if err != nil {
				return bad("%s: %s: %v", origin, source, err)
			}
			if !keys.Valid(key) {
				return bad("%s: %s: the key file %s must hold %s", origin, source, e.Key.File, d.shown.must)
			}
			e.Key.Value, d.shown.origin = key, e.Key.File
		case len(e.Key.Command) > 0:
			d.shown.origin = d.table.path + ".key_command, when a request needs it"
		}
		d.key = Secret(e.Key.Value)
		e.Headers = make(map[string]string)
		for name, value := range d.headers {
			filled, err := expand(value, env)
			if err != nil {
				origin, path := at("headers")
				return bad("%s: %s.%s: %v", origin, path, name, err)
			}
			e.Headers[name] = filled
		}
		if len(d.body) > 0 {
			e.Body = inJSON(d.body)
		}
		l.Endpoints = append(l.Endpoints, *e)
	}
	return l.readNames()
}

var variable = regexp.MustCompile(`\$\{([^}]*)\}`)

// expand puts the values of variables in place of ${NAME}.
func expand(text string, env func(string) string) (filled string, err error) {
	filled = variable.ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		value := env(name)
		if value == "" {
			err = fmt.Errorf("the variable %s is not set: set it in podd's environment", name)
		}
		return value
	})
	if err == nil && strings.ContainsAny(filled, "\r\n\x00") {
		err = errors.New("the value cannot be that of a header: use one line of text")
	}
	return filled, err
}

// AllEndpoints are the configured endpoints and that of the top-level keys.
func (c Config) AllEndpoints() []endpoints.Endpoint {
	own := endpoints.Endpoint{Name: item.DefaultEndpoint, BaseURL: c.BaseURL, API: c.API, Headers: map[string]string{}}
	if c.APIKey != "" {
		own.Key = keys.Source{Value: string(c.APIKey), Setting: "OPENAI_API_KEY"}
		if c.keyFile != "" {
			own.Key.File, own.Key.Setting = c.keyFile, "api_key_file"
		}
	}
	return append([]endpoints.Endpoint{own}, c.Endpoints...)
}

// KeepEndpointsOf puts the endpoints of another configuration in place of those whose key
// files may not be read, and returns the keys of these files.
func (c *Config) KeepEndpointsOf(other Config, mayRead func(path string) bool) (refused []string) {
	c.Endpoints = slices.Clone(c.Endpoints)
	for i, e := range slices.Backward(c.Endpoints) {
		if e.Key.File == "" || mayRead(e.Key.File) {
			continue
		}
		refused = append(refused, join(join(keyEndpoints, e.Name), "key_file"))
		if j := slices.IndexFunc(other.Endpoints, func(o endpoints.Endpoint) bool { return o.Name == e.Name }); j >= 0 {
			c.Endpoints[i] = other.Endpoints[j]
		} else {
			c.Endpoints = slices.Delete(c.Endpoints, i, i+1)
		}
	}
	return refused
}

// proxy is a setting of a proxy. It does not show a password.
func proxy(key string, target *string) *setting {
	s := text(key, `"none" or a URL such as http://proxy:3128`, target, func(text string) bool {
		u, err := url.Parse(text)
		return text == endpoints.NoProxy || err == nil && u.Hostname() != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
	})
	s.secret, s.whole = true, s.show
	s.show = func() string {
		if u, err := url.Parse(*target); err == nil {
			return quote(u.Redacted())
		}
		return quote(*target)
	}
	return s
}

// isVariable says whether a text can name an environment variable.
func isVariable(text string) bool { return text != "" && !strings.ContainsAny(text, "=\x00 \t\r\n") }
