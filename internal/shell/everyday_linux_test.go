package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
)

// layout says how a workspace lies in its repository.
type layout int

const (
	inRepository layout = 1 << iota
	inWorktree
	inSubmodule
	inSubdirectory
	inNew

	// committed are the layouts with a history.
	committed = inRepository | inWorktree | inSubmodule | inSubdirectory
	// atTop are those of them whose workspace is the top of a working tree.
	atTop      = committed &^ inSubdirectory
	everywhere = committed | inNew
)

var allLayouts = []layout{inRepository, inWorktree, inSubmodule, inSubdirectory, inNew}

// everydayFiles are the shell functions that make a repository: begin makes an empty one,
// files its files, and history its commits and branches.
const everydayFiles = `
begin() { git init -q -b main --template= . && mkdir .git/info .git/hooks && git config user.name n && git config user.email e@x; }
save() { git add -A && git commit -q -m "$1"; }
files() {
	mkdir sub far && echo one >a.txt && echo two >sub/b.txt && echo far >far/f.txt && printf '*.out\n/prog\n' >.gitignore
	printf 'all:\n\t@echo built >built.out\nversion:\n\t@git describe --always --dirty >version.out\nrelease:\n\t@./release.sh 2.0\n' >Makefile
	printf '#!/bin/sh\nset -e\necho "$1" >VERSION\ngit add VERSION\ngit commit -q -m "release $1"\ngit tag -a "v$1" -m "release $1"\n' >release.sh
	chmod +x release.sh
	printf 'module x\n\ngo 1.21\n' >go.mod && printf 'package main\n\nfunc main() {}\n' >main.go
}
history() {
	files && save one && git switch -q -c other && echo three >c.txt && save other
	git switch -q main && echo four >d.txt && save two && echo five >>a.txt && save three && git repack -adq
}
`

// layouts are made once by script and copied for each row. moved is what a copy needs.
var layouts = []struct {
	name          string
	layout        layout
	script, moved string
	// dir is the workspace.
	dir string
}{
	{"repository", inRepository, "mkdir ws; cd ws; begin; history", "", "ws"},
	{"worktree", inWorktree, "mkdir main; cd main; begin; history; git switch -q -c trunk; git worktree add -q ../ws main", "echo gitdir: $PWD/main/.git/worktrees/ws >ws/.git; echo $PWD/ws/.git >main/.git/worktrees/ws/gitdir", "ws"},
	{"submodule", inSubmodule, "mkdir super; cd super; begin; mkdir ws; cd ws; begin; history; cd ..; git submodule --quiet add ./ws ws; git submodule --quiet absorbgitdirs; save super", "", "super/ws"},
	{"subdirectory", inSubdirectory, "mkdir top; cd top; begin; mkdir ws; cd ws; history", "", "top/ws"},
	{"new", inNew, "mkdir ws; cd ws; begin; files", "", "ws"},
}

// everydayRow is work as models do it: calls in order, what the user then runs, and the
// output of that.
type everydayRow struct {
	in          layout
	calls       []string
	check, want string
}

// takenIn says whether row i runs in a sandbox and a layout: with -short every second row in
// one of its layouts, each in the next one.
func (r everydayRow) takenIn(mode sandbox.Mode, in layout, i int) bool {
	if r.in&in == 0 || !taken(mode, i) {
		return false
	}
	if !testing.Short() {
		return true
	}
	its := slices.DeleteFunc(slices.Clone(allLayouts), func(l layout) bool { return r.in&l == 0 })
	every := 2
	if mode == sandbox.Landlock {
		every = 5
	}
	return i%every == 0 && its[i/every%len(its)] == in
}

// name is the beginning of the first line.
func (r everydayRow) name() string {
	line, _, _ := strings.Cut(strings.TrimPrefix(r.calls[0], seeded), "\n")
	return line[:min(len(line), 48)]
}

