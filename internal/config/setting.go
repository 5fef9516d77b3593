package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"podd/internal/workspace/briefing"
	"podd/pkg/catalog"
)

// setting is one key of a table. It is a value, which has set; a table, which has keys;
// or any number of tables, which has begin.
type setting struct {
	// key is the last part of the whole key.
	key string
	// must says what a value has to be; errors put it after "must be".
	must string
	// set takes a TOML value; it returns false, and changes nothing, when the value is
	// invalid.
	set func(value any) bool
	// show is the value in TOML's notation; whole is the same including what show hides, and
	// nil when show hides nothing.
	show, whole func() string

	keys []*setting
	// begin starts the next table. The tables of a list have numbers, others have names.
	begin  func(t *table)
	list   bool
	tables []*table

	// variable is the environment variable that overrides the file; may be empty.
	variable string
	// hint says what the default depends on; may be empty.
	hint string
	// secret keeps a refused value out of the error, noFile the key out of the file.
	secret, noFile bool
	// required refuses a table without the key; quiet shows the key only when it is set.
	required, quiet bool
	// sample is the value in the sample file when the default does not fit there; for tables
	// their names there, separated by spaces. only is the name of the one table that has the
	// key there; empty for all.
	sample, only string

	// origin is where the value was set; empty for the default.
	origin string
}

// table is one of the tables of a setting.
type table struct {
	name string
	// path is the whole key: prices."gpt-5.1", or rule[2].
	path   string
	origin string
	keys   []*setting
	// check finds errors in the table once its keys are set; without one it adds the table
	// to the configuration.
	check func() error
}

func (t *table) key(key string) *setting { return find(t.keys, key) }

func find(keys []*setting, key string) *setting {
	if i := slices.IndexFunc(keys, func(s *setting) bool { return s.key == key }); i >= 0 {
		return keys[i]
	}
	return nil
}

// section is a table.
func section(key string, keys ...*setting) *setting { return &setting{key: key, keys: keys} }

// named is a table of tables by name, list a list of tables.
func named(key, samples string, begin func(t *table)) *setting {
	return &setting{key: key, begin: begin, sample: samples}
}

func list(key, samples string, begin func(t *table)) *setting {
	return &setting{key: key, begin: begin, list: true, sample: samples}
}

// or lets an environment variable override the file.
func (s *setting) or(variable string) *setting {
	s.variable = variable
	return s
}

// hinting says what the default depends on.
func (s *setting) hinting(hint string) *setting {
	s.hint = hint
	return s
}

// needed refuses a table without the key.
func (s *setting) needed() *setting {
	s.required = true
	return s
}

// like sets the value of the sample file, and the tables that have it there.
func (s *setting) like(sample string, only ...string) *setting {
	s.sample, s.only = sample, strings.Join(only, "")
	return s
}

// of is the setting of a variable: convert converts a TOML value.
func of[T any](key, must string, target *T, convert func(value any) (T, bool), show func(T) string) *setting {
	return &setting{
		key:  key,
		must: must,
		set: func(value any) bool {
			v, ok := convert(value)
			if ok {
				*target = v
			}
			return ok
		},
		show: func() string { return show(*target) },
	}
}

// text is a setting of text that ok accepts.
func text[T ~string](key, must string, target *T, ok func(text string) bool) *setting {
	return of(key, must, target, func(value any) (T, bool) {
		text, is := value.(string)
		return T(text), is && ok(text)
	}, func(v T) string { return quote(string(v)) })
}

// number is a setting of a whole number.
func number[T int | int64 | float64](key string, target *T, lowest, highest int64) *setting {
	return of(key, fmt.Sprintf("a whole number from %d to %d", lowest, highest), target, func(value any) (T, bool) {
		n, ok := value.(int64)
		return T(n), ok && n >= lowest && n <= highest
	}, func(v T) string { return strconv.FormatInt(int64(v), 10) })
}

// decimal is a setting of a number that may have a fraction; lowest is at least 0.
func decimal(key string, target *float64, lowest, highest float64) *setting {
	plain := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return of(key, fmt.Sprintf("a number from %s to %s", plain(lowest), plain(highest)), target, func(value any) (float64, bool) {
		f, ok := value.(float64)
		if n, whole := value.(int64); whole {
			f, ok = float64(n), true
		}
		// NaN is in no range, -0 in a range from 0.
		return math.Abs(f), ok && f >= lowest && f <= highest
	}, plain)
}

