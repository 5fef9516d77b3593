package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// dialect is a JSON Schema of another program in the words that all model APIs accept for the
// arguments of a tool. One schema that an API refuses makes it refuse the whole request:
//
//   - Anthropic and OpenAI take no anyOf, oneOf, allOf or enum at the top, and Anthropic no name
//     of a property outside [a-zA-Z0-9_.-]{1,64}.
//   - OpenAI takes no list without items and no type but those of JSON Schema.
//   - Gemini takes no reference beside other keywords, no list of types, no boolean schema, no
//     const, and no required property that is not defined.
//
// Conditions and bounds that no model reads are left out: the other program checks its arguments.
type dialect struct {
	root map[string]any
	// old has the name that the other program knows, by the name that the model reads; taken are
	// all names that properties have anywhere.
	old   map[string]string
	taken map[string]bool
	// open are the references that are being expanded, left how many objects the result may
	// still get.
	open map[string]bool
	left int
}

// maxObjects bounds the objects of a schema: references that expand each other double its size each
// time.
const maxObjects = 4000

// inDialect rewrites the schema of a tool's arguments. old has the name of each property that the
// model reads under another one.
func inDialect(schema string) (rewritten string, old map[string]string, err error) {
	var root map[string]any
	if err := decodeNumbers(schema, &root); err != nil {
		return "", nil, err
	}
	d := &dialect{root: root, old: map[string]string{}, taken: map[string]bool{}, open: map[string]bool{}, left: maxObjects}
	d.take(root)
	top := d.object(root)
	d.flatten(top)
	if d.left < 0 {
		return "", nil, fmt.Errorf("its schema has more than %d parts", maxObjects)
	}
	rewritten, err = encodeSorted(top)
	return rewritten, d.old, err
}

// take notes the names of all properties.
func (d *dialect) take(v any) {
	switch v := v.(type) {
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			for name := range properties {
				d.taken[name] = true
			}
		}
		for _, part := range v {
			d.take(part)
		}
	case []any:
		for _, part := range v {
			d.take(part)
		}
	}
}

// schema rewrites a schema; nil is one that nothing fits.
func (d *dialect) schema(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return d.object(v)
	case bool:
		if !v {
			return nil
		}
	}
	return map[string]any{}
}

