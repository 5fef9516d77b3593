package policy_test

import (
	"strings"
	"testing"

	"podd/internal/guard/policy"
)

// against are typical rules, on a pod whose commands stay in the sandbox.
func against(t *testing.T) *policy.Policy {
	return with(t, policy.Risky, deny("git push *"), deny("rm -rf *"))
}

// ways are lines that run git push, or rm -rf, indirectly.
var ways = []string{
	// Options before the verb, in any number.
	"git -C x push", "git -c a=b push", "git" + strings.Repeat(" -c a=b", 80) + " push", "git --git-dir=x --work-tree y push -f", "git -p push", "git --no-pager push",
	// The words of another program, known or not.
	"choom -n 0 -- git push", "choom -n 0 git push", "/lib64/ld-linux-x86-64.so.2 /usr/bin/git push", "ld.so /usr/bin/git push", "npm exec -c 'git push'", "npm exec -c'git push'",
	"npm exec -- git push", "split --filter='git push' f", "make --eval='x:;git push' x", "make -E 'x:;git push' x", "make SHELL='git push' x", "unshare -r git push", "setarch -R git push",
	"tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='git push' x", "tar -xf x -I'git push'", "sort --compress-program='git push' x", "rsync -e 'git push' a b:c",
	"rsync -e'rm -rf x' a b:c", "env -S'git push'", "env -vS'git push'", "script -c 'git push' /dev/null", "flock f -c 'git push'", "go test -exec 'git push' ./...", "vim -c '!git push'",
	"sudo sudo sudo env A=1 nice -n 5 git push", "ssh -oProxyCommand='git push' x", "systemd-run --user git push", "parallel git ::: push", "watch -n 1 'git push'", "perl -e 'system(\"git push\")'",
	"python3 -c 'import subprocess; subprocess.run([\"git\", \"push\"])'", "python3 - <<'E'\nimport os\nos.system('git push')\nE", "awk 'BEGIN{system(\"git push\")}'", "sed -n '1e git push' f",
	"node -e 'require(\"child_process\").execSync(\"git push\")'", "gdb -ex '!git push'", "busybox rm -rf x", "busybox sh -c 'rm -rf x'", "toybox rm -rf x", "docker run -v /:/x i rm -rf /x",
	strings.Repeat("nice ", 70) + "git push", "xargs -n 1 git push", "echo push | xargs git", "echo cHVzaAo= | base64 -d | xargs git", "echo 'git push' | xargs env", "echo Z2l0IHB1c2gK | base64 -d | xargs env",
	// find and its like: each of their commands.
	"find . -exec true \\; -exec git push \\;", "find . -ok true \\; -execdir git push \\;", "fd -x git push", "fd -Hxgit push", "find . -exec env git push \\;",
	// Shells that read their code.
	"echo git push | sh", "echo Z2l0IHB1c2gK | base64 -d | sh", "bash < f", "sh -s < f", "cat f | bash -x", "echo git push | bash -O extglob", "sh /dev/stdin < f", "sh - < f", "bash <<'E'\ngit push\nE", "bash <<< 'git push'",
	". /dev/stdin <<< 'git push'", "source /dev/fd/0 < f", "source <(echo git push)", "bash <(echo git push)", "echo git push > x; sh x", "echo Z2l0IHB1c2gK | base64 -d | env sh", "xargs sh -c < f", "xargs -I{} sh -c {} < f",
	"printf 'g%s push' it | sh -", "echo aW1wb3J0IG9zCg== | base64 -d | python3", "base64 -d f | perl", "base64 -d f | node -",
	// Code for a shell.
	"sh -c 'g\\it push'", "bash -euo pipefail -c 'ls; git push'", "bash -c \"$X\"", "sh -c 'echo cm0= | base64 -d | sh'", "bash -c '\"$@\"' _ git push", "bash -c 'git $1' _ push", "sh -c '$0 push' git", "eval git push", "eval 'g\"it\" push'",
	"eval \"$(echo Z2l0IHB1c2gK | base64 -d)\"", "trap 'git push' EXIT", "trap \"$X\" EXIT", "alias ls='git push'", "f() { git \"$@\"; }; f push", "echo() { choom -n 0 \"$@\"; }; echo git push", "bash -c 'f() { choom \"$@\"; }; f git push'",
	"hash -p /usr/bin/choom ls; ls git push", "make -f <(printf 'x:\\n\\tgit push')", "choom -n 0 /usr/bin/gi? push", "find /usr/bin -name 'gi?' -exec {} push \\;", "choom $(which git) push", "choom g\\i\"t\" push", "cp /usr/bin/git x; ./x push",
	"env -S 'git${IFS}push'", "script -qc'git push'", "time -f %e git push", "set -- git push; \"$@\"",
	// What the shell does with values.
	"x='$(git push)'; echo ${x@P}", "x=$(base64 -d f); echo ${x@P}", "x='a[$(git push)]'; echo $((x))", "x='a[$(git push)]'; ((x))", "echo $((a[$(git push)]))", "let 'a[$(git push)]'", "test -v 'a[$(git push)]'", "[ -v 'a[$(git push)]' ]",
	"[[ -v 'a[$(git push)]' ]]", "[[ 'a[$(git push)]' -eq 1 ]]", "printf -v 'a[$(git push)]' x", "read 'a[$(git push)]' < f", "unset 'a[$(git push)]'", "declare -i x='a[$(git push)]'", "mapfile -C 'git push' x < f", "x=(git push); \"${x[@]}\"",
	"A=gi; ${A}t push", "A=git; env $A push", "git $X", "X=push; git $X", "git $(echo push)", "git pu*", "git {push,x}", "env $'\\x67it' push", "choom $'\\x67it' push", "git $'\\x70ush'", "${X:-git} push", "env \"${X:-git}\" push",
	// git's own.
	"git -c core.fsmonitor='git push' status", "git -c alias.x='!git push' x", "git -c alias.x=push x", "V='!git push' git --config-env=alias.x=V x", "git --config-env=core.fsmonitor=X status; X='git push'", "git difftool -x 'git push'",
	"git difftool -y --extcmd='git push'", "git rebase -x 'git push' main", "git bisect run git push", "git submodule foreach 'git push'", "git grep -O'git push' x", "git fetch --upload-pack='git push' x", "git clone -u 'git push' x y", "git log --ext-diff | git push",
	"git config alias.x push; git x", "git filter-branch --tree-filter 'git push'", "git -c pager.log='git push' -p log", "/usr/lib/git-core/git-push",
	// The environment of a command.
	"GIT_EXTERNAL_DIFF='git push' git diff", "export GIT_EXTERNAL_DIFF='git push'; git diff", "BASH_ENV=<(echo git push) bash x.sh", "ENV='git push' sh x.sh", "GIT_SSH_COMMAND='git push' git fetch", "PAGER='git push' man ls", "LESSOPEN='|git push' less x",
	"PROMPT_COMMAND='git push' bash x.sh", "EDITOR='git push' git commit", "env GIT_PAGER='git push' git -p log", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!git push' git x",
}

