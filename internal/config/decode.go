package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"podd/internal/typo"
)

// decoder sets settings from a document.
type decoder struct {
	// file is the document's name in errors.
	file string
	document
	// root are the settings of the whole document.
	root []*setting
	// project says that the document is a workspace's, which may have only root.
	project bool
	// wrong has a sentence for each invalid key, in the order of the lines.
	wrong []string
}

// decode reads a document and returns a sentence for each invalid key.
func (d *decoder) decode(text []byte) (wrong []string) {
	doc, bad := parse(text)
	if bad != nil {
		return []string{fmt.Sprintf("%s:%d: this is not TOML: %s", d.file, bad.line, bad.message)}
	}
	d.document = doc
	d.table("", d.root, doc.root)
	return d.wrong
}

func (d *decoder) where(path string) string { return fmt.Sprintf("%s:%d", d.file, d.lines[path]) }

func (d *decoder) refuse(path, format string, args ...any) {
	d.wrong = append(d.wrong, d.where(path)+": "+fmt.Sprintf(format, args...))
}

// table sets the keys of a table.
func (d *decoder) table(path string, keys []*setting, values map[string]any) {
	ordered := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(d.lines[join(path, a)]-d.lines[join(path, b)], strings.Compare(a, b))
	})
	for _, key := range ordered {
		at := join(path, key)
		switch s := find(keys, key); {
		case s != nil && !s.noFile:
			d.set(at, s, values[key])
		case d.project && path == "":
			d.refuse(at, "the configuration of a workspace cannot set %s: it has instructions and rules that ask or deny, and the rest belongs into your own configuration", at)
		default:
			d.refuse(at, "unknown key %s%s", at, d.unknown(path, key, keys, values[key]))
		}
	}
}

func (d *decoder) set(path string, s *setting, value any) {
	values, isTable := value.(map[string]any)
	switch {
	case s.set == nil && !s.list && !isTable:
		d.refuse(path, "%s must be a table, with [%[1]s] on a line of its own; it is %s", path, describe(value))
	case s.list:
		d.list(path, s, value)
	case s.begin != nil:
		for _, name := range slices.Sorted(maps.Keys(values)) {
			d.one(join(path, name), s, name, values[name])
		}
	case s.keys != nil:
		d.table(path, s.keys, values)
	case s.set(value):
		s.origin = d.where(path)
	case s.secret:
		d.refuse(path, "%s must be %s", path, s.must)
	default:
		d.refuse(path, "%s must be %s; it is %s", path, s.must, describe(value))
	}
}

// list sets the tables of a list.
func (d *decoder) list(path string, s *setting, value any) {
	list, ok := value.([]any)
	if !ok || slices.ContainsFunc(list, func(v any) bool { _, is := v.(map[string]any); return !is }) {
		d.refuse(path, "%s must be a list of tables, with [[%[1]s]] on a line before each; it is %s", path, describe(value))
		return
	}
	for i, v := range list {
		d.one(element(path, i+1), s, "", v)
	}
}

// one sets one of the tables of a setting.
func (d *decoder) one(path string, s *setting, name string, value any) {
	values, ok := value.(map[string]any)
	if !ok {
		d.refuse(path, "%s must be a table, with [%[1]s] on a line of its own; it is %s", path, describe(value))
		return
	}
	before := len(d.wrong)
	t := s.open(path, name, d.where(path))
	d.table(path, t.keys, values)
	for _, key := range t.keys {
		if key.required && key.origin == "" {
			d.refuse(path, "%s has no %s: set it to %s", label(path), key.key, key.must)
		}
	}
	if t.check == nil {
		return
	}
	if err := t.check(); err != nil && len(d.wrong) == before {
		d.wrong = append(d.wrong, err.Error())
	}
}

// open is the table with a name, begun if it is new; without a name it is always new.
func (s *setting) open(path, name, origin string) *table {
	if i := slices.IndexFunc(s.tables, func(t *table) bool { return t.name == name }); i >= 0 && !s.list {
		return s.tables[i]
	}
	t := &table{name: name, path: path, origin: origin}
	s.begin(t)
	s.tables = append(s.tables, t)
	return t
}

// label is the header of a table, as a person writes it.
func label(path string) string {
	if list, _, ok := strings.Cut(path, "["); ok && strings.HasSuffix(path, "]") {
		return "[[" + list + "]]"
	}
	return "[" + path + "]"
}

// unknown says what to do about an unknown key.
func (d *decoder) unknown(path, key string, keys []*setting, value any) string {
	if strings.HasPrefix(path, keyEndpoints+".") && (key == keyAPIKey || key == "key") {
		return ": a key has no place in the file: set key_env, key_file or key_command"
	}
	if key == keyAPIKey {
		return ": the API key comes from OPENAI_API_KEY in podd's environment, or from the file that api_key_file names"
	}
	var known, labels []string
	for _, s := range keys {
		if !s.noFile {
			known, labels = append(known, s.key), append(labels, s.label())
		}
	}
	if near := typo.Nearest(key, known); near != "" {
		return "; did you mean " + near + "?"
	}
	if _, isTable := value.(map[string]any); isTable && strings.Contains(path, ".") {
		parent, name := path[:strings.LastIndex(path, ".")], path[strings.LastIndex(path, ".")+1:]
		return fmt.Sprintf(": [%s] has %s; a name with a dot is written in quotes, as in [%s.%s]", path, strings.Join(labels, ", "), parent, quote(name+"."+key))
	}
	for _, s := range d.root {
		if find(s.keys, key) != nil {
			return "; did you mean " + join(s.key, key) + "?"
		}
	}
	if path == "" {
		return ": podd knows " + strings.Join(labels, ", ")
	}
	return ": " + label(path) + " has " + strings.Join(labels, ", ")
}

// label is a key as a list of keys names it.
func (s *setting) label() string {
	switch {
	case s.list:
		return "[[" + s.key + "]]"
	case s.begin != nil:
		return "[" + s.key + ".NAME]"
	case s.keys != nil:
		return "[" + s.key + "]"
	}
	return s.key
}
