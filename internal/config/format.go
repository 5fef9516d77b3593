package config

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"podd/internal/endpoints"
	"podd/internal/extend/mcp"
	"podd/internal/workspace/briefing"
	"podd/pkg/item"
	"podd/pkg/lazy"
)

// format is a form of text, or of each text in a list.
type format struct {
	// must says what a value has to be.
	must string
	// ok accepts a text; nil accepts any.
	ok func(text string) bool
	// from makes a text, a list or a table of a TOML value; nil takes it as it is.
	from func(value any) (any, bool)
	// mask replaces what is not to be seen in a text; nil where all is.
	mask func(text string) string
	// secret keeps a refused value out of the error; bare shows the text without quotes.
	secret, bare bool
}

var formats = map[string]format{
	"name":         {must: "a name without white space", ok: isName},
	"names":        {must: `a list of names without white space, such as ["a", "b"]`, ok: func(text string) bool { return text != "" && isName(text) }},
	"endpoint":     {must: "the name of an endpoint", ok: isEndpointName},
	"variable":     {must: "the name of an environment variable", ok: func(text string) bool { return text != "" && !strings.ContainsAny(text, "=\x00 \t\r\n") }},
	"path":         {must: "an absolute path", ok: func(text string) bool { return text == "" || isPath(text) }},
	"hook files":   {must: `a list of files, such as ["~/.claude/settings.json", ".claude/settings.json"]`, ok: isHookFile},
	"directories":  {must: `a list of absolute paths, such as ["/srv/data"]`, from: cleanPaths},
	"instructions": {must: `"builtin", "none" or the absolute path of a file`, ok: func(text string) bool { return text == briefing.Builtin || text == briefing.None || isPath(text) }},
	"resume":       {must: `"always", "ask" or a duration such as "12h"`, ok: func(text string) bool { _, ok := resumeWithin(text); return ok }},
	"effort":       {must: `a word such as "low" or "high"`, ok: isOptionWord},
	"efforts":      {must: `a list of words such as ["low", "high"]`, ok: func(text string) bool { return text != "" && isOptionWord(text) }},
	"tier":         {must: `a word such as "flex"`, ok: isOptionWord},
	"temperature":  {must: "a number from 0 to 2", from: asTemperature, bare: true},
	"accesses":     {must: `a list of "sandbox", "network" and "host"`, ok: func(text string) bool { return slices.Contains(item.Accesses(), item.Access(text)) }},
	"unsigned":     {must: `members of a JSON object, such as '"a":1'`, ok: func(text string) bool { return text == "" || json.Valid([]byte("{"+text+"}")) }},
	"arguments":    {must: `a list of strings, such as ["-y", "a package"]`},
	"key command":  {must: `a list of a program and its arguments, such as ["pass", "show", "work"]`},
	"command": {
		must: `a command: a list of a program and its arguments, such as ["/usr/bin/env", "-i"], or a string for sh`, from: asCommand,
	},
	"variables":          {must: `a list of variables, such as ["NAME=value", "PASSED_ON"]`, mask: withoutValue, secret: true},
	"variables or table": {must: `a list of variables, such as ["NAME=value", "PASSED_ON"], or a table, such as { NAME = "value" }`, from: asVariables, mask: withoutValue, secret: true},
	"headers":            {must: `a table of strings on one line, such as { X-Team = "blue" }`, from: asHeaders, mask: func(string) string { return "..." }, secret: true},
	"members":            {must: "a table that JSON can express, such as { top_k = 40 }", from: func(value any) (any, bool) { return value, isJSON(value) }},
	"key":                {must: "a key of printable ASCII characters on one line", from: asKey, secret: true},
	"address": {
		must: "an absolute http or https URL without user or fragment, such as " + defaultBaseURL, from: asAddress, mask: withoutQuery, secret: true,
	},
	"url":         {must: "an absolute http or https URL without user or fragment, such as https://example.com/mcp", ok: mcp.IsEndpoint, mask: withoutQuery, secret: true},
	"proxy":       {must: `"none" or a URL such as http://proxy:3128`, ok: isProxy, mask: withoutPassword, secret: true},
	"database":    {must: mustBeDatabase, ok: func(text string) bool { return text == "" || isDatabase(text) }, secret: true},
	"node":        {must: "1 to 63 lower-case letters, digits and dashes, with at least one letter and no dash first", ok: func(text string) bool { return text == "" || item.ValidPodName(text) }},
	"listen":      {must: `HOST:PORT where the other nodes reach this one, such as "10.0.0.4:7433"`, ok: isListen},
	"own address": {must: `HOST:PORT of this machine, such as "127.0.0.1:7634"`, ok: isOwnAddress},
	"certificate": {
		must: `the absolute paths of certificate and key, such as ["/etc/podd/hook.crt", "/etc/podd/hook.key"]`, ok: filepath.IsAbs,
		from: func(value any) (any, bool) {
			list, ok := value.([]any)
			return list, ok && (len(list) == 2 || len(list) == 0)
		},
	},
	"certificates": {
		must: `the absolute paths of certificate, key and authority, such as ["/etc/podd/n1.crt", "/etc/podd/n1.key", "/etc/podd/ca.crt"]`, ok: filepath.IsAbs,
		from: func(value any) (any, bool) {
			list, ok := value.([]any)
			return list, ok && (len(list) == 3 || len(list) == 0)
		},
	},
}

