package repomap

import (
	"go/scanner"
	"go/token"
	"iter"
	"path"
	"strings"
)

// words yields the possible names in a file: in Go the identifiers that are not
// predeclared, elsewhere everything that looks like one, including comments and strings.
func words(name string, text []byte) iter.Seq[string] {
	if path.Ext(name) == goExtension {
		return goWords(text)
	}
	return func(yield func(string) bool) {
		for i := 0; i < len(text); {
			end := i
			for end < len(text) && (startsWord(text[end]) || end > i && isDigit(text[end])) {
				end++
			}
			if end == i {
				i++
				continue
			}
			if !yield(string(text[i:end])) {
				return
			}
			i = end
		}
	}
}

// predeclared are the names of Go's universe. Package go/types has them too, but takes a hundredth
// of the time to build podd.
var predeclared = wordSet(`any append bool byte cap clear close comparable complex complex128
	complex64 copy delete error false float32 float64 imag int int16 int32 int64 int8 iota len make
	max min new nil panic print println real recover rune string true uint uint16 uint32 uint64
	uint8 uintptr`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

func goWords(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		set := token.NewFileSet()
		var s scanner.Scanner
		s.Init(set.AddFile("", -1, len(text)), text, nil, 0)
		for {
			_, kind, word := s.Scan()
			if kind == token.EOF {
				return
			}
			if kind == token.IDENT && !predeclared[word] && !yield(word) {
				return
			}
		}
	}
}

func startsWord(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// family is the language of a file; files of one family share their names.
func family(name string) string {
	if ext := path.Ext(name); ext == goExtension {
		return ext
	} else if l := languageOf(ext); l != nil {
		return l.extensions
	}
	return ""
}

// isTest says whether a file is a test: it shows what the others are for, and they do not
// use it.
func isTest(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch part {
		case "test", "tests", "testdata", "__tests__", "spec", "fixtures":
			return true
		}
	}
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	return strings.HasSuffix(base, "_test") || strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_spec") ||
		strings.HasSuffix(base, ".test") || strings.HasSuffix(base, ".spec") || base == "conftest"
}