// everydayEnv keeps the person's own settings out, and names what go has built: rows copy
// that to their own cache, because building it takes seconds.
func everydayEnv(t *testing.T, base string) []string {
	t.Helper()
	seed := filepath.Join(base, "cache")
	env := []string{"GOFLAGS=-trimpath", "GOTOOLCHAIN=local", "GO111MODULE=on", "CGO_ENABLED=0"}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(base, "prog"), ".")
	cmd.Dir, cmd.Env = filepath.Join(base, "new/ws"), append(append(os.Environ(), "GOCACHE="+seed), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return append(env, "SEED="+seed, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
}

// copied is a copy of a directory, outside of /tmp, where a script has run.
func copied(t *testing.T, from, script string) string {
	t.Helper()
	dir := elsewhere(t)
	onHost(t, dir, "cp -a "+from+"/. .; "+script)
	return dir
}

// openedAt is a bench for an existing workspace.
func openedAt(t *testing.T, dir string, adjust ...func(*setup)) *bench {
	t.Helper()
	b, err := openBench(dir, t.TempDir(), adjust...)
	if err != nil {
		t.Fatal(err)
	}
	b.t = t
	t.Cleanup(func() {
		b.allJobs.Close()
		_ = b.fs.Close()
	})
	return b
}

// unasked calls the shell, and fails the test if the call asks.
func (b *bench) unasked(command string) {
	b.t.Helper()
	if a := b.tool("shell").Access(object("command", command)); !a.Confined || len(a.Protected) > 0 {
		b.t.Errorf("it asks: %s\n%q %q", command, a.Protected, a.Note)
	}
	if out := b.call("shell", object("command", command)); out.IsError {
		b.t.Errorf("%s\n%s\n%s", command, out.Summary, out.Content)
	}
}

// run makes the calls of a row, and checks what they did.
func (r everydayRow) run(b *bench) {
	b.t.Helper()
	for _, command := range r.calls {
		b.unasked(command)
	}
	if got := onHost(b.t, b.dir, r.check); got != r.want {
		b.t.Errorf("%s\ngot %q, want %q", r.check, got, r.want)
	}
}

func shellEnv(env []string) func(*setup) {
	return func(c *setup) { c.Env = env }
}

// Everyday lines work as models write them: in each sandbox, however the workspace lies in
// its repository, and without a question.
func TestEverydayLines(t *testing.T) {
	base := elsewhere(t)
	for _, l := range layouts {
		onHost(t, base, everydayFiles+"mkdir "+l.name+"; cd "+l.name+"; "+l.script)
	}
	env := everydayEnv(t, base)
	for _, mode := range sandboxes {
		adjust := confined(t, mode)
		for _, l := range layouts {
			t.Run(mode+"/"+l.name, func(t *testing.T) {
				for i, r := range everydayRows {
					if !r.takenIn(mode, l.layout, i) {
						continue
					}
					t.Run(r.name(), func(t *testing.T) {
						t.Parallel()
						r.run(openedAt(t, filepath.Join(copied(t, filepath.Join(base, l.name), l.moved), l.dir), adjust, shellEnv(env)))
					})
				}
			})
		}
	}
}

// So do those of programs that are not everywhere; what is missing is skipped by name.
func TestEverydayLinesOfOtherPrograms(t *testing.T) {
	base := elsewhere(t)
	for _, l := range layouts {
		onHost(t, base, everydayFiles+"mkdir "+l.name+"; cd "+l.name+"; "+l.script)
	}
	for program, rows := range otherRows {
		t.Run(program, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skip(err)
			}
			for _, mode := range sandboxes {
				adjust := confined(t, mode)
				for _, l := range layouts {
					for i, r := range rows {
						if !r.takenIn(mode, l.layout, i) {
							continue
						}
						t.Run(fmt.Sprintf("%s/%s/%d", mode, l.name, i), func(t *testing.T) {
							t.Parallel()
							r.run(openedAt(t, filepath.Join(copied(t, filepath.Join(base, l.name), l.moved), l.dir), adjust, shellEnv([]string{"GIT_CONFIG_GLOBAL=/dev/null"})))
						})
					}
				}
			}
		})
	}
}

// The table is as large and as wide as was promised.
func TestEverydayLinesAreMany(t *testing.T) {
	for _, l := range layouts {
		count := 0
		for _, r := range everydayRows {
			if r.in&l.layout != 0 {
				count++
			}
		}
		if least := map[bool]int{true: 60, false: 30}[l.layout != inNew]; count < least {
			t.Errorf("%s has %d rows, fewer than %d", l.name, count, least)
		}
	}
}

// A job works with git like any command, while it runs.
func TestEverydayJob(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := gitBench(t, mode)
			b.start("c1", "command", `echo ready; until [ -e go ]; do sleep 0.01; done; git add -A && git commit -q -m "$(echo from a job)"; echo done; sleep 600`)
			b.write("go", "")
			if out := b.job("action", "read", "id", "1", "after", 0, "wait_seconds", 300, "until", "^done$"); out.IsError {
				t.Errorf("%+v", out)
			}
			if got := onHost(t, b.dir, "git log -1 --format=%s"); got != "from a job" {
				t.Errorf("got %q", got)
			}
			if out := b.job("action", "stop", "id", "1"); out.IsError {
				t.Errorf("%+v", out)
			}
		})
	}
}

// A call asks if its line certainly pushes; a line that only mentions it does not.
func TestPushAsks(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := gitBench(t, mode)
			for line, want := range map[string]bool{
				"git push": true, "git push origin HEAD": true, "cd sub && git push --force": true, "git commit -qm x --allow-empty && git push": true,
				"git -C . push": true, "git -c a.b=c push origin main": true,
				"echo git push": false, "git commit --allow-empty -m 'git push'": false, "grep -rn 'git push' .": false, "git stash push": false,
				"git config push.default simple": false, "git submodule status": false,
			} {
				if why := b.asks(line); (why != "") != want {
					t.Errorf("%s: asks %q, want %v", line, why, want)
				}
			}
		})
	}
}

// Two commands at once do not take each other's work for an attack.
func TestEverydayLinesAtOnce(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := gitBench(t, mode)
			for i := range 4 {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					mine := *b
					mine.t = t
					mine.unasked(fmt.Sprintf("git init -q n%[1]d && git -C n%[1]d config user.name n && git -C n%[1]d config user.email e@x && git -C n%[1]d commit -q --allow-empty -m %[1]d && git branch b%[1]d", i))
					if got := onHost(t, b.path(fmt.Sprintf("n%d", i)), "git log -1 --format=%s"); got != fmt.Sprint(i) {
						t.Errorf("got %q", got)
					}
				})
			}
		})
	}
}
