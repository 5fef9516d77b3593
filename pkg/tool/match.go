package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// matches checks a parsed value against a schema made by schemaFor. It knows only the
// keywords that schemaFor writes: the general validator does not say what to write
// instead.
func matches(path string, s *jsonschema.Schema, value any) error {
	switch value := value.(type) {
	case map[string]any:
		if s.Type == "object" {
			return matchObject(path, s, value)
		}
	case []any:
		if s.Type == "array" {
			return matchList(path, s, value)
		}
	case string:
		if s.Type == "string" {
			return matchEnum(path, s, value)
		}
	case bool:
		if s.Type == "boolean" {
			return nil
		}
	case json.Number:
		if s.Type == "number" {
			return nil
		}
		if s.Type == "integer" {
			return matchInteger(path, s, value)
		}
	}
	if s.Type == "" {
		return nil
	}
	return fmt.Errorf("%s must be %s, not %s", place(path), article(s.Type), describe(value))
}

func matchObject(path string, s *jsonschema.Schema, object map[string]any) error {
	// Sorted, so that the same arguments give the same error.
	keys := slices.AppendSeq(make([]string, 0, len(object)), maps.Keys(object))
	slices.Sort(keys)
	for _, key := range keys {
		property, known := s.Properties[key], true
		if property == nil {
			property, known = s.AdditionalProperties, s.Properties == nil
		}
		if !known {
			return unknownField(path, s, key)
		}
		if object[key] == nil && s.Properties != nil && !slices.Contains(s.Required, key) {
			continue
		}
		if err := matches(joinPath(path, key), property, object[key]); err != nil {
			return err
		}
	}
	var missing []string
	for _, key := range s.Required {
		if _, ok := object[key]; !ok {
			missing = append(missing, joinPath(path, key))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing %s", strings.Join(missing, ", "))
	}
	return nil
}

// unknownField names the field that was probably meant, otherwise all existing ones.
func unknownField(path string, s *jsonschema.Schema, key string) error {
	for _, name := range s.PropertyOrder {
		if fold(name) == fold(key) {
			return fmt.Errorf("unknown field %s: write it exactly as %s", joinPath(path, key), name)
		}
	}
	if len(s.PropertyOrder) == 0 {
		return fmt.Errorf("unknown field %s: there are no fields", joinPath(path, key))
	}
	return fmt.Errorf("unknown field %s: the fields are %s", joinPath(path, key), strings.Join(s.PropertyOrder, ", "))
}

func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

func matchList(path string, s *jsonschema.Schema, list []any) error {
	if s.MaxItems != nil && len(list) != *s.MaxItems {
		return fmt.Errorf("%s must have %d elements, not %d", place(path), *s.MaxItems, len(list))
	}
	for i, value := range list {
		if err := matches(fmt.Sprintf("%s[%d]", path, i), s.Items, value); err != nil {
			return err
		}
	}
	return nil
}

func matchEnum(path string, s *jsonschema.Schema, value string) error {
	if len(s.Enum) == 0 || slices.Contains(s.Enum, any(value)) {
		return nil
	}
	names := make([]string, len(s.Enum))
	for i, name := range s.Enum {
		names[i] = fmt.Sprint(name)
	}
	return fmt.Errorf("%s must be one of %s, not %q", place(path), strings.Join(names, ", "), clip(value))
}

func matchInteger(path string, s *jsonschema.Schema, value json.Number) error {
	if strings.ContainsAny(value.String(), ".eE") {
		return fmt.Errorf("%s must be an integer, not %s: write it without fraction or exponent", place(path), clip(value.String()))
	}
	number, err := value.Float64()
	if err != nil || s.Minimum != nil && number < *s.Minimum || s.Maximum != nil && number > *s.Maximum {
		return fmt.Errorf("%s is out of range: %s", place(path), clip(value.String()))
	}
	return nil
}

// plainDecodeError is for a value that passes the schema and still does not fit the Go
// type, such as a number above 64 bits.
func plainDecodeError(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s does not fit: %s", place(e.Field), clip(e.Value))
	}
	return err
}

func place(path string) string {
	if path == "" {
		return "the arguments"
	}
	return path
}

func article(name string) string {
	if strings.ContainsRune("aio", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// describe names a JSON value in an error, with its text if that is short.
func describe(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the string %q", clip(value))
	case json.Number:
		return "the number " + clip(value.String())
	case bool:
		return fmt.Sprint(value)
	case []any:
		return "an array"
	default:
		return "an object"
	}
}
