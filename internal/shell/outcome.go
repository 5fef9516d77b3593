package shell

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"podd/pkg/lazy"
	"podd/pkg/tool"
)

// maxOutcome bounds a summary's text about the result of a command's work, in bytes.
const maxOutcome = 160

// outcomeRule reads the result of the work from a program's output.
type outcomeRule struct {
	// marks are the lines that only this program prints, and counts are derived from them. A
	// rule whose marks are not in the output does not apply.
	marks  func() *regexp.Regexp
	counts []outcomeCount
	// names finds what failed in the whole output: its first group that is not empty.
	names func() *regexp.Regexp
}

// outcomeCount is one count of a rule: the sum of the numbers in the group of find, or
// without a group how often find matches.
type outcomeCount struct {
	find func() *regexp.Regexp
	// noun goes before label, in the number of the count; may be empty. If it has both, a
	// count of any size reads the same: "build failed".
	noun, label string
	plain       bool
}

func lines(expression string) func() *regexp.Regexp { return lazy.Regexp("(?m)" + expression) }

// counted are counts of the same form for several words: "3 failed, 117 passed". %s in
// the form is replaced by the word.
func counted(form string, words ...string) []outcomeCount {
	var all []outcomeCount
	for _, word := range words {
		all = append(all, outcomeCount{find: lines(fmt.Sprintf(form, word)), label: word})
	}
	return all
}

// outcomeRules are tried in this order. make comes last: it runs the others.
var outcomeRules = []outcomeRule{
	{ // go test
		marks: lines(`^(?:ok  \t|FAIL\t|--- (?:FAIL|PASS|SKIP): ).*$`),
		counts: []outcomeCount{
			{find: lines(`^--- FAIL: `), label: "failed"},
			{find: lines(`^--- PASS: `), label: "passed"},
			{find: lines(`^--- SKIP: `), label: "skipped"},
			{find: lines(`^FAIL\t`), noun: "package", label: "failed"},
			{find: lines(`^ok  \t`), noun: "package", label: "ok"},
		},
		names: lines(`^(?:--- FAIL: (\S+)|FAIL\t(\S+ \[(?:build|setup) failed\]))`),
	},
	{ // pytest
		marks:  lines(`^(?:=+ )?\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b.* in \d.*$`),
		counts: append(counted(`(\d+) %s\b`, "failed"), append([]outcomeCount{{find: lines(`(\d+) errors?\b`), noun: "error"}}, counted(`(\d+) %s\b`, "passed", "skipped")...)...),
		names:  lines(`^(?:FAILED|ERROR) (?:\S*?::)?(\S+)`),
	},
	{ // jest
		marks:  lines(`^Tests: +\d.*$`),
		counts: counted(`(\d+) %s\b`, "failed", "passed", "skipped"),
		names:  lines(`^  ● (.+)$`),
	},
	{ // vitest
		marks:  lines(`^ +Tests  +\d.*$`),
		counts: counted(`(\d+) %s\b`, "failed", "passed", "skipped"),
		names:  lines(`^ FAIL +(?:\S+ > )?(.+)$`),
	},
	{ // cargo test
		marks:  lines(`^test result: .*$`),
		counts: counted(`(\d+) %s\b`, "failed", "passed", "ignored"),
		names:  lines(`^(?:test (\S+) \.\.\. FAILED|---- (\S+) stdout ----)$`),
	},
	{ // cargo build
		marks:  lines(`^error: could not compile .*$`),
		counts: []outcomeCount{{find: lines(`^error: could not`), label: "did not compile", plain: true}},
		names:  lines(`^error(\[E\d+\]: .+)$`),
	},
	{ // node --test
		marks: lines(`^[#ℹ] (?:pass|fail|skipped) \d+$`),
		counts: []outcomeCount{
			{find: lines(`fail (\d+)$`), label: "failed"}, {find: lines(`pass (\d+)$`), label: "passed"}, {find: lines(`skipped (\d+)$`), label: "skipped"},
		},
		names: lines(`^(?: *not ok \d+ - (.+)|✖ (.+) \(\d[\d.]*ms\))$`),
	},
	{ // maven
		marks: lines(`^\[(?:INFO|ERROR|WARNING)\] (?:Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+|BUILD FAILURE|BUILD SUCCESS)$`),
		counts: []outcomeCount{
			{find: lines(`BUILD FAILURE`), label: "build failed", plain: true}, {find: lines(`BUILD SUCCESS`), label: "build succeeded", plain: true},
			{find: lines(`Failures: (\d+)`), label: "failed"}, {find: lines(`Errors: (\d+)`), noun: "error"},
			{find: lines(`run: (\d+)`), label: "run"}, {find: lines(`Skipped: (\d+)`), label: "skipped"},
		},
		names: lines(`^\[ERROR\] +(?:(\w[\w.$]*\.\w+:\d+)|(?:\S*/)?([^/\s]+\.(?:java|kt|scala):\[\d+,\d+\] .+)$)`),
	},
	{ // tsc
		marks:  lines(`^.+(?:\(\d+,\d+\):|:\d+:\d+ -) error TS\d+: .*$`),
		counts: []outcomeCount{{find: lines(`^.`), noun: "error"}},
		names:  lines(`^(.+(?:\(\d+,\d+\):|:\d+:\d+ -) error TS\d+: .*)$`),
	},
	{ // go build, go vet
		marks:  lines(`^(?:vet: )?\S+\.go:\d+:\d+: .+$`),
		counts: []outcomeCount{{find: lines(`^.`), noun: "error"}},
		names:  lines(`^(?:vet: )?(\S+\.go:\d+:\d+: .+)$`),
	},
	{ // make, with the output of a compiler
		marks:  lines(`^g?make(?:\[\d+\])?: \*\*\* .*$`),
		counts: []outcomeCount{{find: lines(`^.`), label: "make failed", plain: true}},
		names:  lines(`^(?:g?make(?:\[\d+\])?: \*\*\* (?:\[(?:[^\]:]+:\d+: )?([^\]]+)\]|(.+))|(\S+:\d+(?::\d+)?: (?:fatal )?error: .+)$)`),
	},
}

