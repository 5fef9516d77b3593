package config

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"podd/pkg/catalog"
)

// key is a key of a table: a field of its struct.
type key struct {
	name string
	// value is the field, which can be set.
	value                   reflect.Value
	tag                     reflect.StructTag
	required, quiet, hidden bool
}

// kind says what the value of a key is.
type kind int

const (
	isValue kind = iota
	isTable
	isNamed // Tables by name.
	isList  // Tables in a list.
)

func (k key) kind() kind {
	switch t := k.value.Type(); {
	case t.Kind() == reflect.Struct:
		return isTable
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Pointer:
		return isNamed
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Pointer:
		return isList
	}
	return isValue
}

// label is a key as a list of keys names it.
func (k key) label() string {
	switch kind := k.kind(); {
	case kind == isList:
		return "[[" + k.name + "]]"
	case kind == isNamed, kind == isTable && find(k.keys(), "*") != nil:
		return "[" + k.name + ".NAME]"
	case kind == isTable:
		return "[" + k.name + "]"
	}
	return k.name
}

// keysOf are the keys of a table, with those of embedded structs.
func keysOf(table reflect.Value) (keys []key) {
	for i := range table.NumField() {
		field := table.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("toml"), ",")
		has := func(option string) bool { return slices.Contains(strings.Split(options, ","), option) }
		k := key{name: name, value: table.Field(i), tag: field.Tag, required: has("required"), quiet: has("quiet"), hidden: has("hidden")}
		switch {
		case field.Anonymous:
			keys = append(keys, k.keys()...)
		case name != "":
			keys = append(keys, k)
		}
	}
	return keys
}

// keys are those of the table that a key is. If the key is quiet, they are.
func (k key) keys() []key { return k.keysOf(k.value) }

func (k key) keysOf(table reflect.Value) []key {
	keys := keysOf(table)
	for i := range keys {
		keys[i].quiet = keys[i].quiet || k.quiet
	}
	return keys
}

func find(keys []key, name string) *key {
	if i := slices.IndexFunc(keys, func(k key) bool { return k.name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// elements are the tables of a key that has any number, by their paths: in the order of
// their names, or of the list.
func (k key) elements(path string) (elements []element) {
	switch k.kind() {
	case isNamed:
		names := k.value.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, name := range names {
			elements = append(elements, element{join(path, name.String()), k.keysOf(k.value.MapIndex(name).Elem())})
		}
	case isList:
		for i := range k.value.Len() {
			elements = append(elements, element{numbered(path, i+1), k.keysOf(k.value.Index(i).Elem())})
		}
	}
	return elements
}

type element struct {
	path string
	keys []key
}

func (k key) format() format { return formats[k.tag.Get("is")] }

// must says what a value has to be; errors put it after "must be".
func (k key) must() string {
	if words, ok := k.tag.Lookup("oneof"); ok {
		quoted := strings.Fields(words)
		for i, word := range quoted {
			quoted[i] = quote(word)
		}
		last := len(quoted) - 1
		return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
	}
	from, to, _ := strings.Cut(k.tag.Get("range"), " ")
	switch k.value.Interface().(type) {
	case time.Duration:
		return "a duration of at least " + k.least().String() + `, such as "2h" or "1h30m"`
	case int, int64:
		return "a whole number from " + from + " to " + to
	case float64:
		return "a number from " + from + " to " + to
	case bool, catalog.Answer:
		return "true or false"
	}
	return cmp.Or(k.format().must, "a string")
}

func (k key) least() time.Duration {
	least, _ := time.ParseDuration(k.tag.Get("least")) // TestTags parses each.
	return least
}

// set takes a TOML value. It returns false, and changes nothing, when the value is invalid.
func (k key) set(value any) (ok bool) {
	var v reflect.Value
	switch k.value.Interface().(type) {
	case time.Duration:
		var d time.Duration
		d, ok = asDuration(value)
		v, ok = reflect.ValueOf(d), ok && d >= k.least()
	case int, int64:
		n, whole := value.(int64)
		v, ok = reflect.ValueOf(n), whole && k.within(float64(n))
	case float64:
		f, is := asFloat(value)
		// NaN is in no range, -0 in a range from 0.
		v, ok = reflect.ValueOf(math.Abs(f)), is && k.within(f)
	case bool:
		v = reflect.ValueOf(value)
		_, ok = value.(bool)
	case catalog.Answer:
		var yes bool
		yes, ok = value.(bool)
		v = reflect.ValueOf(catalog.AnswerOf(yes))
	default:
		return k.setFormatted(value)
	}
	if ok {
		k.value.Set(v.Convert(k.value.Type()))
	}
	return ok
}

// setFormatted takes text, or what a format makes of a TOML value.
func (k key) setFormatted(value any) (ok bool) {
	f := k.format()
	if f.from != nil {
		if value, ok = f.from(value); !ok {
			return false
		}
	}
	if words, has := k.tag.Lookup("oneof"); has {
		f.ok = func(text string) bool { return slices.Contains(strings.Fields(words), text) }
	}
	fits := func(text string) bool { return f.ok == nil || f.ok(text) }
	if list, is := value.([]any); is {
		if k.value.Kind() != reflect.Slice {
			return false
		}
		all := reflect.Zero(k.value.Type())
		for _, v := range list {
			text, is := v.(string)
			if !is || !fits(text) {
				return false
			}
			all = reflect.Append(all, reflect.ValueOf(text).Convert(all.Type().Elem()))
		}
		value = all.Interface()
	} else if text, is := value.(string); is && (k.value.Kind() != reflect.String || !fits(text)) {
		return false
	}
	v := reflect.ValueOf(value)
	if v.Kind() != k.value.Kind() || !v.CanConvert(k.value.Type()) {
		return false
	}
	k.value.Set(v.Convert(k.value.Type()))
	return true
}

// within says whether a number is in the range of a key.
func (k key) within(n float64) bool {
	from, to, _ := strings.Cut(k.tag.Get("range"), " ")
	lowest, _ := strconv.ParseFloat(from, 64)
	highest, _ := strconv.ParseFloat(to, 64)
	return n >= lowest && n <= highest
}

func asFloat(value any) (float64, bool) {
	if n, whole := value.(int64); whole {
		return float64(n), true
	}
	f, ok := value.(float64)
	return f, ok
}

// asDuration also reads days, such as "3d".
func asDuration(value any) (time.Duration, bool) {
	text, _ := value.(string)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// shown is the value in TOML's notation, without what is secret.
func (k key) shown() string {
	if s, ok := k.value.Interface().(Secret); ok {
		return s.String()
	}
	mask := k.format().mask
	if mask == nil {
		return k.whole()
	}
	return k.inTOML(mask)
}

// whole is the value in TOML's notation, including what is secret.
func (k key) whole() string { return k.inTOML(func(text string) string { return text }) }

func (k key) inTOML(mask func(string) string) string {
	switch v := k.value.Interface().(type) {
	case catalog.Answer:
		return strconv.FormatBool(v != catalog.No)
	case []string:
		if k.tag.Get("is") == "command" && len(v) == 3 && v[0] == "sh" && v[1] == "-c" {
			return quote(v[2])
		}
	case string:
		if k.format().bare {
			return v
		}
	}
	return inTOML(k.value, mask)
}