// A line that could run a denied command asks, whatever program runs it.
func TestDeniedCommandsRunByOthers(t *testing.T) {
	p := against(t)
	for _, line := range ways {
		if v := p.Decide(confined(line)); v.Decision == policy.Allow {
			t.Errorf("%.90q is %s: %s", line, v.Decision, v.Why)
		}
	}
}

// A question names the words that made podd ask, and a denial says what to do instead.
func TestDoubtsAreExplained(t *testing.T) {
	for line, why := range map[string]string{
		"choom -n 0 git push": "another command's arguments name that program",
		"ls | sh":             `"sh" runs what it reads, or an expansion`,
		"git $X":              "the shell computes one of its arguments",
		"$X":                  "the name of a program is an expansion",
		"ls (":                "it cannot be parsed as shell",
	} {
		rule := deny("git push *")
		rule.Source = "config.toml:3"
		begin := `The command "` + line + `" needs approval because podd cannot tell whether config.toml:3 (tool "shell", command "git push *") applies to it: ` + why
		if v := with(t, policy.Risky, rule).Decide(confined(line)); v.Why != begin+"." {
			t.Errorf("%s\nwant %s", v.Why, begin)
		}
		v := with(t, policy.Never, rule).Decide(confined(line))
		if want := begin + `, but podd does not ask because ask is "never": to allow it, write each command by itself in plain words, or set ask to "risky" or "always" and approve it.`; v.Why != want {
			t.Errorf("%s\nwant %s", v.Why, want)
		}
	}
}