var (
	errorWord = lazy.Regexp(`(?i)error|fatal|fail|panic|exception|cannot|can't|could not|not found|no such|denied|refused|undefined|unable|invalid|missing|unknown|killed`)
	escape    = lazy.Regexp(`\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])`)
)

// outcome says in at most maxOutcome bytes how the work that printed this went, as text
// after the way in which the command ended; empty if it printed nothing. It is a guess
// and decides nothing. text has no secrets.
func outcome(text string, success bool) string {
	text = escape().ReplaceAllString(text, "")
	for _, rule := range outcomeRules {
		if said := rule.read(text); said != "" {
			return ", " + said
		}
	}
	last := ""
	for line := range strings.SplitSeq(text, "\n") {
		// Text that a carriage return overwrites is not visible.
		line = strings.TrimSpace(strings.TrimSuffix(line, "\r"))
		line = strings.TrimSpace(line[strings.LastIndexByte(line, '\r')+1:])
		if line != "" && (success || errorWord().MatchString(line) || !errorWord().MatchString(last)) {
			last = line
		}
	}
	if last == "" {
		return ""
	}
	return ": " + tool.Clip(tool.Bound(last), maxOutcome-len(": "))
}

// read is what the rule makes of an output; empty if the output is not from its program.
func (r outcomeRule) read(text string) string {
	marked := strings.Join(r.marks().FindAllString(text, -1), "\n")
	if marked == "" {
		return ""
	}
	var said []string
	for _, c := range r.counts {
		if text := c.read(marked); text != "" {
			said = append(said, text)
		}
	}
	return withNames(strings.Join(said, ", "), r.failed(text))
}

func (c outcomeCount) read(marked string) string {
	var n int64
	for _, found := range c.find().FindAllStringSubmatch(marked, -1) {
		one := int64(1)
		if len(found) > 1 {
			one, _ = strconv.ParseInt(found[1], 10, 64)
		}
		n += one
	}
	switch {
	case n == 0:
		return ""
	case c.plain:
		return c.label
	case c.noun != "":
		return strings.TrimSuffix(tool.Plural(n, c.noun)+" "+c.label, " ")
	}
	return fmt.Sprintf("%d %s", n, c.label)
}

// failed names what failed, each once.
func (r outcomeRule) failed(text string) []string {
	var names []string
	for _, found := range r.names().FindAllStringSubmatch(text, -1) {
		i := slices.IndexFunc(found[1:], func(group string) bool { return group != "" })
		if i < 0 {
			continue
		}
		if name := strings.TrimSpace(found[1+i]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// withNames adds names after the text, as many as fit.
func withNames(said string, names []string) string {
	const note = " and 1000000 more"
	room := maxOutcome - len(", ")
	said = tool.Clip(tool.Bound(said), room)
	for i, name := range names {
		next := said + ", " + name
		if i == 0 {
			next = strings.TrimPrefix(said+": "+name, ": ")
		}
		if len(next)+len(note) > room {
			if i == 0 {
				return tool.Clip(tool.Bound(next), room)
			}
			return fmt.Sprintf("%s and %d more", said, len(names)-i)
		}
		said = next
	}
	return said
}
