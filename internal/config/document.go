package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// assignment is one key with a value, or the header of a table.
type assignment struct {
	// key is the whole key, its tables included.
	key  []string
	line int
	// value is what go-toml makes of it for an any; table{} for a header and for
	// an inline table, whose keys are assignments of their own; element{} for a table
	// that is the next in a list.
	value any
}

// table stands for the value of a table.
type table struct{}

// element stands for the value of a table in a list. The keys of its assignments
// don't number it: they follow it.
type element struct{}

// syntaxError says why text is no TOML.
type syntaxError struct {
	line    int
	message string
}

// parse lists the assignments of a TOML document in its order.
func parse(text []byte) ([]assignment, *syntaxError) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var root map[string]any
	if err := toml.Unmarshal(text, &root); err != nil {
		return nil, asSyntaxError(err)
	}
	w := walker{root: root, lists: map[string]int{}}
	w.parser.Reset(text)
	var current []string
	for w.parser.NextExpression() {
		switch e := w.parser.Expression(); e.Kind {
		case unstable.Table:
			current, _ = w.header(e, table{})
		case unstable.ArrayTable:
			current, _ = w.header(e, element{})
		case unstable.KeyValue:
			w.keyValue(current, e)
		}
	}
	if err := w.parser.Error(); err != nil {
		return nil, asSyntaxError(err)
	}
	return w.found, nil
}

func asSyntaxError(err error) *syntaxError {
	message := strings.TrimPrefix(err.Error(), "toml: ")
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := e.Position()
		return &syntaxError{line: line, message: message}
	}
	return &syntaxError{line: 1, message: message}
}

// walker takes the lines from the parser and the values from the decoded document.
type walker struct {
	parser unstable.Parser
	root   map[string]any
	found  []assignment
	// lists counts the tables of each list so far, by its key's text.
	lists map[string]int
}

func (w *walker) header(e *unstable.Node, value any) (key []string, line int) {
	key, line = w.key(nil, e)
	if value == (element{}) {
		w.count(key)
	}
	w.found = append(w.found, assignment{key: key, line: line, value: value})
	return key, line
}

func (w *walker) keyValue(parent []string, e *unstable.Node) {
	key, line := w.key(parent, e)
	switch {
	case e.Value().Kind == unstable.InlineTable:
		w.found = append(w.found, assignment{key: key, line: line, value: table{}})
		w.inline(key, e.Value())
	case ofTables(e.Value()):
		for it := e.Value().Children(); it.Next(); {
			w.count(key)
			w.found = append(w.found, assignment{key: key, line: line, value: element{}})
			w.inline(key, it.Node())
		}
	default:
		w.found = append(w.found, assignment{key: key, line: line, value: w.lookup(key)})
	}
}

func (w *walker) inline(key []string, table *unstable.Node) {
	for it := table.Children(); it.Next(); {
		w.keyValue(key, it.Node())
	}
}

// ofTables says whether a value is a list of inline tables, with one at least.
func ofTables(value *unstable.Node) bool {
	if value.Kind != unstable.Array {
		return false
	}
	some := false
	for it := value.Children(); it.Next(); {
		if it.Node().Kind != unstable.InlineTable {
			return false
		}
		some = true
	}
	return some
}

// count begins the next table of a list; the lists in it begin anew.
func (w *walker) count(key []string) {
	text := keyText(key)
	maps.DeleteFunc(w.lists, func(list string, _ int) bool { return strings.HasPrefix(list, text+".") })
	w.lists[text]++
}

func (w *walker) key(parent []string, e *unstable.Node) (key []string, line int) {
	key = append(key, parent...)
	for it := e.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
		line = w.parser.Shape(it.Node().Raw).Start.Line
	}
	return key, line
}

// lookup is the decoded value of a key; in a list, of the table that was begun last.
func (w *walker) lookup(key []string) any {
	var value any = w.root
	for i, part := range key {
		if list, ok := value.([]any); ok {
			n := w.lists[keyText(key[:i])]
			if n < 1 || n > len(list) {
				return nil
			}
			value = list[n-1]
		}
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[part]
	}
	return value
}

// describe is a value as an error shows it: short, on one line.
func describe(value any) string {
	switch v := value.(type) {
	case string:
		const most = 60
		if runes := []rune(v); len(runes) > most {
			return quote(string(runes[:most])) + "..."
		}
		return quote(v)
	case int64, bool, float64:
		return fmt.Sprint(v)
	case table:
		return "a table"
	case []any, element:
		return "a list"
	}
	return "a date or time"
}

// quote is text as a TOML string on one line.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// keyText is a key as a file writes it.
func keyText(key []string) string {
	parts := make([]string, len(key))
	for i, part := range key {
		parts[i] = part
		if part == "" || strings.Trim(part, bareKey) != "" {
			parts[i] = quote(part)
		}
	}
	return strings.Join(parts, ".")
}

// bareKey has the characters of a key that needs no quotes.
const bareKey = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
