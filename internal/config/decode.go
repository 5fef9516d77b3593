package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"podd/internal/typo"
)

// decoder sets the keys of a file from a document.
type decoder struct {
	*file
	// name is the document's in errors.
	name string
	// lines are those of a document.
	lines map[string]int
	// origins say where the values of keys are from, by their paths. A key with its default
	// has none.
	origins map[string]string
	// only are the keys that a workspace's document may have; empty for all.
	only []string
	// wrong has a sentence for each invalid key, in the order of the lines.
	wrong []string
}

func newDecoder(name string) *decoder {
	return &decoder{file: defaults(), name: name, origins: make(map[string]string)}
}

// table is one of the tables of a key that has any number.
type table struct {
	name string
	// path is the whole key: prices."gpt-5.1", or rule[2].
	path    string
	origin  string
	origins map[string]string
}

func (t *table) open(as table) { *t = as }

// at is where a key of the table was set; empty for its default.
func (t *table) at(key string) string { return t.origins[join(t.path, key)] }

// keys are those of the whole document.
func (d *decoder) keys() []key {
	return slices.DeleteFunc(keysOf(reflect.ValueOf(d.file).Elem()), func(k key) bool {
		return len(d.only) > 0 && !slices.Contains(d.only, k.name)
	})
}

// decode reads a document and returns a sentence for each invalid key.
func (d *decoder) decode(text []byte) (wrong []string) {
	doc, bad := parse(text)
	if bad != nil {
		return []string{fmt.Sprintf("%s:%d: this is not TOML: %s", d.name, bad.line, bad.message)}
	}
	d.lines = doc.lines
	d.table("", d.keys(), doc.root)
	return d.wrong
}

func (d *decoder) where(path string) string { return fmt.Sprintf("%s:%d", d.name, d.lines[path]) }

func (d *decoder) refuse(path, format string, args ...any) {
	d.wrong = append(d.wrong, d.where(path)+": "+fmt.Sprintf(format, args...))
}

// table sets the keys of a table.
func (d *decoder) table(path string, keys []key, values map[string]any) {
	ordered := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(d.lines[join(path, a)]-d.lines[join(path, b)], strings.Compare(a, b))
	})
	for _, name := range ordered {
		at := join(path, name)
		k, others := find(keys, name), find(keys, "*")
		switch {
		case k != nil && !k.hidden && k != others:
			d.set(at, *k, values[name])
		case path == "" && len(d.only) > 0:
			d.refuse(at, "the configuration of a workspace cannot set %s: it has instructions and rules that ask or deny, and the rest belongs into your own configuration", at)
		case others != nil:
			d.element(at, name, *others, values[name])
		default:
			d.refuse(at, "unknown key %s%s", at, d.unknown(path, name, keys, values[name]))
		}
	}
}

func (d *decoder) set(path string, k key, value any) {
	values, isTableToo := value.(map[string]any)
	switch kind := k.kind(); {
	case kind == isList:
		list, ok := value.([]any)
		if !ok || slices.ContainsFunc(list, func(v any) bool { _, is := v.(map[string]any); return !is }) {
			d.refuse(path, "%s must be a list of tables, with [[%[1]s]] on a line before each; it is %s", path, describe(value))
			return
		}
		for i, v := range list {
			d.element(numbered(path, i+1), "", k, v)
		}
	case kind != isValue && !isTableToo:
		d.refuse(path, "%s must be a table, with [%[1]s] on a line of its own; it is %s", path, describe(value))
	case kind == isNamed:
		for _, name := range slices.Sorted(maps.Keys(values)) {
			d.element(join(path, name), name, k, values[name])
		}
	case kind == isTable:
		d.table(path, k.keys(), values)
	case k.set(value):
		d.origins[path] = d.where(path)
	case k.format().secret:
		d.refuse(path, "%s must be %s", path, k.must())
	default:
		d.refuse(path, "%s must be %s; it is %s", path, k.must(), describe(value))
	}
}

// element adds a table to those of a key that has any number.
func (d *decoder) element(path, name string, k key, value any) {
	values, ok := value.(map[string]any)
	if !ok {
		d.refuse(path, "%s must be a table, with [%[1]s] on a line of its own; it is %s", path, describe(value))
		return
	}
	all := k.value
	e := reflect.New(all.Type().Elem().Elem())
	if t, ok := e.Interface().(interface{ open(table) }); ok {
		t.open(table{name, path, d.where(path), d.origins})
	}
	if t, ok := e.Interface().(interface{ begin() }); ok {
		t.begin()
	}
	before, keys := len(d.wrong), keysOf(e.Elem())
	d.table(path, keys, values)
	for _, k := range keys {
		if k.required && d.origins[join(path, k.name)] == "" {
			d.refuse(path, "%s has no %s: set it to %s", label(path), k.name, k.must())
		}
	}
	if t, ok := e.Interface().(interface{ check() error }); ok {
		if err := t.check(); err != nil {
			if len(d.wrong) == before {
				d.wrong = append(d.wrong, err.Error())
			}
			return
		}
	}
	if all.Kind() == reflect.Slice {
		all.Set(reflect.Append(all, e))
		return
	}
	if all.IsNil() {
		all.Set(reflect.MakeMap(all.Type()))
	}
	all.SetMapIndex(reflect.ValueOf(name), e)
}

// label is the header of a table, as a person writes it.
func label(path string) string {
	if list, _, ok := strings.Cut(path, "["); ok && strings.HasSuffix(path, "]") {
		return "[[" + list + "]]"
	}
	return "[" + path + "]"
}

// unknown says what to do about an unknown key.
func (d *decoder) unknown(path, name string, keys []key, value any) string {
	if strings.HasPrefix(path, "endpoints.") && (name == keyAPIKey || name == "key") {
		return ": a key has no place in the file: set key_env, key_file or key_command"
	}
	if name == keyAPIKey {
		return ": the API key comes from OPENAI_API_KEY in podd's environment, or from the file that api_key_file names"
	}
	var known, labels []string
	for _, k := range keys {
		if !k.hidden {
			known, labels = append(known, k.name), append(labels, k.label())
		}
	}
	if near := typo.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	if _, isTable := value.(map[string]any); isTable && strings.Contains(path, ".") {
		parent, last := path[:strings.LastIndex(path, ".")], path[strings.LastIndex(path, ".")+1:]
		return fmt.Sprintf(": [%s] has %s; a name with a dot is written in quotes, as in [%s.%s]", path, strings.Join(labels, ", "), parent, quote(last+"."+name))
	}
	for _, k := range d.keys() {
		if k.kind() == isTable && find(k.keys(), name) != nil {
			return "; did you mean " + join(k.name, name) + "?"
		}
	}
	if path == "" {
		return ": podd knows " + strings.Join(labels, ", ")
	}
	return ": " + label(path) + " has " + strings.Join(labels, ", ")
}
