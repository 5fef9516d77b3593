package config

import (
	"bytes"
	"errors"
	"fmt"
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
	// an inline table, whose keys are assignments of their own.
	value any
}

// table stands for the value of a table.
type table struct{}

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
	w := walker{root: root}
	w.parser.Reset(text)
	var current []string
	for w.parser.NextExpression() {
		switch e := w.parser.Expression(); e.Kind {
		case unstable.Table:
			current, _ = w.header(e, table{})
		case unstable.ArrayTable:
			current, _ = w.header(e, []any{})
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
}

func (w *walker) header(e *unstable.Node, value any) (key []string, line int) {
	key, line = w.key(nil, e)
	w.found = append(w.found, assignment{key: key, line: line, value: value})
	return key, line
}

func (w *walker) keyValue(parent []string, e *unstable.Node) {
	key, line := w.key(parent, e)
	if e.Value().Kind != unstable.InlineTable {
		w.found = append(w.found, assignment{key: key, line: line, value: lookup(w.root, key)})
		return
	}
	w.found = append(w.found, assignment{key: key, line: line, value: table{}})
	for it := e.Value().Children(); it.Next(); {
		w.keyValue(key, it.Node())
	}
}

func (w *walker) key(parent []string, e *unstable.Node) (key []string, line int) {
	key = append(key, parent...)
	for it := e.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
		line = w.parser.Shape(it.Node().Raw).Start.Line
	}
	return key, line
}

// lookup is nil for a key in an array of tables; the header of one is refused
// before its keys are looked at.
func lookup(root any, key []string) any {
	for _, part := range key {
		m, ok := root.(map[string]any)
		if !ok {
			return nil
		}
		root = m[part]
	}
	return root
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
	case []any:
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
