package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of the arguments of one call. What a model writes in one answer is far smaller.
const (
	maxArgumentBytes = 4 << 20
	maxArgumentDepth = 64
)

// parseStrict reads one JSON value. It refuses what encoding/json accepts: duplicate keys
// and bytes that are not UTF-8. subject begins an error, such as "the arguments are".
// Objects become map[string]any, lists []any, numbers json.Number.
func parseStrict(subject, text string) (any, error) {
	if len(text) > maxArgumentBytes {
		return nil, fmt.Errorf("%s %d bytes long; at most %d are accepted", subject, len(text), maxArgumentBytes)
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%s not valid UTF-8", subject)
	}
	if data := []byte(text); !json.Valid(data) {
		return nil, fmt.Errorf("%s not valid JSON: %w", subject, invalid(data))
	}
	w := walker{rest: text, subject: subject}
	return w.value("", 0)
}

// invalid says where a text stops being JSON.
func invalid(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%w (at byte %d)", syntax, syntax.Offset)
	}
	return err
}

// walker reads a text that is known to be valid JSON, so it can skip what is between two
// values. encoding/json's own tokens cost three times as much.
type walker struct{ rest, subject string }

// next moves to the next value or closing bracket and returns its first byte.
func (w *walker) next() byte {
	w.rest = strings.TrimLeft(w.rest, " \t\r\n,:")
	return w.rest[0]
}

// advance reads n bytes.
func (w *walker) advance(n int) (read string) {
	read, w.rest = w.rest[:n], w.rest[n:]
	return read
}

// value reads the next value; path is its place in the arguments.
func (w *walker) value(path string, depth int) (any, error) {
	if depth > maxArgumentDepth {
		return nil, fmt.Errorf("%s nested deeper than %d levels", w.subject, maxArgumentDepth)
	}
	switch w.next() {
	case '{':
		return w.object(path, depth)
	case '[':
		return w.list(path, depth)
	case '"':
		return w.text()
	case 'n':
		w.advance(len("null"))
		return nil, nil
	case 't':
		w.advance(len("true"))
		return true, nil
	case 'f':
		w.advance(len("false"))
		return false, nil
	}
	return w.number(), nil
}

func (w *walker) object(path string, depth int) (any, error) {
	object := map[string]any{}
	for w.advance(1); w.next() != '}'; {
		key, err := w.text()
		if err != nil {
			return nil, err
		}
		at := joinPath(path, key)
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("the field %s is given twice: write it once", at)
		}
		if object[key], err = w.value(at, depth+1); err != nil {
			return nil, err
		}
	}
	w.advance(1)
	return object, nil
}

func (w *walker) list(path string, depth int) (any, error) {
	list := []any{}
	for w.advance(1); w.next() != ']'; {
		value, err := w.value(fmt.Sprintf("%s[%d]", path, len(list)), depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	w.advance(1)
	return list, nil
}

// text reads a string.
func (w *walker) text() (s string, err error) {
	end := 1
	for ; w.rest[end] != '"'; end++ {
		if w.rest[end] == '\\' {
			end++
		}
	}
	quoted := w.advance(end + 1)
	if !strings.Contains(quoted, `\`) {
		return quoted[1:end], nil
	}
	err = json.Unmarshal([]byte(quoted), &s)
	return s, err
}

func (w *walker) number() json.Number {
	end := strings.IndexAny(w.rest, " \t\r\n,]}")
	if end < 0 {
		end = len(w.rest)
	}
	return json.Number(w.advance(end))
}

// joinPath appends a key to a path, in quotes unless it is a plain word, so that a
// hostile key cannot pass for something else in an error.
func joinPath(path, key string) string {
	key = clip(key)
	if strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) || key == "" {
		key = fmt.Sprintf("%q", key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// clip bounds a model's text in an error.
func clip(s string) string { return Clip(s, 63) }
