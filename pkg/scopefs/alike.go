package scopefs

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxAlike is how many names that look the same an error lists.
const maxAlike = 5

// look is what a name looks like to a person: without the form of its accents, with plain blanks,
// quotes and dashes, in characters of the usual width, and without invisible ones. A screenshot on
// macOS has a narrow no-break space in its name, and a person types a blank.
func look(name string) string {
	if isPlain(name) {
		return name
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Zs, r):
			return ' '
		case strings.ContainsRune("‘’‚‛′ʼ´`", r):
			return '\''
		case strings.ContainsRune("“”„‟″«»", r):
			return '"'
		case unicode.Is(unicode.Pd, r), r == '−':
			return '-'
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, norm.NFKC.String(name))
}

// isPlain says that a name looks like what it is.
func isPlain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || r == '`' })
}

// Alike is the path itself if something has it, or else the one path that looks the same: each name on
// the way that nothing has becomes the only one in its directory that looks like it. If there are
// several, the error, of kind NotFound, names them; without one, the path is returned as it is.
func (f *FS) Alike(given string) (string, error) {
	if _, err := f.Stat(given); err == nil || f.wrapKind(err) != NotFound {
		return given, nil
	}
	p, err := f.locate(given)
	if err != nil || p.rel == "." {
		return given, nil
	}
	at := p.names[0]
	changed := false
	for name := range strings.SplitSeq(p.rel, "/") {
		next := path.Join(at, name)
		if _, err := f.Stat(next); f.wrapKind(err) == NotFound {
			found := f.alikeIn(at, name)
			if len(found) == 0 {
				return given, nil
			}
			if len(found) > 1 {
				return given, f.several(given, at, found)
			}
			next, changed = path.Join(at, found[0]), true
		}
		at = next
	}
	if !changed {
		return given, nil
	}
	if strings.HasPrefix(given, "/") {
		return at, nil
	}
	return f.Rel(at), nil
}

// wrapKind is the kind of an error; empty without one.
func (f *FS) wrapKind(err error) Kind {
	if e, ok := f.wrap("", err).(*PathError); ok && e != nil { //nolint:errorlint // wrap returns it bare.
		return e.Kind
	}
	return ""
}

// alikeIn are the names in a directory that look like one.
func (f *FS) alikeIn(dir, name string) (found []string) {
	entries, err := f.ReadDir(dir)
	if err != nil {
		return nil
	}
	looks := look(name)
	for _, e := range entries {
		if utf8.ValidString(e.Name()) && look(e.Name()) == looks {
			if _, err := f.allowed(path.Join(dir, e.Name())); err == nil {
				found = append(found, e.Name())
			}
		}
	}
	return found
}

// several is the error for a path that looks like several.
func (f *FS) several(given, dir string, found []string) error {
	for i, name := range found {
		found[i] = Display(f.Rel(path.Join(dir, name)))
	}
	more := ""
	if len(found) > maxAlike {
		found, more = found[:maxAlike], ", …"
	}
	return sayf(NotFound, given, nil, "does not exist, and several names look the same: write one of %s%s", strings.Join(found, ", "), more)
}

// hasLook says whether a name begins with a text, or looks like one that does.
func hasLook(name, begin string) bool {
	return strings.HasPrefix(name, begin) || begin != "" && (!isPlain(name) || !isPlain(begin)) && strings.HasPrefix(look(name), look(begin))
}

// oddBlank says whether a character is a blank that a name may have and that ends no word for a person
// who sees the name: one beyond those of a keyboard.
func oddBlank(r rune) bool { return r != ' ' && unicode.Is(unicode.Zs, r) }

// oddBlanks are where the blanks beyond those of a keyboard are in a text, from start on.
func oddBlanks(text string, start int) (at []int) {
	for i, r := range text[start:] {
		if oddBlank(r) {
			at = append(at, start+i)
		}
	}
	return at
}
