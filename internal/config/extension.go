package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Extension is an [[interceptor]] or a [[hook]]: a command that runs for events.
type Extension struct {
	// Name is unique in its list.
	Name string
	// On are the events; at least one.
	On []string
	// Command is a program and its arguments; a command that the file has as one string
	// is run by sh -c.
	Command []string
	// Timeout is above 0.
	Timeout time.Duration
	// OnFailure is "allow", "deny" or empty, which depends on the event; always empty
	// for a hook.
	OnFailure string
	// Env holds NAME=value, or NAME to pass on podd's own value.
	Env []string
	// History is "none", "turn" or "all"; always empty for a hook.
	History string
	// Origin is FILE:LINE of the table's header.
	Origin string
}

// The lists of extensions.
const (
	listInterceptor = "interceptor"
	listHook        = "hook"
)

// extensionSettings are the keys of the nth table of a list, from 1.
func extensionSettings(list string, n int, e *Extension) []setting {
	prefix := elementKey(list, n)
	all := []setting{
		name(prefix+".name", &e.Name),
		names(prefix+".on", &e.On),
		command(prefix+".command", &e.Command),
		duration(prefix+".timeout", &e.Timeout, 100*time.Millisecond),
	}
	if list == listInterceptor {
		all = append(all, choice(prefix+".on_failure", &e.OnFailure, "allow", "deny").
			hinting(`"deny" for before_tool, else "allow"`),
			choice(prefix+".history", &e.History, "none", "turn", "all"))
	}
	return append(all, variables(prefix+".env", &e.Env))
}

// elementKey names a table of a list, as errors and podd config show it.
func elementKey(list string, n int) string { return fmt.Sprintf("%s[%d]", list, n) }

func extensionLists() []string { return []string{listInterceptor, listHook} }

func isExtensionList(key []string) bool {
	return len(key) == 1 && slices.Contains(extensionLists(), key[0])
}

// extensionKeys names the keys of a list's tables.
func extensionKeys(list string) string {
	var keys []string
	for _, s := range extensionSettings(list, 0, &Extension{}) {
		keys = append(keys, strings.TrimPrefix(s.key, elementKey(list, 0)+"."))
	}
	return strings.Join(keys, ", ")
}

// assignExtensions says what is wrong with an assignment to a list itself; empty when
// it was carried out.
func (l *loader) assignExtensions(list string, value any, where string) string {
	if values, ok := value.([]any); ok && len(values) == 0 {
		return ""
	}
	if _, ok := value.(element); !ok {
		return fmt.Sprintf("%s must be a list of tables, with [[%[1]s]] on a line before each; it is %s", list, describe(value))
	}
	e := &Extension{Timeout: time.Minute, History: "none", Origin: where}
	if list == listHook {
		e.Timeout, e.History = 30*time.Second, ""
	}
	l.extensions[list] = append(l.extensions[list], e)
	return ""
}

// inExtension is the extension that a key belongs to, the last of its list, and its
// number; false when the key is none's.
func (l *loader) inExtension(key []string) (e *Extension, n int, ok bool) {
	begun := l.extensions[key[0]]
	if len(key) < 2 || len(begun) == 0 {
		return nil, 0, false
	}
	return begun[len(begun)-1], len(begun), true
}

// finishExtensions refuses what lacks a key, and names that are there twice.
func (l *loader) finishExtensions() error {
	for _, list := range extensionLists() {
		seen := make(map[string]bool)
		for i, e := range l.extensions[list] {
			for _, key := range []string{"name", "on", "command"} {
				if l.origins[elementKey(list, i+1)+"."+key] == "" {
					return bad("%s: this [[%s]] has no %s: name, on and command must be set", e.Origin, list, key)
				}
			}
			if seen[e.Name] {
				return bad("%s: there are two [[%s]] named %s: name them differently", e.Origin, list, quote(e.Name))
			}
			seen[e.Name] = true
			l.show(extensionSettings(list, i+1, e), true)
		}
	}
	l.config.Interceptors = values(l.extensions[listInterceptor])
	l.config.Hooks = values(l.extensions[listHook])
	return nil
}

func values(list []*Extension) []Extension {
	var all []Extension
	for _, e := range list {
		all = append(all, *e)
	}
	return all
}

// command sets a variable to a program and its arguments, or to what sh runs.
func command(key string, target *[]string) setting {
	return setting{
		key:  key,
		must: `a command: a list of a program and its arguments, such as ["/usr/bin/env", "-i"], or a string for sh`,
		set: func(value any) bool {
			if line, ok := value.(string); ok && strings.TrimSpace(line) != "" {
				*target = []string{"sh", "-c", line}
				return true
			}
			words, ok := texts(value)
			if !ok || len(words) == 0 || words[0] == "" {
				return false
			}
			*target = words
			return true
		},
		show: func() string {
			if c := *target; len(c) == 3 && c[0] == "sh" && c[1] == "-c" {
				return quote(c[2])
			}
			return quoteAll(*target)
		},
	}
}

// variables sets a variable to entries of an environment. Their values, which may be
// secret, are not shown.
func variables(key string, target *[]string) setting {
	return setting{
		key:    key,
		must:   `a list of variables, such as ["NAME=value", "PASSED_ON"]`,
		hidden: true,
		set: func(value any) bool {
			words, ok := texts(value)
			if ok {
				*target = words
			}
			return ok
		},
		show: func() string {
			var shown []string
			for _, entry := range *target {
				if name, _, set := strings.Cut(entry, "="); set {
					entry = name + "=..."
				}
				shown = append(shown, entry)
			}
			return quoteAll(shown)
		},
	}
}

// texts is a list of strings.
func texts(value any) ([]string, bool) {
	list, ok := value.([]any)
	var all []string
	for _, v := range list {
		text, isText := v.(string)
		ok = ok && isText
		all = append(all, text)
	}
	return all, ok
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
