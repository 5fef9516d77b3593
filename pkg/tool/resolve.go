package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxAlternatives bounds the schemas that judge one value.
const maxAlternatives = 10_000

// resolve prepares a schema that somebody else wrote for checks. The library follows
// references without end where a schema leads back to itself for the same value, which would
// end the process. So such a schema is an error, and so is a reference that leads elsewhere
// than to a part of the schema.
func resolve(text string) (*jsonschema.Resolved, error) {
	var root jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		return nil, err
	}
	// The library reports an unknown version only with a value or a default.
	version := jsonschema.Schema{Schema: root.Schema}
	if _, err := version.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
		return nil, err
	}
	r := references{parts: map[string]*jsonschema.Schema{}, counts: map[*jsonschema.Schema]int{}}
	r.collect("", &root)
	all := slices.Sorted(maps.Keys(r.parts))
	for _, at := range all {
		if err := r.check(at, r.parts[at]); err != nil {
			return nil, err
		}
	}
	for _, at := range all {
		if _, err := r.count(at, r.parts[at]); err != nil {
			return nil, err
		}
	}
	return root.Resolve(nil)
}

// references follows the references of a schema.
type references struct {
	// parts are the schema and those within it, by JSON pointer.
	parts map[string]*jsonschema.Schema
	// counts is how many schemas judge a value that a part judges; -1 while that is counted.
	counts map[*jsonschema.Schema]int
}

func (r references) collect(at string, s *jsonschema.Schema) {
	if s == nil {
		return // The library says so.
	}
	r.parts[at] = s
	same, inner := partsOf(s)
	for _, parts := range []map[string]*jsonschema.Schema{same, inner} {
		for name, part := range parts {
			r.collect(at+"/"+name, part)
		}
	}
}

func (r references) check(at string, s *jsonschema.Schema) error {
	for _, name := range append(slices.Clone(s.Types), s.Type) {
		if name != "" && !slices.Contains([]string{"null", "boolean", "object", "array", "number", "integer", "string"}, name) {
			return fmt.Errorf("%s has the type %q: use null, boolean, object, array, number, integer or string", partName(at), clip(name))
		}
	}
	if at != "" && s.ID != "" || s.DynamicRef != "" {
		return fmt.Errorf("%s has an $id or a $dynamicRef: refer to parts by $ref, as in #/$defs/NAME", partName(at))
	}
	return nil
}

// count is how many schemas judge a value that s judges.
func (r references) count(at string, s *jsonschema.Schema) (int, error) {
	switch n := r.counts[s]; {
	case n < 0:
		return 0, fmt.Errorf("%s refers to itself for the same value", partName(at))
	case n > 0:
		return n, nil
	}
	r.counts[s] = -1
	parts, _ := partsOf(s)
	if s.Ref != "" {
		to, err := url.PathUnescape(strings.TrimPrefix(s.Ref, "#"))
		part := r.parts[to]
		if err != nil || !strings.HasPrefix(s.Ref, "#") || part == nil {
			return 0, fmt.Errorf("%s refers to %q, which is not a part of it: write a $ref as in #/$defs/NAME", partName(at), clip(s.Ref))
		}
		parts["$ref"] = part
	}
	total := 1
	for name, part := range parts {
		if part == nil {
			continue
		}
		n, err := r.count(at+"/"+name, part)
		if err != nil {
			return 0, err
		}
		if total += n; total > maxAlternatives {
			return 0, errors.New("it has too many alternatives for one value")
		}
	}
	r.counts[s] = total
	return total, nil
}

// partName names a part in an error.
func partName(at string) string {
	if at == "" {
		return "it"
	}
	return clip(at)
}

// partsOf are the schemas directly within a schema: those that judge the same value as it does,
// and those of what is in the value, or for references alone.
func partsOf(s *jsonschema.Schema) (same, inner map[string]*jsonschema.Schema) {
	same = map[string]*jsonschema.Schema{"not": s.Not, "if": s.If, "then": s.Then, "else": s.Else}
	addList(same, "allOf", s.AllOf)
	addList(same, "anyOf", s.AnyOf)
	addList(same, "oneOf", s.OneOf)
	addNamed(same, "dependentSchemas", s.DependentSchemas)
	addNamed(same, "dependencies", s.DependencySchemas)
	inner = map[string]*jsonschema.Schema{
		"items": s.Items, "additionalItems": s.AdditionalItems, "contains": s.Contains, "unevaluatedItems": s.UnevaluatedItems,
		"additionalProperties": s.AdditionalProperties, "propertyNames": s.PropertyNames, "unevaluatedProperties": s.UnevaluatedProperties,
		"contentSchema": s.ContentSchema,
	}
	addList(inner, "prefixItems", s.PrefixItems)
	addList(inner, "items", s.ItemsArray)
	addNamed(inner, "properties", s.Properties)
	addNamed(inner, "patternProperties", s.PatternProperties)
	addNamed(inner, "$defs", s.Defs)
	addNamed(inner, "definitions", s.Definitions)
	return same, inner
}

func addList(to map[string]*jsonschema.Schema, keyword string, list []*jsonschema.Schema) {
	for i, s := range list {
		to[keyword+"/"+strconv.Itoa(i)] = s
	}
}

func addNamed(to map[string]*jsonschema.Schema, keyword string, named map[string]*jsonschema.Schema) {
	for name, s := range named {
		to[keyword+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name)] = s
	}
}