// duration is a setting of a time.
func duration(key string, target *time.Duration, lowest time.Duration) *setting {
	must := fmt.Sprintf("a duration of at least %s, such as \"2h\" or \"1h30m\"", lowest)
	return of(key, must, target, func(value any) (time.Duration, bool) {
		text, _ := value.(string)
		if days, ok := strings.CutSuffix(text, "d"); ok {
			n, err := strconv.ParseUint(days, 10, 16)
			d := time.Duration(n) * 24 * time.Hour
			return d, err == nil && d >= lowest
		}
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= lowest
	}, func(d time.Duration) string { return quote(d.String()) })
}

// choice is a setting of one of a few words.
func choice[T ~string](key string, target *T, words ...T) *setting {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, quote(string(w)))
	}
	last := len(quoted) - 1
	return text(key, strings.Join(quoted[:last], ", ")+" or "+quoted[last], target, func(text string) bool {
		return slices.Contains(words, T(text))
	})
}

// flag is a setting of true or false.
func flag(key string, target *bool) *setting {
	return of(key, "true or false", target, func(value any) (bool, bool) {
		b, ok := value.(bool)
		return b, ok
	}, strconv.FormatBool)
}

// answer is a flag that may be left open.
func answer(key string, target *catalog.Answer) *setting {
	return of(key, "true or false", target, func(value any) (catalog.Answer, bool) {
		b, ok := value.(bool)
		return catalog.AnswerOf(b), ok
	}, func(a catalog.Answer) string { return strconv.FormatBool(a != catalog.No) })
}

// prose is a setting of any text.
func prose(key string, target *string) *setting {
	return text(key, "a string", target, func(string) bool { return true })
}

// name is a setting of a word that goes into requests unchanged.
func name(key string, target *string) *setting {
	return text(key, "a name without white space", target, isName)
}

func isName(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
}

// path is a setting of the path of a file; may be empty.
func path(key string, target *string) *setting {
	return text(key, "an absolute path", target, func(text string) bool {
		return text == "" || filepath.IsAbs(text) && !strings.ContainsRune(text, 0)
	})
}

// isBase says whether a text can name base instructions.
func isBase(text string) bool {
	return text == briefing.Builtin || text == briefing.None || filepath.IsAbs(text) && !strings.ContainsRune(text, 0)
}

// texts is a setting of a list of strings that ok accepts.
func texts[T ~string](key, must string, target *[]T, ok func(text T) bool) *setting {
	return of(key, must, target, func(value any) ([]T, bool) {
		all, is := strs[T](value)
		return all, is && !slices.ContainsFunc(all, func(text T) bool { return !ok(text) })
	}, quoteAll)
}

// names is a setting of a list of words.
func names(key string, target *[]string) *setting {
	return texts(key, `a list of names without white space, such as ["a", "b"]`, target, func(text string) bool {
		return text != "" && isName(text)
	})
}

// directories is a setting of a list of absolute paths, which become clean.
func directories(key string, target *[]string) *setting {
	s := texts(key, `a list of absolute paths, such as ["/srv/data"]`, target, filepath.IsAbs)
	set := s.set
	s.set = func(value any) bool {
		ok := set(value)
		for i, dir := range *target {
			(*target)[i] = filepath.Clean(dir)
		}
		return ok
	}
	return s
}

// command is a setting of a program and its arguments, or of a line for sh.
func command(key string, target *[]string) *setting {
	must := `a command: a list of a program and its arguments, such as ["/usr/bin/env", "-i"], or a string for sh`
	return of(key, must, target, func(value any) ([]string, bool) {
		if line, ok := value.(string); ok {
			return []string{"sh", "-c", line}, strings.TrimSpace(line) != ""
		}
		words, ok := strs[string](value)
		return words, ok && len(words) > 0 && words[0] != ""
	}, func(c []string) string {
		if len(c) == 3 && c[0] == "sh" && c[1] == "-c" {
			return quote(c[2])
		}
		return quoteAll(c)
	})
}

// variables is a setting of environment entries. It does not show their values, which may
// be secret.
func variables(key string, target *[]string) *setting {
	s := texts(key, `a list of variables, such as ["NAME=value", "PASSED_ON"]`, target, func(string) bool { return true })
	s.secret, s.whole = true, s.show
	s.show = func() string {
		var shown []string
		for _, entry := range *target {
			if name, _, set := strings.Cut(entry, "="); set {
				entry = name + "=..."
			}
			shown = append(shown, entry)
		}
		return quoteAll(shown)
	}
	return s
}

