package config

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// setting is one key, bound to the variable that it sets.
type setting struct {
	key string
	// must says what a value has to be, to stand after "must be".
	must string
	// set takes a value as TOML has it; false, with nothing changed, when it is
	// not what it must be.
	set func(value any) bool
	// show is the variable in TOML's notation.
	show func() string
	// hidden keeps a refused value out of the error: it may hold a password.
	hidden bool
	// variable is the environment variable that goes before the file; may be empty.
	variable string
	// noFile says that the file must not have it.
	noFile bool
	// hint says what the default hangs on; may be empty.
	hint string
}

// or lets an environment variable go before the file.
func (s setting) or(variable string) setting {
	s.variable = variable
	return s
}

// hinting says what the default hangs on.
func (s setting) hinting(hint string) setting {
	s.hint = hint
	return s
}

func number[T int | int64](key string, target *T, lowest, highest T) setting {
	return setting{
		key:  key,
		must: fmt.Sprintf("a whole number from %d to %d", lowest, highest),
		set: func(value any) bool {
			n, ok := value.(int64)
			if !ok || n < int64(lowest) || n > int64(highest) {
				return false
			}
			*target = T(n)
			return true
		},
		show: func() string { return strconv.FormatInt(int64(*target), 10) },
	}
}

// decimal sets a variable to a number that may have a fraction; lowest is at least 0.
func decimal(key string, target *float64, lowest, highest float64) setting {
	plain := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return setting{
		key:  key,
		must: fmt.Sprintf("a number from %s to %s", plain(lowest), plain(highest)),
		set: func(value any) bool {
			f, ok := value.(float64)
			if n, whole := value.(int64); whole {
				f, ok = float64(n), true
			}
			// NaN is in no range.
			if !ok || !(f >= lowest && f <= highest) {
				return false
			}
			*target = math.Abs(f) // -0 is in a range from 0.
			return true
		},
		show: func() string { return plain(*target) },
	}
}

func duration(key string, target *time.Duration, lowest time.Duration) setting {
	return setting{
		key:  key,
		must: fmt.Sprintf("a duration of at least %s, such as \"2h\" or \"1h30m\"", lowest),
		set: func(value any) bool {
			text, ok := value.(string)
			if !ok {
				return false
			}
			d, err := time.ParseDuration(text)
			if err != nil || d < lowest {
				return false
			}
			*target = d
			return true
		},
		show: func() string { return quote(target.String()) },
	}
}

// choice sets a variable to one of a few words.
func choice[T ~string](key string, target *T, words ...T) setting {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(string(w))
	}
	last := len(quoted) - 1
	return setting{
		key:  key,
		must: strings.Join(quoted[:last], ", ") + " or " + quoted[last],
		set: func(value any) bool {
			text, ok := value.(string)
			if !ok || !slices.Contains(words, T(text)) {
				return false
			}
			*target = T(text)
			return true
		},
		show: func() string { return quote(string(*target)) },
	}
}

// flag sets a variable to true or false.
func flag(key string, target *bool) setting {
	return setting{
		key:  key,
		must: "true or false",
		set: func(value any) bool {
			b, ok := value.(bool)
			if ok {
				*target = b
			}
			return ok
		},
		show: func() string { return strconv.FormatBool(*target) },
	}
}

// prose sets a variable to any text.
func prose(key string, target *string) setting {
	return setting{
		key:  key,
		must: "a string",
		set: func(value any) bool {
			text, ok := value.(string)
			if ok {
				*target = text
			}
			return ok
		},
		show: func() string { return quote(*target) },
	}
}

// name sets a variable to a word that goes into requests as it stands.
func name(key string, target *string) setting {
	return setting{
		key:  key,
		must: "a name without white space",
		set: func(value any) bool {
			text, ok := value.(string)
			if !ok || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
				return false
			}
			*target = text
			return true
		},
		show: func() string { return quote(*target) },
	}
}

// names sets a variable to a list of words.
func names(key string, target *[]string) setting {
	return setting{
		key:  key,
		must: `a list of names without white space, such as ["a", "b"]`,
		set: func(value any) bool {
			list, ok := value.([]any)
			var words []string
			for _, v := range list {
				var word string
				ok = ok && name(key, &word).set(v) && word != ""
				words = append(words, word)
			}
			if ok {
				*target = words
			}
			return ok
		},
		show: func() string { return quoteAll(*target) },
	}
}

// address sets a variable to the base of an HTTP interface.
func address(key string, target *string) setting {
	return setting{
		key:    key,
		must:   "an absolute http or https URL without user, query or fragment, such as " + defaultBaseURL,
		hidden: true,
		set: func(value any) bool {
			text, ok := value.(string)
			if !ok {
				return false
			}
			u, err := url.Parse(strings.TrimSpace(text))
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
				u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
				return false
			}
			*target = strings.TrimRight(u.String(), "/")
			return true
		},
		show: func() string { return quote(*target) },
	}
}

// secret sets a variable to a key of an HTTP interface, which goes into a header.
func secret(key string, target *Secret) setting {
	return setting{
		key:    key,
		must:   "a key of printable ASCII characters on one line",
		hidden: true,
		noFile: true,
		set: func(value any) bool {
			text, ok := value.(string)
			text = strings.TrimSpace(text)
			if !ok || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
				return false
			}
			*target = Secret(text)
			return true
		},
		show: func() string { return target.String() },
	}
}
