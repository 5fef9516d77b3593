package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"podd/internal/endpoints"
	"podd/internal/guard/keys"
	"podd/internal/guard/secrets"
	"podd/pkg/item"
	"podd/pkg/llm/exchange"
)

// readEndpoints completes the endpoints: with their keys and with the values of variables.
func (l *loader) readEndpoints() error {
	for _, name := range slices.Sorted(maps.Keys(l.Endpoints)) {
		t := l.Endpoints[name]
		e := endpoints.Endpoint{
			Name: name, BaseURL: t.BaseURL, API: t.API, KeyHeader: t.KeyHeader, Headers: make(map[string]string), Options: item.Options(t.optionKeys),
			FirstByte: t.FirstByte, Idle: t.Idle, Proxy: t.Proxy, MaxParallel: t.MaxParallel, Quirks: t.override(),
		}
		var err error
		if e.Key, err = l.readKey(t); err != nil {
			return err
		}
		t.Key = Secret(e.Key.Value)
		for header, value := range t.Headers {
			if e.Headers[header], err = expand(value, l.env); err != nil {
				return bad("%s: %s.headers.%s: %v", t.at("headers"), t.path, header, err)
			}
		}
		if len(t.Body) > 0 {
			e.Body = inJSON(t.Body)
		}
		l.config.Endpoints = append(l.config.Endpoints, e)
	}
	return nil
}

// override are the quirks that a table replaces.
func (t *endpointTable) override() exchange.Override {
	q, o := t.Quirks, exchange.Override{}
	o.Quirks = exchange.Quirks{
		AnswersTools: q.AnswersTools, CacheBreakpoint: q.CacheBreakpoint, CacheKey: q.CacheKey, CacheMarks: q.CacheMarks, MaxTokens: q.MaxTokens, NeedsReasoning: q.NeedsReasoning,
		NoEncryptedReasoning: q.NoEncryptedReasoning, NoStreamOptions: q.NoStreamOptions, NoTemperature: q.NoTemperature, OldMaxTokens: q.OldMaxTokens,
		ShortCallIDs: q.ShortCallIDs, Thinking: q.Thinking, Unsigned: q.Unsigned,
	}
	for _, k := range keysOf(reflect.ValueOf(q)) {
		if t.origins[join(t.path+".quirks", k.name)] != "" {
			o.Names = append(o.Names, k.name)
		}
	}
	return o
}

// readKey reads the key of an endpoint and notes where it is from.
func (l *loader) readKey(t *endpointTable) (keys.Source, error) {
	source, shown := keys.Source{File: t.KeyFile, Command: t.KeyCommand, TTL: t.KeyTTL}, join(t.path, "key")
	from := t.keyFrom()
	if len(from) == 0 {
		return source, nil
	}
	must := formats["key"].must
	source.Setting = t.path + "." + from[0]
	origin := t.at(from[0])
	switch from[0] {
	case "key_env":
		if source.Value = strings.TrimSpace(l.env(t.KeyEnv)); !keys.Valid(source.Value) {
			return source, bad("%s: %s: the variable %s must have %s", origin, source.Setting, t.KeyEnv, must)
		}
		source.Setting, l.origins[shown] = t.KeyEnv+" ("+source.Setting+")", t.KeyEnv
	case "key_file":
		value, err := secrets.ReadFile(t.KeyFile)
		if err != nil {
			return source, bad("%s: %s: %v", origin, source.Setting, err)
		}
		if !keys.Valid(value) {
			return source, bad("%s: %s: the key file %s must hold %s", origin, source.Setting, t.KeyFile, must)
		}
		source.Value, l.origins[shown] = value, t.KeyFile
	case "key_command":
		l.origins[shown] = source.Setting + ", when a request needs it"
	}
	return source, nil
}

// inJSON is a table as JSON, its keys sorted.
func inJSON(value map[string]any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
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
		refused = append(refused, join(join("endpoints", e.Name), "key_file"))
		if j := slices.IndexFunc(other.Endpoints, func(o endpoints.Endpoint) bool { return o.Name == e.Name }); j >= 0 {
			c.Endpoints[i] = other.Endpoints[j]
		} else {
			c.Endpoints = slices.Delete(c.Endpoints, i, i+1)
		}
	}
	return refused
}

// isLocal says whether an endpoint runs on this machine or in its network, so that what a
// vendor charges for a model does not apply.
func isLocal(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	for _, end := range []string{".local", ".localhost", ".internal", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return !strings.Contains(host, ".")
}
