package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"podd/pkg/lazy"
)

// plainReaders are programs that only read and print, whatever their arguments.
var plainReaders = strings.Fields("basename cat cd cksum cmp comm cut df diff dirname du echo egrep expand false fgrep fold grep head id jq join ls md5sum nl od paste " +
	"ps pwd readlink realpath rev seq sha1sum sha256sum sleep stat strings tac tail tr true type uname wc which whoami")

// readers are programs that only read and print with the options that these patterns
// match: any other option may write a file or run a program.
var readers = map[string]func() *regexp.Regexp{
	"[":      tests,
	"test":   tests,
	"fd":     only(`-[HIusgFapi0L]+|-[detES].*|--(hidden|no-ignore|glob|fixed-strings|absolute-path|type|extension|exclude|max-depth|color)`),
	"find":   only(`-(L|H|P|a|and|o|or|not|[acm](min|time|newer)|depth|empty|executable|follow|group|i?(l?name|path|regex|wholename)|inum|links|ls|(max|min)depth|mount|newer|newermt|perm|print0?|printf|prune|quit|readable|regextype|samefile|size|true|type|user|writable|xdev)`),
	"printf": only(`-[^v].*`),
	"rg": only(`-[acFHhiLlNnoPpqSsUuvwx0.]*([ABCefgjmMrtT].*)?|--(files|hidden|no-ignore|count|files-with(out)?-match(es)?|ignore-case|smart-case|fixed-strings|word-regexp|(no-)?line-number|(no-)?heading|only-matching|` +
		`invert-match|multiline|pcre2|stats|json|vimgrep|column|(with|no)-filename|null|text|trim|i?glob|type|type-not|color|max-count|(after-|before-)?context|sort|max-depth|replace)`),
	"sort": only(`-[bcCdfghiMnRrsuVz]*([kt].*)?|--(numeric-sort|reverse|unique|human-numeric-sort|version-sort|ignore-case|stable|check|key|field-separator)`),
	"tar":  only(`-[tvfzjJ]+|--(list|verbose|gzip|bzip2|xz|zstd|file|exclude)`),
	"uniq": only(`-[cdDiuz]*([fsw].*)?|--(count|repeated|unique|ignore-case|skip-fields|skip-chars|check-chars)`),
	"xxd":  only(`-([abeEipu]|ps)|-[cgl][0-9]+`),

	"git diff": log, "git log": log, "git show": log,
	"git status": only(`-[bsuvz]+|--(short|branch|long|verbose|show-stash|porcelain|ignored|untracked-files)`),
}

var (
	tests = only(`-([a-hknpr-uwxzGLNOS]|ef|eq|ge|gt|le|lt|ne|nt|ot)`)
	log   = only(`-[abBcCDFEgGiLmMnpPRsuwWz]*([nSGLU].*)?|--(abbrev-commit|all|binary|branches|cached|check|cherry-pick|compact-summary|date-order|exit-code|find-renames|first-parent|follow|full-index|` +
		`graph|histogram|ignore-all-space|ignore-space-change|left-right|merge-base|merges|minimal|name-only|name-status|no-(color|ext-diff|merges|patch|prefix|renames|textconv)|not|numstat|oneline|` +
		`patch|patience|quiet|raw|relative|remotes|reverse|shortstat|source|staged|summary|tags|text|topo-order|` +
		`after|author|before|date|diff-filter|format|grep|max-count|since|skip|unified|until|color|decorate|dirstat|pretty|stat|word-diff)`)
)

// only is the pattern of these options, of their values after =, and of numbers.
func only(options string) func() *regexp.Regexp {
	return lazy.Regexp(`(?s)^(-[0-9]+[a-zA-Z]?|(` + options + `)(=.*)?)$`)
}

// quietVerbs are commands of git that write, but run nothing that their words name.
var quietVerbs = strings.Fields("add branch blame checkout commit describe init ls-files mv reset restore rev-parse rm stash switch tag")

