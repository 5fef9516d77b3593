package view_test

import (
	"strings"
	"testing"
	"unicode"

	"podd/internal/clients/view"
	"podd/pkg/item"
)

func approval(arguments string) view.Approval {
	return view.Approval{Pod: "p", Call: 7, ApprovalRequested: item.ApprovalRequested{Tool: "shell", Arguments: arguments}}
}

// An approval counts the hidden characters of a command, so that a literal escape in the
// command does not pass for a hidden character.
func TestApprovalCountsWhatIsHidden(t *testing.T) {
	for arguments, want := range map[string]string{
		"{\"command\":\"echo \u202ehi\u200b\"}":       "2 hidden characters",
		`{"command":"echo \u202ehi"}`:                 "1 hidden character,",
		`{"command":"echo \\u202ehi"}`:                "",
		`{"command":"printf '\u001b[2J'","x":"\r\n"}`: "1 hidden character,",
		"{\"command\":\"rm\u00a0-rf \u2800x\"}":       "2 hidden characters",
		"{\"com\u200bmand\":\"ls\"}":                  "1 hidden character,",
	} {
		text := strings.Join(approval(arguments).Lines(60), "\n")
		if want == "" && strings.Contains(text, "hidden") || !strings.Contains(text, want) {
			t.Errorf("%s: %s", arguments, text)
		}
	}
}

// Whatever the call, the question shows it whole, in lines that fit. No line controls the
// terminal or passes for a line of another kind.
func FuzzApproval(f *testing.F) {
	f.Add(`{"command":"ls -l\nrm x"}`, 40)
	f.Add("{\"command\":\"\u202e\x1b[2J\"}", 12)
	f.Add(`{"a":{"b":1},"c":"digest 00"}`, 0)
	f.Fuzz(func(t *testing.T, arguments string, columns int) {
		columns = min(max(columns, 0), 200)
		lines := approval(arguments).Lines(columns)
		for i, line := range lines {
			if strings.ContainsFunc(line, func(r rune) bool {
				return unicode.IsControl(r) || r == 0x202e || r == 0xa0 || r == 0x2800 || r == 0x200b || r == 0xfeff
			}) {
				t.Fatalf("line %d drives the terminal: %+q", i, line)
			}
		}
		whole := strings.Join(lines, "")
		for _, letter := range "qxz" {
			if strings.ContainsRune(arguments, letter) && !strings.Contains(arguments, `\`) && !strings.ContainsRune(whole, letter) {
				t.Fatalf("%+q is not shown whole: %+q", arguments, lines)
			}
		}
	})
}