// The keywords that stay as they are, if they have a value of their kind.
var (
	textWords   = []string{"description", "title", "format", "pattern"}
	numberWords = []string{"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
)

func (d *dialect) object(s map[string]any) map[string]any {
	if d.left--; d.left < 0 {
		return map[string]any{}
	}
	if ref, ok := s["$ref"].(string); ok {
		return d.expand(ref, s)
	}
	out := map[string]any{}
	for _, word := range textWords {
		if v, ok := s[word].(string); ok {
			out[word] = v
		}
	}
	for _, word := range numberWords {
		if v, ok := s[word].(json.Number); ok {
			out[word] = v
		}
	}
	if v, ok := s["default"]; ok {
		out["default"] = v
	}
	d.values(out, s)
	d.properties(out, s)
	d.items(out, s)
	d.branches(out, s)
	return out
}

// expand puts what a reference names in its place. What is said beside it counts more.
func (d *dialect) expand(ref string, s map[string]any) map[string]any {
	target, ok := d.at(ref)
	beside := maps.Clone(s)
	delete(beside, "$ref")
	if !ok || d.open[ref] {
		// It contains itself: what is deeper stays open.
		return d.object(beside)
	}
	d.open[ref] = true
	defer delete(d.open, ref)
	whole := maps.Clone(target)
	maps.Copy(whole, beside)
	return d.object(whole)
}

// at is the schema that a reference within the same document names.
func (d *dialect) at(ref string) (map[string]any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	var v any = d.root
	for _, part := range strings.Split(pointer, "/")[1:] {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		v = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	m, ok := v.(map[string]any)
	return m, ok
}

// types are the types of JSON Schema, and what some programs call them.
var types = map[string]string{
	"string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "object": "object", "array": "array", "null": "null",
	"str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number", "bool": "boolean",
	"dict": "object", "map": "object", "list": "array",
}

// values rewrites what says which values fit.
func (d *dialect) values(out, s map[string]any) {
	switch t := s["type"].(type) {
	case string:
		if known := types[strings.ToLower(t)]; known != "" {
			out["type"] = known
		}
	case []any:
		var each []any
		for _, name := range t {
			if known := types[strings.ToLower(fmt.Sprint(name))]; known != "" {
				each = append(each, map[string]any{"type": known})
			}
		}
		switch len(each) {
		case 0:
		case 1:
			out["type"] = each[0].(map[string]any)["type"]
		default:
			out["anyOf"] = each
		}
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		out["enum"] = list
	}
	if v, ok := s["const"]; ok {
		out["enum"] = []any{v}
	}
}

var nameOfProperty = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// rename is the name of a property as the model reads it.
func (d *dialect) rename(name string) string {
	if nameOfProperty.MatchString(name) {
		return name
	}
	for renamed, old := range d.old {
		if old == name {
			return renamed
		}
	}
	const most = 60 // It leaves room for a number.
	plain := regexp.MustCompile(`[^a-zA-Z0-9_.-]`).ReplaceAllString(name, "_")
	plain = plain[:min(len(plain), most)]
	renamed := plain
	for n := 2; renamed == "" || d.taken[renamed]; n++ {
		renamed = fmt.Sprintf("%s_%d", plain, n)
	}
	d.taken[renamed], d.old[renamed] = true, name
	return renamed
}

// properties rewrites what says which properties an object has.
func (d *dialect) properties(out, s map[string]any) {
	properties := map[string]any{}
	if has, ok := s["properties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(has)) {
			if property := d.schema(has[name]); property != nil {
				properties[d.rename(name)] = property
			}
		}
		out["properties"] = properties
		if out["type"] == nil && out["anyOf"] == nil {
			out["type"] = "object"
		}
	}
	if list, ok := s["required"].([]any); ok {
		require(out, list, d.rename)
	}
	switch more := s["additionalProperties"].(type) {
	case bool:
		out["additionalProperties"] = more
	case map[string]any:
		out["additionalProperties"] = d.object(more)
	}
}

// require sets the required properties: those of a list that are defined.
func require(out map[string]any, list []any, rename func(string) string) {
	properties, _ := out["properties"].(map[string]any)
	var required []any
	for _, v := range list {
		name, ok := v.(string)
		if !ok {
			continue
		}
		if name = rename(name); properties[name] != nil && !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	delete(out, "required")
	if len(required) > 0 {
		out["required"] = required
	}
}

// items rewrites what says which items a list has. The places of a tuple become one schema.
func (d *dialect) items(out, s map[string]any) {
	items := s["items"]
	places, tuple := s["prefixItems"].([]any)
	if list, ok := items.([]any); ok {
		places, tuple = list, true
	}
	switch {
	case tuple && len(places) > 0:
		out["items"] = d.anyOf(map[string]any{}, places)
	case items != nil:
		if one := d.schema(items); one != nil {
			out["items"] = one
		}
	}
	if out["type"] == "array" && out["items"] == nil {
		out["items"] = map[string]any{}
	}
}

// branches rewrites the combinations of schemas: all of several becomes one schema, one of several
// any of them.
func (d *dialect) branches(out, s map[string]any) {
	if all, ok := s["allOf"].([]any); ok {
		for _, branch := range all {
			join(out, d.schema(branch), true)
		}
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if each, ok := s[word].([]any); ok && len(each) > 0 {
			d.anyOf(out, each)
			return
		}
	}
}

// anyOf adds alternatives to a schema. A single one is part of it.
func (d *dialect) anyOf(out map[string]any, list []any) map[string]any {
	var each []any
	for _, branch := range list {
		if one := d.schema(branch); one != nil && !slices.ContainsFunc(each, func(v any) bool { return reflect.DeepEqual(v, any(one)) }) {
			each = append(each, one)
		}
	}
	switch len(each) {
	case 0:
	case 1:
		join(out, each[0].(map[string]any), true)
	default:
		out["anyOf"] = each
	}
	return out
}

// join adds what another schema says. Both say it of the same value if strict; then what the
// other requires is required too.
func join(out, other map[string]any, strict bool) {
	for word, v := range other {
		switch word {
		case "properties":
			has, ok := out[word].(map[string]any)
			if !ok {
				has = map[string]any{}
				out[word] = has
			}
			for name, property := range v.(map[string]any) {
				switch before := has[name]; {
				case before == nil:
					has[name] = property
				case !strict && !reflect.DeepEqual(before, property):
					has[name] = map[string]any{"anyOf": []any{before, property}}
				}
			}
		case "required":
		default:
			if out[word] == nil {
				out[word] = v
			}
		}
	}
	if list, ok := other["required"].([]any); ok && strict {
		before, _ := out["required"].([]any)
		require(out, append(slices.Clone(before), list...), func(name string) string { return name })
	}
}

// flatten makes the top an object without alternatives: it has the properties of all of them, and
// says which belong together.
func (d *dialect) flatten(top map[string]any) {
	each, _ := top["anyOf"].([]any)
	delete(top, "anyOf")
	var groups []string
	for _, branch := range each {
		one := branch.(map[string]any)
		if t := one["type"]; t != nil && t != "object" {
			continue
		}
		d.flatten(one)
		delete(one, "description")
		join(top, one, false)
		var names []string
		list, _ := one["required"].([]any)
		for _, name := range list {
			names = append(names, name.(string))
		}
		groups = append(groups, strings.Join(names, " and "))
	}
	delete(top, "enum")
	top["type"] = "object"
	if top["properties"] == nil {
		top["properties"] = map[string]any{}
	}
	if groups = slices.DeleteFunc(groups, func(g string) bool { return g == "" }); len(groups) > 1 {
		said, _ := top["description"].(string)
		top["description"] = strings.TrimSpace(said + " Needs one of: " + strings.Join(groups, "; ") + ".")
	}
}

// asNamed gives the properties of arguments the names that the other program knows.
func asNamed(arguments string, old map[string]string) (string, error) {
	if len(old) == 0 {
		return arguments, nil
	}
	var v any
	if err := decodeNumbers(arguments, &v); err != nil {
		return "", err
	}
	return encodeSorted(renamed(v, old))
}

func renamed(v any, old map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if before, ok := old[name]; ok {
				name = before
			}
			out[name] = renamed(value, old)
		}
		return out
	case []any:
		for i := range v {
			v[i] = renamed(v[i], old)
		}
	}
	return v
}

// decodeNumbers decodes JSON and keeps the digits of its numbers.
func decodeNumbers(text string, v any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return dec.Decode(v)
}

// encodeSorted encodes JSON with the keys of objects in order.
func encodeSorted(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
