package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Events of Claude Code that podd has.
const (
	preToolUse     = "PreToolUse"
	postToolUse    = "PostToolUse"
	postFailure    = "PostToolUseFailure"
	promptSubmit   = "UserPromptSubmit"
	sessionStart   = "SessionStart"
	stop           = "Stop"
	subagentStart  = "SubagentStart"
	subagentStop   = "SubagentStop"
	preCompact     = "PreCompact"
	notification   = "Notification"
	defaultTimeout = 10 * time.Minute
	// promptTimeout is the default of UserPromptSubmit, which a person waits for.
	promptTimeout = 30 * time.Second
)

var events = []string{preToolUse, postToolUse, postFailure, promptSubmit, sessionStart, stop, subagentStart, subagentStop, preCompact, notification}

// Hook is one command for an event.
type Hook struct {
	Event   string
	matcher matcher
	// only is a rule of permissions that the call has to match, such as Bash(git *).
	only string
	argv []string
	// shown names the hook in sentences: its event, file and line.
	shown      string
	timeout    time.Duration
	background bool
	plugin     Plugin
}

// Plugin is where a plugin's hooks are; zero for other hooks.
type Plugin struct{ Root, Data string }

type group struct {
	Matcher string            `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

type handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout float64  `json:"timeout"`
	Async   bool     `json:"async"`
	Rewake  bool     `json:"asyncRewake"`
	If      string   `json:"if"`
	Shell   string   `json:"shell"`
}

// Parse reads the hooks of a file, which sentences name as path; other settings are not podd's.
// What podd does not run is left out, with one sentence each in refused.
func Parse(path string, text []byte, of Plugin) (hooks []Hook, refused []string) {
	p := parser{path: path, text: text, of: of}
	var file struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
		Off   bool                       `json:"disableAllHooks"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		p.refuse(offset(err), "is not valid (%s), so none of its hooks run: correct it", plain(err))
		return nil, p.refused
	}
	if file.Off {
		return nil, nil
	}
	for _, event := range slices.Sorted(maps.Keys(file.Hooks)) {
		raw := file.Hooks[event]
		if !slices.Contains(events, event) {
			p.refuse(p.at([]byte(`"`+event+`"`)), "podd has no event %s, so its hooks do not run; the events are %s", clip(event), strings.Join(events, ", "))
			continue
		}
		var groups []group
		if err := json.Unmarshal(raw, &groups); err != nil {
			p.refuse(p.at(raw), "the hooks of %s are not a list of matchers with hooks (%s), so they do not run", event, plain(err))
			continue
		}
		for _, g := range groups {
			p.group(event, g)
		}
	}
	return p.hooks, p.refused
}

// Has says whether a file has hooks, or may have: it cannot be read.
func Has(text []byte) bool {
	var file struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	return json.Unmarshal(text, &file) != nil || len(file.Hooks) > 0
}

type parser struct {
	path    string
	text    []byte
	of      Plugin
	hooks   []Hook
	refused []string
}

func (p *parser) group(event string, g group) {
	m, err := newMatcher(g.Matcher)
	for _, raw := range g.Hooks {
		at := p.at(raw)
		var h handler
		bad := json.Unmarshal(raw, &h)
		switch {
		case bad != nil:
			p.refuse(at, "a hook of %s is not valid (%s), so it does not run", event, plain(bad))
		case err != nil:
			p.refuse(at, "the matcher %q of %s is not a regular expression that podd knows (RE2, without look-ahead), so the hook does not run", clip(g.Matcher), event)
		case h.Type != "" && h.Type != "command":
			p.refuse(at, "podd runs hooks of type command, not %s, so this hook of %s does not run", clip(h.Type), event)
		case strings.TrimSpace(h.Command) == "" || strings.ContainsRune(h.Command, 0):
			p.refuse(at, "a hook of %s has no command", event)
		case h.Shell != "" && h.Shell != "bash":
			p.refuse(at, "podd has no shell %s, so this hook of %s does not run", clip(h.Shell), event)
		default:
			p.hooks = append(p.hooks, p.hook(event, m, h, at))
		}
	}
}

func (p *parser) hook(event string, m matcher, h handler, at int) Hook {
	out := Hook{
		Event: event, matcher: m, only: h.If, background: h.Async || h.Rewake, plugin: p.of, timeout: defaultTimeout,
		shown: fmt.Sprintf("%s hook %s:%d", event, p.path, p.line(at)),
	}
	if event == promptSubmit {
		out.timeout = promptTimeout
	}
	if h.Timeout > 0 {
		out.timeout = max(time.Millisecond, time.Duration(min(h.Timeout, 24*3600)*float64(time.Second)))
	}
	if out.argv = []string{shell(), "-c", p.of.expand(h.Command)}; h.Args != nil {
		out.argv = []string{p.of.expand(h.Command)}
		for _, arg := range h.Args {
			out.argv = append(out.argv, p.of.expand(arg))
		}
	}
	return out
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./@+-]+$`)

// expand replaces the plugin's variables in quotes too. A shell expands those of other paths.
func (p Plugin) expand(text string) string {
	if plainPath.MatchString(p.Root) && plainPath.MatchString(p.Data) {
		text = strings.NewReplacer("${CLAUDE_PLUGIN_ROOT}", p.Root, "${CLAUDE_PLUGIN_DATA}", p.Data).Replace(text)
	}
	return text
}

// refuse notes why something at a place of the file does not run.
func (p *parser) refuse(at int, format string, args ...any) {
	p.refused = append(p.refused, fmt.Sprintf("%s:%d: ", p.path, p.line(at))+fmt.Sprintf(format, args...))
}

// at is where a part of the file is.
func (p *parser) at(part []byte) int { return max(bytes.Index(p.text, part), 0) }

func (p *parser) line(at int) int {
	return 1 + bytes.Count(p.text[:min(at, len(p.text))], []byte("\n"))
}

func offset(err error) int {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return int(e.Offset)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return int(e.Offset)
	}
	return 0
}

func plain(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return strings.TrimSpace(e.Field + " has the wrong type, " + e.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func clip(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// nameSplit separates the words of a command, also those in quotes.
var nameSplit = regexp.MustCompile("[\\s'\"`;|&()<>=]+")

// Named are the paths in a workspace that the commands of its hooks name, relative to it. They
// need not exist.
func Named(hooks []Hook) (paths []string) {
	for _, h := range hooks {
		line := strings.Join(h.argv, " ")
		for _, variable := range []string{`"$CLAUDE_PROJECT_DIR"/`, `"${CLAUDE_PROJECT_DIR}"/`, "$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/"} {
			line = strings.ReplaceAll(line, variable, "")
		}
		for _, word := range nameSplit.Split(line, -1) {
			if word = filepath.Clean(word); filepath.IsLocal(word) && word != "." && !slices.Contains(paths, word) {
				paths = append(paths, word)
			}
		}
	}
	return paths
}

// String says when a hook runs and what.
func (h Hook) String() string {
	text := h.argv[len(h.argv)-1]
	if h.argv[0] != shell() {
		text = strings.Join(h.argv, " ")
	}
	return h.shown + ": " + text
}
