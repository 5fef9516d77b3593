package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document is a TOML document with the line of each key.
type document struct {
	root map[string]any
	// lines are the lines that first name a key or table, by its path: "limits",
	// "limits.max_steps", "rule[2].tool".
	lines map[string]int
}

// syntaxError says why text is not TOML.
type syntaxError struct {
	line    int
	message string
}

func parse(text []byte) (document, *syntaxError) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	s := scanner{document: document{lines: map[string]int{}}, lists: map[string]int{}}
	if err := toml.Unmarshal(text, &s.root); err != nil {
		return document{}, asSyntaxError(err)
	}
	s.parser.Reset(text)
	if err := s.scan(); err != nil {
		return document{}, asSyntaxError(err)
	}
	return s.document, nil
}

func asSyntaxError(err error) *syntaxError {
	message := strings.TrimPrefix(err.Error(), "toml: ")
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := e.Position()
		return &syntaxError{line: line, message: message}
	}
	return &syntaxError{line: 1, message: message}
}

// scanner finds the lines of keys.
type scanner struct {
	document
	parser unstable.Parser
	// lists counts the tables of each list, by its path.
	lists map[string]int
}

func (s *scanner) scan() error {
	header := ""
	for s.parser.NextExpression() {
		switch e := s.parser.Expression(); e.Kind {
		case unstable.Table:
			header, _ = s.key("", e)
		case unstable.ArrayTable:
			header, _ = s.key("", e)
		case unstable.KeyValue:
			s.keyValue(header, e)
		}
	}
	return s.parser.Error()
}

// key notes the line of a key and of the tables that it names. path is first that of the
// surrounding table; key returns that of the key.
func (s *scanner) key(path string, e *unstable.Node) (_ string, line int) {
	for it := e.Key(); it.Next(); {
		path = join(path, string(it.Node().Data))
		line = s.parser.Shape(it.Node().Raw).Start.Line
		s.note(path, line)
		if it.IsLast() && e.Kind == unstable.ArrayTable {
			s.lists[path]++
		}
		if n := s.lists[path]; n > 0 {
			path = numbered(path, n)
			s.note(path, line)
		}
	}
	return path, line
}

func (s *scanner) note(path string, line int) {
	if s.lines[path] == 0 {
		s.lines[path] = line
	}
}

func (s *scanner) keyValue(parent string, e *unstable.Node) {
	path, line := s.key(parent, e)
	value := e.Value()
	if value.Kind == unstable.InlineTable {
		s.inline(path, value)
	}
	if value.Kind != unstable.Array {
		return
	}
	n := 0
	for it := value.Children(); it.Next(); {
		n++
		s.note(numbered(path, n), line)
		if it.Node().Kind == unstable.InlineTable {
			s.inline(numbered(path, n), it.Node())
		}
	}
}

func (s *scanner) inline(path string, table *unstable.Node) {
	for it := table.Children(); it.Next(); {
		s.keyValue(path, it.Node())
	}
}

// join is the path of a key in a table.
func join(table, key string) string {
	if table == "" {
		return keyText(key)
	}
	return table + "." + keyText(key)
}

// numbered is the path of a table of a list; n is from 1.
func numbered(list string, n int) string { return fmt.Sprintf("%s[%d]", list, n) }

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
	case map[string]any:
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

// inTOML is a value in TOML's notation, on one line, with a mask over its texts.
func inTOML(value reflect.Value, mask func(string) string) string {
	if d, ok := value.Interface().(time.Duration); ok {
		return quote(d.String())
	}
	var parts []string
	switch value.Kind() {
	case reflect.Interface:
		return inTOML(value.Elem(), mask)
	case reflect.String:
		return quote(mask(value.String()))
	case reflect.Float64:
		return strconv.FormatFloat(value.Float(), 'f', -1, 64)
	case reflect.Slice:
		for i := range value.Len() {
			parts = append(parts, inTOML(value.Index(i), mask))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		for _, name := range value.MapKeys() {
			parts = append(parts, keyText(name.String())+" = "+inTOML(value.MapIndex(name), mask))
		}
		slices.Sort(parts)
		return braces(parts)
	}
	return fmt.Sprint(value)
}

// braces is an inline table.
func braces(parts []string) string {
	if len(parts) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// keyText is one part of a key as a file writes it.
func keyText(key string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if key == "" || strings.Trim(key, bare) != "" {
		return quote(key)
	}
	return key
}
