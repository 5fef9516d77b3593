package repomap

import (
	"path"
	"regexp"
	"strings"

	"podd/pkg/lazy"
)

// language finds the definitions of a file: the first group that matched, for each match
// in a line, is the name.
type language struct {
	extensions string
	definition func() *regexp.Regexp
}

// modifiers may precede a declaration in the languages that resemble Java.
const modifiers = `(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|sealed|open|override|async|data|inline|suspend|partial|readonly|virtual|unsafe|const|extern|pub(?:\([^)]*\))?|case|implicit|lazy|fileprivate|mutating|inner|companion|@\w+)\s+)*`

// languages are the known ones besides Go. They omit what a regular expression cannot
// tell from a use.
var languages = []language{
	{".py .pyi", lazy.Regexp(`^\s*(?:async\s+)?(?:class|def)\s+(\w+)`)},
	{".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte", lazy.Regexp(
		`^\s*` + modifiers + `(?:(?:function\*?|class|interface|enum|namespace|type)\s+([\w$]+)|(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>))` +
			`|^export\s+(?:const|let|var)\s+([\w$]+)`)},
	{".rs", lazy.Regexp(`^\s*` + modifiers + `(?:fn|struct|enum|union|trait|type|mod|macro_rules!)\s+(\w+)`)},
	{".java .kt .kts .cs .scala .groovy .swift .dart", lazy.Regexp(
		`^\s*` + modifiers + `(?:(?:class|interface|@interface|enum|record|object|trait|protocol|struct|extension|typealias|fun|func|def)\s+(?:class\s+)?(?:<[^>]*>\s*)?(?:\w+\.)?(\w+)` +
			`|(?:public|private|protected|internal|static)\s+[\w<>\[\],.? ]*?(\w+)\s*\([^;]*$)`)},
	{".c .h .cc .cpp .cxx .hpp .hh .hxx .m .mm .cu", lazy.Regexp(
		`^(?:typedef\s+)?(?:struct|class|union|enum(?:\s+class)?|namespace)\s+(\w+)[^;()]*$|^#define\s+(\w+)` +
			`|^(?:[A-Za-z_][\w:<>,*&]*\s+)+[*&]*((?:\w+::)*~?\w+)\s*\([^;]*$`)},
	{".rb .rake", lazy.Regexp(`^\s*(?:class|module|def)\s+(?:self\.)?(?:\w+::)*(\w+[?!]?)`)},
	{".php", lazy.Regexp(`^\s*` + modifiers + `(?:class|interface|trait|enum|function)\s+&?(\w+)`)},
	{".lua", lazy.Regexp(`^\s*(?:local\s+)?function\s+(?:\w+[.:])*(\w+)`)},
	{".sh .bash .zsh", lazy.Regexp(`^\s*(?:function\s+(\w+)|(\w+)\s*\(\)\s*[{(]?\s*$)`)},
	{".ex .exs", lazy.Regexp(`^\s*(?:defmodule|defp?|defmacro|defprotocol)\s+(?:\w+\.)*(\w+)`)},
	{".proto", lazy.Regexp(`^\s*(?:message|service|enum|rpc)\s+(\w+)`)},
	{".zig", lazy.Regexp(`^\s*(?:pub\s+)?(?:fn\s+(\w+)|const\s+(\w+)\s*=\s*(?:packed |extern )?(?:struct|enum|union))`)},
	{".sql", lazy.Regexp(`(?i)^\s*create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure)\s+(?:if\s+not\s+exists\s+)?["\x60]?(\w+)`)},
}

// goExtension belongs to the one language with a parser.
const goExtension = ".go"

// Knows says whether the definitions of a file with this name can be found.
func Knows(name string) bool {
	ext := path.Ext(name)
	return ext == goExtension || languageOf(ext) != nil
}

func languageOf(ext string) *language {
	if ext == "" {
		return nil
	}
	for i, l := range languages {
		for known := range strings.FieldsSeq(l.extensions) {
			if known == ext {
				return &languages[i]
			}
		}
	}
	return nil
}
