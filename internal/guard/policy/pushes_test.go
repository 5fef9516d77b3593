package policy_test

import (
	"testing"

	"podd/internal/guard/policy"
)

func TestPushes(t *testing.T) {
	for line, want := range map[string]bool{
		"git push": true, "git push origin main": true, "git -C x push --force": true, "make && git push": true, "sh -c 'git push'": true,
		"for r in a b; do git push $r; done": true, "/usr/bin/git push": true, "timeout 5 git push": true,
		"git commit -m 'git push'": false, "git log": false, "echo git push": false, "git $X": false, "$X push": false,
		"git commit -F - <<'EOF'\ngit push later\nEOF": false, "": false, "git 'x": false,
	} {
		if got := policy.Pushes(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
