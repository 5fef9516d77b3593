package highlight

import "strings"

// family is what languages have in common.
type family struct {
	// line are the marks of comments to the end of a line, block pairs of those with an end.
	line, block []string
	// quotes are the characters around strings with escapes; raw are the marks around
	// strings without, which may have several lines.
	quotes string
	raw    []string
	words  map[string]bool
	// folds says that case does not count in words; dashes that a word may have them.
	folds, dashes bool
}

func words(lists ...string) map[string]bool {
	m := make(map[string]bool)
	for _, list := range lists {
		for w := range strings.FieldsSeq(list) {
			m[w] = true
		}
	}
	return m
}

const (
	common  = "break case continue default do else for if return switch while true false"
	objects = "class new this super extends implements import package public private protected static final abstract interface enum try catch finally throw throws void null"
	types   = "int long short char float double bool boolean byte string unsigned signed const"
)

// of is the family of a language, by the words that name it in a fence; nil for text.
func of(language string) *family {
	language = strings.ToLower(language)
	for _, l := range languages {
		for name := range strings.FieldsSeq(l.names) {
			if name == language {
				f := l.family()
				return &f
			}
		}
	}
	return nil
}

var slashes = family{line: []string{"//"}, block: []string{"/*", "*/"}, quotes: `"'`}

// withWords is a family with these words.
func (f family) withWords(lists ...string) func() family {
	return func() family {
		f.words = words(lists...)
		return f
	}
}

func (f family) withRaw(marks ...string) family {
	f.raw = marks
	return f
}

var hashes = family{line: []string{"#"}, quotes: `"'`}

// languages are built when they are looked for.
var languages = []struct {
	names  string
	family func() family
}{
	{"go golang", slashes.withRaw("`").withWords(common, "chan const defer fallthrough func go goto import interface map package range select struct type var nil iota string int int64 uint byte rune bool error any float64 make len cap append new panic")},
	{"js javascript jsx mjs ts typescript tsx", slashes.withRaw("`").withWords(common, objects, "async await const let var function of in instanceof typeof undefined delete yield export from as type readonly declare namespace string number boolean any unknown never keyof")},
	{"json jsonc json5", slashes.withWords("true false null")},
	{"java kotlin kt scala groovy cs csharp c# dart swift", slashes.withRaw(`"""`).withWords(common, objects, types, "fun val var when object data sealed override func let guard struct protocol extension init self in is as using namespace async await get set internal record def trait nil")},
	{"c h cpp c++ cc hpp objc cuda glsl", slashes.withWords(common, types, "auto class delete enum extern goto inline namespace new nullptr NULL operator override private protected public register sizeof static struct template this throw try catch typedef typename union using virtual void volatile constexpr size_t #include #define #if #ifdef #ifndef #else #endif #pragma")},
	{"rust rs", family{line: []string{"//"}, block: []string{"/*", "*/"}, quotes: `"`}.withWords("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while bool char str String u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 Option Result Vec Some None Ok Err")},
	{"php", family{line: []string{"//", "#"}, block: []string{"/*", "*/"}, quotes: `"'`}.withWords(common, objects, "echo function foreach as namespace use require include array fn match elseif isset unset")},
	{"py python python3 py3 starlark bzl", hashes.withRaw(`"""`, "'''").withWords("and as assert async await break class continue def del elif else except finally for from global if import in is lambda None nonlocal not or pass raise return True False try while with yield self match case")},
	{"rb ruby", hashes.withWords("alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require attr_accessor puts")},
	{"sh bash zsh shell fish ksh", hashes.withWords("if then else elif fi for in do done while until case esac function return exit export local readonly set unset shift source echo cd test trap exec eval")},
	{"make makefile dockerfile docker", hashes.withWords("ifeq ifneq ifdef ifndef else endif include define endef export FROM RUN CMD COPY ADD ENV ARG WORKDIR ENTRYPOINT EXPOSE USER VOLUME LABEL AS")},
	{"yaml yml toml ini conf properties hcl tf terraform nix", family{line: []string{"#", ";"}, quotes: `"'`}.withRaw(`"""`, "'''").withWords("true false null yes no on off")},
	{"sql mysql postgres postgresql sqlite plsql", family{line: []string{"--"}, block: []string{"/*", "*/"}, quotes: `"'`, folds: true}.withWords("add all alter and as asc begin between by case check column commit constraint create cross database default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction union unique update using values view when where with")},
	{"lua", family{line: []string{"--"}, block: []string{"--[[", "]]"}, quotes: `"'`}.withWords("and break do else elseif end false for function goto if in local nil not or repeat return then true until while")},
	{"haskell hs elm", family{line: []string{"--"}, block: []string{"{-", "-}"}, quotes: `"`}.withWords("case class data deriving do else if import in instance let module newtype of then type where forall")},
	{"html xml svg vue", family{block: []string{"<!--", "-->"}, quotes: `"`}.withWords("")},
	{"css scss less sass", family{line: []string{"//"}, block: []string{"/*", "*/"}, quotes: `"'`, dashes: true}.withWords("@media @import @font-face @keyframes @include @mixin !important")},
	{"lisp scheme clojure clj elisp el racket", family{line: []string{";"}, quotes: `"`, dashes: true}.withWords("define lambda let let* if cond defn def defun defmacro fn do loop recur ns require nil true false begin quote")},
	{"elixir ex exs", hashes.withRaw(`"""`).withWords("def defp defmodule do end fn if else case cond when with use import alias require nil true false and or not in raise rescue try after")},
	{"proto protobuf", slashes.withWords("syntax package import message enum service rpc returns option repeated optional oneof map reserved string bytes bool int32 int64 uint32 uint64 double float true false stream")},
}
