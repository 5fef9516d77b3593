package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of the arguments of one call. What a model writes in one answer stays
// far below them.
const (
	maxArgumentBytes = 4 << 20
	maxArgumentDepth = 64
)

// parseStrict reads one JSON value, refusing what encoding/json lets pass:
// duplicate keys and bytes that are not UTF-8. Objects become map[string]any,
// lists []any, numbers json.Number.
func parseStrict(text string) (any, error) {
	if len(text) > maxArgumentBytes {
		return nil, fmt.Errorf("the arguments have %d bytes; at most %d are accepted", len(text), maxArgumentBytes)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the arguments are not valid UTF-8")
	}
	// Decoder.Token is lenient in places; Unmarshal checks the whole text first.
	var raw json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("the arguments are not valid JSON: %w (at byte %d)", syntax, syntax.Offset)
		}
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return parseValue(dec, "", 0)
}

// parseValue reads the next value of dec; path is where it stands.
func parseValue(dec *json.Decoder, path string, depth int) (any, error) {
	if depth > maxArgumentDepth {
		return nil, fmt.Errorf("the arguments are nested deeper than %d levels", maxArgumentDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	switch token {
	case json.Delim('{'):
		return parseObject(dec, path, depth)
	case json.Delim('['):
		return parseList(dec, path, depth)
	}
	return token, nil
}

func parseObject(dec *json.Decoder, path string, depth int) (any, error) {
	object := map[string]any{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
		}
		key, ok := token.(string)
		if !ok {
			return nil, errors.New("the arguments are not valid JSON: a key is not a string")
		}
		at := joinPath(path, key)
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("the field %s is given twice: write it once", at)
		}
		if object[key], err = parseValue(dec, at, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return object, err
}

func parseList(dec *json.Decoder, path string, depth int) (any, error) {
	list := []any{}
	for dec.More() {
		value, err := parseValue(dec, fmt.Sprintf("%s[%d]", path, len(list)), depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := dec.Token()
	return list, err
}

// joinPath appends a key to a path, in quotes unless it is a plain word, so that
// a hostile key cannot pass for something else in an error.
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

// clip bounds a model's text inside an error.
func clip(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	return cutHead(s, limit) + "…"
}
