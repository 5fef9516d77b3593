package policy_test

import (
	"reflect"
	"testing"

	"podd/internal/guard/policy"
)

func TestPlainCommands(t *testing.T) {
	for line, want := range map[string][][]string{
		"git log":                               {{"git", "log"}},
		"cd 'a b' && git commit -m \"x\" | cat": {{"cd", "a b"}, {"git", "commit", "-m", "x"}, {"cat"}},
		"ls 2>/dev/null; ls":                    {{"ls"}, {"ls"}},
		"git log > f":                           nil,
		"A=1 git log":                           nil,
		"git $X":                                nil,
		"git log &":                             nil,
		"git 'x":                                nil,
		"":                                      nil,
	} {
		if got, ok := policy.PlainCommands(line); ok != (want != nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q %v, want %q", line, got, ok, want)
		}
	}
}
