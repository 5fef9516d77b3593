package checkout_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"podd/internal/workspace/checkout"
	"podd/pkg/item"
)

// A repository borrows objects from stores of objects only, however it names them.
func TestAlternates(t *testing.T) {
	b := setup(t)
	top := filepath.Dir(b.repo)
	keys, chained := filepath.Join(b.home(), ".ssh"), filepath.Join(top, "chained")
	b.write(keys, "id", "PRIVATE\n")
	b.write(chained, "info/alternates", "../home/.ssh\n")
	b.write(top, "hidden/pack/x", "")
	if err := os.Symlink(keys, filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	b.all.Hides = func(dir string) bool { return strings.HasPrefix(dir, filepath.Join(top, "hidden")) }
	file := filepath.Join(b.repo, ".git/objects/info/alternates")
	refused := func(name string) {
		t.Helper()
		_, err := b.all.Make(t.Context(), checkout.Wanted{Name: "x", ID: "pod_x", Dir: b.repo})
		if item.ReasonOf(err) != "STRANGE_ALTERNATES" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, line := range map[string]string{
		"a directory": keys, "a relative one": "../../../home/.ssh", "a link": filepath.Join(top, "link"), "a chain": chained, "the home directory": b.home(),
		"a hidden store": filepath.Join(top, "hidden"), "a file": filepath.Join(keys, "id"), "an empty directory": b.state,
	} {
		b.write(b.repo, ".git/objects/info/alternates", "/nonexistent\n# comment\n"+line+"\n")
		refused(name)
	}

	// A later path grants no access either.
	b.remove(".git/objects/info/alternates")
	r := b.make(checkout.Wanted{Name: "p"})
	b.write(b.repo, ".git/objects/info/alternates", keys+"\n"+chained+"\n")
	if got := r.Stores(); !slices.Equal(got, []string{filepath.Join(b.repo, ".git"), chained}) {
		t.Errorf("the pod sees %q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}

	// A file that is a pipe, or leads elsewhere, names nothing.
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.Stores(); len(got) != 1 {
		t.Errorf("with a pipe the pod sees %q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}

	// A repository that really borrows works.
	b.git(top, "clone", "--quiet", "--shared", b.repo, "shared")
	s := b.make(checkout.Wanted{Name: "shared", Dir: filepath.Join(top, "shared")})
	if got := s.Stores(); len(got) != 2 || got[1] != filepath.Join(b.repo, ".git/objects") || b.read(s.Dir(), "a.txt") != "second\n" {
		t.Errorf("it sees %q", got)
	}
}

// A file of a repository that is a link gives no pod what it leads to.
func TestFilesOfARepositoryLeadNowhere(t *testing.T) {
	b := setup(t)
	b.write(b.home(), "key", "PRIVATE\n")
	for _, name := range []string{"shallow", "info/attributes"} {
		link := filepath.Join(b.repo, ".git", name)
		_ = os.Remove(link)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(b.home(), "key"), link); err != nil {
			t.Fatal(err)
		}
		r, err := b.all.Make(t.Context(), checkout.Wanted{Name: "x", ID: "pod_x", Dir: b.repo})
		if err == nil {
			if strings.Contains(b.read(r.Dir(), ".git/"+name), "PRIVATE") {
				t.Errorf("the checkout has what %s leads to", name)
			}
			if err := b.all.Discard(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// A git directory outside of a working tree must name that back.
func TestGitDirectoryElsewhere(t *testing.T) {
	for name, plant := range map[string]func(b *bench, evil string){
		"a file": func(b *bench, evil string) { b.write(evil, ".git", "gitdir: "+b.repo+"/.git\n") },
		"a link": func(b *bench, evil string) {
			if err := os.Symlink(filepath.Join(b.repo, ".git"), filepath.Join(evil, ".git")); err != nil {
				b.t.Fatal(err)
			}
		},
		"a common directory": func(b *bench, evil string) {
			b.git(evil, "init", "--quiet")
			b.write(evil, ".git/commondir", b.repo+"/.git\n")
		},
		"a common directory that names it": func(b *bench, evil string) {
			b.write(evil, ".git", "gitdir: worktrees/x\n")
			b.write(evil, "worktrees/x/commondir", b.repo+"/.git\n")
			b.write(evil, "worktrees/x/gitdir", evil+"/.git\n")
			b.write(evil, "worktrees/x/HEAD", "ref: refs/heads/main\n")
		},
		"another's linked working tree": func(b *bench, evil string) {
			b.git(b.repo, "worktree", "add", "--quiet", "-b", "side", filepath.Join(filepath.Dir(b.repo), "linked"))
			b.write(evil, ".git", "gitdir: "+b.repo+"/.git/worktrees/linked\n")
		},
		"another working tree": func(b *bench, evil string) {
			b.git(evil, "init", "--quiet")
			b.git(evil, "config", "user.name", "x")
			b.git(evil, "config", "user.email", "x")
			b.git(evil, "commit", "--quiet", "--allow-empty", "-m", "x")
			b.git(evil, "config", "core.worktree", b.home())
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			evil := filepath.Join(filepath.Dir(b.repo), "evil")
			if err := os.Mkdir(evil, 0o700); err != nil {
				t.Fatal(err)
			}
			plant(b, evil)
			if _, err := b.all.Make(t.Context(), checkout.Wanted{Name: "x", ID: "pod_x", Dir: evil}); item.ReasonOf(err) != "GIT_DIR_ELSEWHERE" {
				t.Errorf("a checkout: %v", err)
			}
			if refs := b.git(b.repo, "for-each-ref", "refs/podd"); refs != "" {
				t.Errorf("references: %s", refs)
			}
		})
	}
	// The owner of a git directory elsewhere can name the working tree.
	b := setup(t)
	apart, own := filepath.Join(filepath.Dir(b.repo), "apart"), filepath.Join(filepath.Dir(b.repo), "own.git")
	b.git(filepath.Dir(b.repo), "clone", "--quiet", "--separate-git-dir="+own, b.repo, apart)
	b.git(apart, "config", "core.worktree", apart)
	b.git(apart, "config", "user.name", "x")
	b.git(apart, "config", "user.email", "x")
	r := b.make(checkout.Wanted{Name: "apart", Dir: apart})
	b.write(r.Dir(), "a.txt", "of the agent\n")
	if _, err := b.all.Land(t.Context(), r, "", ""); err != nil || b.read(apart, "a.txt") != "of the agent\n" || b.git(apart, "status", "--porcelain") != "" {
		t.Errorf("land: %v", err)
	}
}

// A working tree that only the repository's files name is not written.
func TestLandsInNoForeignTree(t *testing.T) {
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "p"})
	b.write(r.Dir(), "a.txt", "of the agent\n")
	victim := filepath.Join(filepath.Dir(b.repo), "victim")
	b.git(filepath.Dir(b.repo), "clone", "--quiet", b.repo, victim)
	b.git(b.repo, "switch", "--quiet", "-c", "other")
	b.write(b.repo, ".git/worktrees/x/gitdir", victim+"/.git\n")
	b.write(b.repo, ".git/worktrees/x/commondir", "../..\n")
	b.write(b.repo, ".git/worktrees/x/HEAD", "ref: refs/heads/main\n")
	if _, err := b.all.Land(t.Context(), r, "main", ""); item.ReasonOf(err) != "TREE_BUSY" || b.read(victim, "a.txt") != "second\n" {
		t.Errorf("land: %v, the file is %q", err, b.read(victim, "a.txt"))
	}
}