// guards are the options with which git's other commands, go, and programs that reach
// other machines run a program or write a file.
var guards = map[string][]string{
	"go":            {"-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"},
	"rsync":         {"-e", "--rsh", "--rsync-path"},
	"scp":           {"-o", "-S"},
	"sftp":          {"-o", "-S"},
	"git":           {"--upload-pack", "--receive-pack", "--exec", "--extcmd", "--open-files-in-pager", "--ext-diff", "--textconv", "--output"},
	"git clone":     {"-c", "-u", "--config", "--template"},
	"git grep":      {"-O"},
	"git rebase":    {"-x"},
	"git difftool":  {"-x"},
	"git submodule": {"foreach"},
}

// beyond says of each word of a command whether it may make the program write a file or
// run another one; no wildcard of a rule that allows matches such a word.
func beyond(words []string) []bool {
	bad := make([]bool, len(words))
	program, from := path.Base(words[0]), 1
	verb := program
	if len(words) > 1 {
		verb += " " + words[1]
	}
	options := readers[program]
	if program == "git" {
		options, from = readers[verb], 2
	}
	if options != nil {
		beyondReading(options(), program, words[from:], bad[from:])
		return bad
	}
	against, run := slices.Concat(guards[program], guards[verb]), runVerb(words)
	for i := 1; i < len(words); i++ {
		bad[i] = i == run || isGuarded(words[i], against)
	}
	return bad
}

func beyondReading(options *regexp.Regexp, program string, words []string, bad []bool) {
	operands, ended := 0, false
	for i, w := range words {
		switch {
		case ended || w == "-" || !strings.HasPrefix(w, "-"):
			operands++
			// These write their second file. A program opens an archive host:file, and any other
			// use than listing may unpack.
			bad[i] = operands > 1 && (program == "uniq" || program == "xxd") || program == "tar" && strings.Contains(w, ":")
			ended = ended || program == "printf"
		case w == "--":
			ended = true
		default:
			bad[i] = !options.MatchString(w)
		}
		if program == "tar" && i == 0 && w != "--list" {
			bad[i] = strings.Trim(w, "-tvfzjJ") != "" || !strings.Contains(w, "t")
		}
	}
}

// isGuarded says whether a word is one of the guards, abbreviated or with a value.
func isGuarded(word string, guards []string) bool {
	name, _, _ := strings.Cut(word, "=")
	for _, g := range guards {
		switch {
		case name == g:
			return true
		case strings.HasPrefix(g, "--") && len(name) > 3 && strings.HasPrefix(g, name):
			return true
		case len(g) == 2 && g[0] == '-' && len(name) > 1 && name[0] == '-' && name[1] != '-' && strings.Contains(name, g[1:]):
			return true
		}
	}
	return false
}

// inert says whether a command runs nothing that its words name, as far as they are
// known.
func inert(words []word) bool {
	if len(words) == 0 || !words[0].known {
		return false
	}
	program := strings.TrimPrefix(strings.TrimPrefix(words[0].text, "/usr"), "/bin/")
	git := program == "git" && len(words) > 1
	if slices.Contains(plainReaders, program) || git && slices.Contains(quietVerbs, words[1].text) {
		return true
	}
	if at, code := codeOf(words[1:]); kindOf(program) == shell {
		return code && at == len(words)-2 // The code is checked separately.
	}
	if slices.Contains([]string{"nice", "nohup", "timeout", "xargs"}, program) {
		rest := slices.IndexFunc(words[1:], operand) + 1
		return rest > 0 && (program != "xargs" || slices.Contains(plainReaders, words[rest].text)) && inert(words[rest:])
	}
	if readers[program] == nil && !(git && readers["git "+words[1].text] != nil) {
		return false
	}
	var texts []string
	for _, w := range words {
		if texts = append(texts, w.text); !w.known {
			return false
		}
	}
	return !slices.Contains(beyond(texts), true)
}
