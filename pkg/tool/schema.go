package tool

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// described caches the schemas of types: each pod makes its tools, always of the same
// types. Cached schemas never change.
var described sync.Map // reflect.Type to description

type description struct {
	schema *jsonschema.Schema
	text   string
}

// schemaFor describes the struct A. The text has no spaces and its keys have a fixed
// order: properties are in the order of the fields.
func schemaFor[A any]() (*jsonschema.Schema, string, error) {
	t := reflect.TypeFor[A]()
	if d, ok := described.Load(t); ok {
		return d.(description).schema, d.(description).text, nil
	}
	schema, text, err := inferred(t)
	if err == nil {
		described.Store(t, description{schema, text})
	}
	return schema, text, err
}

func inferred(t reflect.Type) (*jsonschema.Schema, string, error) {
	if t.Kind() != reflect.Struct {
		return nil, "", fmt.Errorf("%v is not a struct", t)
	}
	// Find cycles here, so that refine below ends.
	schema, err := jsonschema.ForType(t, nil)
	if err != nil {
		return nil, "", err
	}
	if err := refine(t, schema); err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, "", err
	}
	return schema, string(text), nil
}

// refine corrects an inferred schema for strict decoding: null is never a value, enum
// tags apply, and types whose JSON the schema would misstate are refused.
func refine(t reflect.Type, s *jsonschema.Schema) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	if t == reflect.TypeFor[time.Time]() {
		return nil
	}
	if hasOwnJSON(t) {
		return fmt.Errorf("%v has a JSON form of its own, which no schema can be derived from", t)
	}
	switch t.Kind() {
	case reflect.Struct:
		return refineStruct(t, s)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return fmt.Errorf("%v would be base64: use string", t)
		}
		return refine(t.Elem(), s.Items)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("%v: the keys must be strings", t)
		}
		return refine(t.Elem(), s.AdditionalProperties)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Errorf("%v cannot be decoded: use any", t)
		}
	}
	return nil
}

func hasOwnJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[json.Marshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

func refineStruct(t reflect.Type, s *jsonschema.Schema) error {
	if s.Properties == nil {
		// Some endpoints refuse an object schema without properties.
		s.Properties = map[string]*jsonschema.Schema{}
	}
	for field := range t.Fields() {
		if field.Anonymous {
			return fmt.Errorf("%v.%s: embedded fields are not supported", t, field.Name)
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" && options == "" {
			continue
		}
		if name == "" {
			return fmt.Errorf("%v.%s needs a json tag with a name", t, field.Name)
		}
		set := strings.Split(options, ",")
		if slices.Contains(set, "string") {
			return fmt.Errorf("%v.%s: the json option string is not supported", t, field.Name)
		}
		if slices.Contains(set, "omitempty") && field.Type.Kind() == reflect.Struct {
			return fmt.Errorf("%v.%s: omitempty does nothing on a struct: use omitzero", t, field.Name)
		}
		property := s.Properties[name]
		if err := refine(field.Type, property); err != nil {
			return fmt.Errorf("%v.%s: %w", t, field.Name, err)
		}
		if err := addEnum(field, property); err != nil {
			return err
		}
	}
	return nil
}

func addEnum(field reflect.StructField, property *jsonschema.Schema) error {
	list, ok := field.Tag.Lookup("enum")
	if !ok {
		return nil
	}
	target := property
	if target.Type == "array" {
		target = target.Items
	}
	if target.Type != "string" || list == "" {
		return fmt.Errorf("%s: the enum tag lists values of a string", field.Name)
	}
	for value := range strings.SplitSeq(list, ",") {
		target.Enum = append(target.Enum, value)
	}
	return nil
}
