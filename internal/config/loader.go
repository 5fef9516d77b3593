package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// loader collects the configuration and where its values come from.
type loader struct {
	config Config
	// tools has the limits of single tools; settings of a map's values need
	// somewhere to point to.
	tools map[string]*tool.Limit
	// prices has those of single models.
	prices map[string]*Price
	// rules are those begun so far.
	rules []*item.Rule
	// extensions are those begun so far, by the name of their list.
	extensions map[string][]*Extension
	// mcp has the MCP servers, by name.
	mcp     map[string]*MCPServer
	origins map[string]string
}

func newLoader() *loader {
	return &loader{
		config: defaults(), tools: map[string]*tool.Limit{}, prices: map[string]*Price{},
		extensions: map[string][]*Extension{}, mcp: map[string]*MCPServer{}, origins: map[string]string{},
	}
}

func (l *loader) applyFile(path string, text []byte) error {
	assignments, wrong := parse(text)
	if wrong != nil {
		return bad("%s:%d: this is no TOML: %s", path, wrong.line, wrong.message)
	}
	for _, a := range assignments {
		where := fmt.Sprintf("%s:%d", path, a.line)
		if wrong := l.assign(a, where); wrong != "" {
			return bad("%s: %s", where, wrong)
		}
	}
	return nil
}

// applyEnvironment takes the variables that are set and not empty.
func (l *loader) applyEnvironment(env func(string) string) error {
	for _, s := range settings(&l.config) {
		if s.variable == "" || env(s.variable) == "" {
			continue
		}
		if !s.set(env(s.variable)) {
			return bad("%s must be %s", s.variable, s.must)
		}
		l.origins[s.key] = s.variable
	}
	return nil
}

// assign says what is wrong with an assignment; empty when it was carried out.
func (l *loader) assign(a assignment, where string) string {
	if isRuleList(a.key) {
		return l.assignRules(a.value, where)
	}
	if isExtensionList(a.key) {
		return l.assignExtensions(a.key[0], a.value, where)
	}
	_, header := a.value.(table)
	s, known := l.find(a.key)
	switch {
	case known && s.set(a.value):
		l.origins[s.key] = where
		return ""
	case known && s.hidden:
		return fmt.Sprintf("%s must be %s", s.key, s.must)
	case known:
		return fmt.Sprintf("%s must be %s; it is %s", s.key, s.must, describe(a.value))
	case isTable(a.key) && header:
		l.beginMCP(a.key, where)
		return ""
	case isTable(a.key):
		return fmt.Sprintf("%s must be a table, with [%[1]s] on a line of its own; it is %s", keyText(a.key), describe(a.value))
	}
	return l.unknown(a.key)
}

// find is the setting of a key.
func (l *loader) find(key []string) (setting, bool) {
	all := settings(&l.config)
	if name, ok := toolOf(key); ok {
		if l.tools[name] == nil {
			l.tools[name] = &tool.Limit{}
		}
		all = append(all, limitSettings(toolTable(name), l.tools[name])...)
	}
	if model, ok := priceOf(key); ok {
		if l.prices[model] == nil {
			l.prices[model] = &Price{}
		}
		all = append(all, priceSettings(priceTable(model), l.prices[model])...)
	}
	if r, ok := l.inRule(key); ok {
		all = append(all, ruleSettings(r)...)
	}
	all = append(all, l.findMCP(key)...)
	text := keyText(key)
	if e, n, ok := l.inExtension(key); ok {
		all = extensionSettings(key[0], n, e)
		text = elementKey(key[0], n) + "." + keyText(key[1:])
	}
	i := slices.IndexFunc(all, func(s setting) bool { return s.key == text && !s.noFile })
	if i < 0 {
		return setting{}, false
	}
	return all[i], true
}

// unknown says what there is instead of a key that there is not.
func (l *loader) unknown(key []string) string {
	text := keyText(key)
	if key[len(key)-1] == "api_key" {
		return fmt.Sprintf("there is no key %s: the API key comes from OPENAI_API_KEY in podd's environment, or from the file that api_key_file names", text)
	}
	if key[0] == ruleList {
		return fmt.Sprintf("there is no key %s: a rule begins with [[%s]] and has tool, path, command, decision", text, ruleList)
	}
	if isExtensionList(key[:1]) {
		return fmt.Sprintf("there is no key %s: [[%s]] has %s", text, key[0], extensionKeys(key[0]))
	}
	for n := len(key) - 1; n > 0; n-- {
		if parent := key[:n]; isTable(parent) {
			return fmt.Sprintf("there is no key %s: [%s] has %s%s", text, keyText(parent), l.keysIn(parent), dottedModel(key))
		}
	}
	return fmt.Sprintf("there is no key or table %s: podd knows %s, the tables [%s] and the lists [[%s]]", text, l.keysIn(nil),
		strings.Join(tables(), "], ["), strings.Join(append([]string{ruleList}, extensionLists()...), "]], [["))
}

// keysIn lists the last parts of the keys of a table.
func (l *loader) keysIn(table []string) string {
	all, prefix := settings(&l.config), ""
	if len(table) > 0 {
		prefix = keyText(table) + "."
	}
	if len(table) == 3 && table[0] == "tool_output" {
		all = append(limitSettings(keyText(table), &tool.Limit{}), all...)
	}
	if len(table) == 3 && table[0] == "mcp" {
		all = mcpSettings(keyText(table), &MCPServer{})
		all = append(all, setting{key: prefix + "headers"})
	}
	if len(table) == 4 && table[0] == "mcp" {
		return "the names of headers"
	}
	if len(table) == 2 && table[0] == "prices" {
		all = priceSettings(keyText(table), &Price{})
	}
	var keys []string
	for _, s := range all {
		if rest, ok := strings.CutPrefix(s.key, prefix); ok && !s.noFile && !strings.Contains(rest, ".") {
			keys = append(keys, rest)
		}
	}
	if len(keys) == 0 {
		return "tables alone"
	}
	return strings.Join(keys, ", ")
}

// finish makes the Config of what was collected.
func (l *loader) finish() (Config, error) {
	c := &l.config
	if l.origins["file_refs.max_bytes"] == "" {
		// A reference is cut where a read of the file would be, unless that is more
		// than a reference may have.
		c.FileRefs.MaxBytes = min(c.ToolOutput.Default.MaxBytes, maxSubmit)
	}
	l.show(settings(c), true)
	c.ToolOutput.Tools = make(map[string]tool.Limit, len(l.tools))
	for _, name := range slices.Sorted(maps.Keys(l.tools)) {
		if *l.tools[name] == (tool.Limit{}) {
			continue // Keys of its own alone.
		}
		c.ToolOutput.Tools[name] = *l.tools[name]
		l.show(limitSettings(toolTable(name), l.tools[name]), false)
	}
	if err := l.finishPrices(); err != nil {
		return Config{}, err
	}
	if err := l.finishRules(); err != nil {
		return Config{}, err
	}
	if err := l.finishExtensions(); err != nil {
		return Config{}, err
	}
	if err := l.finishMCP(); err != nil {
		return Config{}, err
	}
	return *c, nil
}

// show adds settings to the values, those with their defaults too or not.
func (l *loader) show(all []setting, unset bool) {
	for _, s := range all {
		origin, set := l.origins[s.key]
		if !set && !unset {
			continue
		}
		if !set {
			origin = "default"
			if s.hint != "" {
				origin += ": " + s.hint
			}
		}
		l.config.values = append(l.config.values, Value{Key: s.key, Value: s.show(), Origin: origin})
	}
}