// orTable lets a list of variables be a table too.
func (s *setting) orTable() *setting {
	set := s.set
	s.must += `, or a table, such as { NAME = "value" }`
	s.set = func(value any) bool {
		m, ok := value.(map[string]any)
		if !ok {
			return set(value)
		}
		entries := []any{}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			text, ok := m[name].(string)
			if !ok {
				return false
			}
			entries = append(entries, name+"="+text)
		}
		return set(entries)
	}
	return s
}

// headers is a setting of headers by name. It does not show their values, which may be
// secret.
func headers(key string, target *map[string]string) *setting {
	shown := func(show func(value string) string) func(map[string]string) string {
		return func(m map[string]string) string {
			parts := []string{}
			for _, header := range slices.Sorted(maps.Keys(m)) {
				parts = append(parts, keyText(header)+" = "+quote(show(m[header])))
			}
			return braces(parts)
		}
	}
	s := of(key, `a table of strings on one line, such as { X-Team = "blue" }`, target, func(value any) (map[string]string, bool) {
		m, ok := value.(map[string]any)
		all := map[string]string{}
		for header, v := range m {
			text, is := v.(string)
			ok = ok && is && !strings.ContainsAny(text, "\r\n\x00")
			all[header] = text
		}
		return all, ok
	}, shown(func(string) string { return "..." }))
	s.secret = true
	s.whole = func() string { return shown(strings.Clone)(*target) }
	return s
}

// address is a setting of the base address of an HTTP interface. It does not show the
// query, which may be secret.
func address(key string, target *string) *setting {
	s := of(key, "an absolute http or https URL without user or fragment, such as "+defaultBaseURL, target, func(value any) (string, bool) {
		text, _ := value.(string)
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
			u.User != nil || u.Fragment != "" {
			return "", false
		}
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
		if u.RawQuery == "" {
			u.ForceQuery = false
		}
		return u.String(), true
	}, withoutQuery)
	s.secret = true
	s.whole = func() string { return quote(*target) }
	return s
}

// database is a setting of a PostgreSQL database; may be empty. A password does not belong
// into a configuration file.
func database(key string, target *string) *setting {
	s := text(key, mustBeDatabase, target, func(text string) bool { return text == "" || isDatabase(text) })
	s.secret = true
	return s
}

const mustBeDatabase = `a URL such as "postgres://podd@db.example/podd", without a password: PGPASSWORD or ~/.pgpass has it`

func isDatabase(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	_, password := u.User.Password()
	return (u.Scheme == "postgres" || u.Scheme == "postgresql") && !password && !u.Query().Has("password")
}

// CheckDatabase refuses what store.url can't be; the error says what it must be.
func CheckDatabase(text string) error {
	if !isDatabase(text) {
		return errors.New(mustBeDatabase)
	}
	return nil
}

// endpoint is a setting of the address of one HTTP resource. It does not show the query,
// which may be secret.
func endpoint(key string, target *string, ok func(text string) bool) *setting {
	s := text(key, "an absolute http or https URL without user or fragment, such as https://example.com/mcp", target, ok)
	s.secret, s.whole = true, s.show
	s.show = func() string { return withoutQuery(*target) }
	return s
}

// withoutQuery is an address without the values of its query.
func withoutQuery(address string) string {
	shown, _, more := strings.Cut(address, "?")
	if more {
		shown += "?..."
	}
	return quote(shown)
}

// secret is a setting of a key of an HTTP interface, which goes into a header.
func secret(key string, target *Secret) *setting {
	s := of(key, "a key of printable ASCII characters on one line", target, func(value any) (Secret, bool) {
		text, ok := value.(string)
		text = strings.TrimSpace(text)
		return Secret(text), ok && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	}, Secret.String)
	s.secret, s.noFile = true, true
	s.whole = func() string { return string(*target) }
	return s
}

// strs is a list of strings.
func strs[T ~string](value any) ([]T, bool) {
	list, ok := value.([]any)
	var all []T
	for _, v := range list {
		text, is := v.(string)
		ok = ok && is
		all = append(all, T(text))
	}
	return all, ok
}