var (
	endpointName = lazy.Regexp(`^[a-z][a-z0-9-]{0,23}$`)
	// optionWord is what an effort or a service tier looks like.
	optionWord = lazy.Regexp(`^[A-Za-z0-9_-]{0,32}$`)
	// headerName is RFC 9110's token.
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

func isEndpointName(text string) bool { return endpointName().MatchString(text) }

func isOptionWord(text string) bool { return optionWord().MatchString(text) }

// resumeAlways is the default of resume.
const resumeAlways = "always"

// resumeWithin is how long a turn may have lain still that goes on by itself when podd starts; 0 is for ever.
func resumeWithin(text string) (within time.Duration, ok bool) {
	switch text {
	case resumeAlways:
		return 0, true
	case "ask":
		return 1, true
	}
	within, err := time.ParseDuration(text)
	return within, err == nil && within > 0
}

func isPath(text string) bool { return filepath.IsAbs(text) && !strings.ContainsRune(text, 0) }

// isHookFile says whether a path leads to a file in a known place.
func isHookFile(text string) bool {
	return isPath(text) || !strings.ContainsRune(text, 0) && filepath.Clean(text) == text && filepath.IsLocal(text) && text != "."
}

func isName(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
}

func isProxy(text string) bool {
	u, err := url.Parse(text)
	return text == endpoints.NoProxy || err == nil && u.Hostname() != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
}

// isListen says whether other machines can dial an address; it may be empty.
func isListen(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return text == ""
	}
	n, err := strconv.ParseUint(port, 10, 16)
	ip := net.ParseIP(host)
	return err == nil && n > 0 && host != "" && (ip == nil || !ip.IsUnspecified())
}

// isOwnAddress says whether podd can try to listen at an address; it may be empty. Port 0 is any free one.
func isOwnAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return text == ""
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil && host != ""
}

const mustBeDatabase = `a URL such as "postgres://podd@db.example/podd", without a password: PGPASSWORD or ~/.pgpass has it`

func isDatabase(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	_, password := u.User.Password()
	return (u.Scheme == "postgres" || u.Scheme == "postgresql") && !password && !u.Query().Has("password")
}

// CheckDatabase refuses what store.url can't be; the error says what it must be.
func CheckDatabase(text string) error {
	if !isDatabase(text) {
		return errors.New(mustBeDatabase)
	}
	return nil
}

func cleanPaths(value any) (any, bool) {
	list, ok := value.([]any)
	clean := make([]any, len(list))
	for i, v := range list {
		text, _ := v.(string)
		ok, clean[i] = ok && filepath.IsAbs(text), filepath.Clean(text)
	}
	return clean, ok
}

// asTemperature is a number as requests have it.
func asTemperature(value any) (any, bool) {
	f, ok := asFloat(value)
	f = math.Round(math.Abs(f)*1e6) / 1e6
	return strconv.FormatFloat(f, 'f', -1, 64), ok && f >= 0 && f <= 2
}

func asCommand(value any) (any, bool) {
	if line, ok := value.(string); ok {
		return []any{"sh", "-c", line}, strings.TrimSpace(line) != ""
	}
	words, ok := value.([]any)
	return words, ok && len(words) > 0 && words[0] != ""
}

func asVariables(value any) (any, bool) {
	table, ok := value.(map[string]any)
	if !ok {
		return value, true
	}
	entries := []any{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		text, ok := table[name].(string)
		if !ok {
			return nil, false
		}
		entries = append(entries, name+"="+text)
	}
	return entries, true
}

func asHeaders(value any) (any, bool) {
	table, ok := value.(map[string]any)
	all := map[string]string{}
	for header, v := range table {
		text, is := v.(string)
		ok = ok && is && !strings.ContainsAny(text, "\r\n\x00")
		all[header] = text
	}
	return all, ok
}

func asKey(value any) (any, bool) {
	text, ok := value.(string)
	text = strings.TrimSpace(text)
	return text, ok && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func asAddress(value any) (any, bool) {
	text, _ := value.(string)
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, false
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	if u.RawQuery == "" {
		u.ForceQuery = false
	}
	return u.String(), true
}

// isJSON says whether a TOML value has the same form in JSON: dates have not.
func isJSON(value any) bool {
	switch v := value.(type) {
	case string, bool, int64:
		return true
	case float64:
		return v-v == 0 // Neither infinite nor NaN.
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !isJSON(e) })
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(e any) bool { return !isJSON(e) })
	}
	return false
}

// withoutValue is an environment entry without its value.
func withoutValue(entry string) string {
	if name, _, set := strings.Cut(entry, "="); set {
		return name + "=..."
	}
	return entry
}

// withoutQuery is an address without the values of its query.
func withoutQuery(address string) string {
	shown, _, more := strings.Cut(address, "?")
	if more {
		shown += "?..."
	}
	return shown
}

func withoutPassword(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return address
}