// everyday are lines that developers and models run every day.
var everyday = []string{
	"go build ./...", "go test ./...", "go test -race -run 'TestPush|TestX' ./pkg/push 2>&1 | tail -20", "go vet ./... && golangci-lint run", "gofmt -l .", "CGO_ENABLED=0 GOARCH=arm64 go build -o bin/podd ./cmd/podd",
	"go test $(go list ./... | grep -v vendor)", "go run ./cmd/podd --help", "make", "make -j$(nproc) test", "make test | tee log", "make test > out.txt 2>&1; tail -5 out.txt", "./configure && make", "cmake --build build -j 4",
	"npm ci --offline", "npm test -- --watch=false", "npm run build > build.log 2>&1", "npx tsc --noEmit", "pnpm install --offline", "yarn build", "cargo build --release", "cargo test -- --nocapture", "pip install --no-index -r requirements.txt",
	"python -m pytest -q tests/test_push.py", "python3 -c 'import sys; print(sys.version)'", "cat x.json | python3 -m json.tool", "python3 - <<'E'\nprint(1)\nE", "node -e 'console.log(1)'", "for f in tests/*.py; do python \"$f\"; done", "perl -pi -e 's/a/b/' x",
	"git status", "git -C sub status --short", "git diff HEAD~1 -- push.go", "git log --oneline --grep=push | head", "git log -p --since=yesterday origin/main..HEAD", "git add -A && git commit -m 'push the button, git push later'",
	"git commit -q -m \"$(cat <<'E'\nclean up: rm -rf of git push\nE\n)\"", "git stash push -m wip && git stash pop", "git checkout -b feature/push", "git branch -d push", "git rm old.go", "git rebase main", "git merge feature/x", "git pull --rebase", "git fetch origin",
	"git mv a b && go build ./...", "git show HEAD:docs/git.md | head", "git rev-parse HEAD", "git --no-pager log -3", "git ls-files '*.go' | xargs wc -l", "gofmt -l $(git ls-files '*.go')",
	"ls *.go", "ls -la ~/src", "cat README.md | grep -n 'git push'", "grep -rn \"git push\" .", "rg -n 'rm -rf' --type go && go test ./...", "find . -name '*.go' -exec grep -n push {} +", "find . -name '*.o' -delete", "find . -type f | xargs grep -l 'git push' | sort -u",
	"sed -n '1,20p' x.go", "sed -i 's/push/pop/' x.go", "awk '{print $1}' x", "jq '.scripts.push' package.json", "cat > f.go <<'E'\npackage f\nE", "cat > doc.md <<'E'\nnever git push, never rm -rf x\nE", "echo \"$HOME\" >> f", "mkdir -p a/b && cp -r x a/b",
	"rm build/x.o", "rm f.txt && touch g", "tar tzf x.tgz | head", "tar xzf x.tgz", "diff -u a b", "timeout 60 go test ./...", "ps aux | grep podd", "bash build.sh", "bash -lc 'go test ./... && git status'", "bash -lc \"rg 'git push' docs\"", "sh -c 'cd x && make'",
	"(cd web && npm test)", "if [ -f x ]; then make; fi", "while read -r l; do echo \"$l\"; done < f", "sleep 1 & wait", "time make", "X=$(git rev-parse HEAD); echo $X", "i=0; i=$((i+1)); echo $i", "export A=1; make", "curl -s localhost:8080 | jq .", "docker build -t x .",
	"docker run --rm x ls", "kill $(pgrep -f server)", "chmod +x build.sh && ./build.sh", "source .venv/bin/activate && pytest", "command -v git", "command -v python3 || echo none", "read -p 'Sure? (y/n) ' x", "npm install --save-dev bash", "ls /usr/bin/*", "timeout 60 golangci-lint run .", "env A=1 go build .", "ls | xargs -I{} cp {} .", "timeout 9 npm install node", "which rm", "test -d x || mkdir x", "printf '%s\\n' push", "env | sort", "env A=1 make", "true", "wc -l src/*.go", "cd sub && go generate ./...",
}

// Such lines run without a question.
func TestEverydayCommandsAreNotDoubted(t *testing.T) {
	p := against(t)
	for _, line := range everyday {
		if v := p.Decide(confined(line)); v.Decision != policy.Allow {
			t.Errorf("%.90q is %s: %s", line, v.Decision, v.Why)
		}
	}
}
