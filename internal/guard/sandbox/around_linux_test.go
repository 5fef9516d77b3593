package sandbox_test

import (
	"os"
	"testing"

	"podd/internal/guard/sandbox"
)

// A command of one working tree does not write to others, even where they lie in the repository that they belong to.
func TestTreesBesideStayReadOnly(t *testing.T) {
	h := newHouse(t)
	if out, err := h.host(`rm -rf ../work/* ../work/.[a-z]*; git init -q --bare ../proj; git init -q ../one
		git -C ../one -c user.name=n -c user.email=e commit -q --allow-empty -m one; git -C ../one push -q ../proj HEAD:refs/heads/main
		git -C ../proj worktree add -q -f --detach ../work main; git -C ../proj worktree add -q other main`); err != nil {
		t.Fatal(out)
	}
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} {
		h.run(h.sandbox(mode), "", "/bin/sh", "-c", "echo evil >../proj/other/"+mode)
		if _, err := os.Stat(h.path("proj/other/" + mode)); err == nil {
			t.Errorf("%s: it wrote to another working tree", mode)
		}
	}
}
