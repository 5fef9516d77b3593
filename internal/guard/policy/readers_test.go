package policy_test

import (
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// A wildcard after a program that reads matches the options with which it only reads.
func TestWildcardsAllowReadingOnly(t *testing.T) {
	for program, lines := range map[string]struct{ reads, writes []string }{
		"git log": {[]string{"git log", "git log -p -3 --oneline main..HEAD -- a.go", "git log --grep=x --since=yesterday --stat", "git log -n 5 --author=me", "git log -Sx -S x --format=%h"},
			[]string{"git log --output=x", "git log --output x", "git log --outp=x", "git log HEAD --output=x", "git log -p --ext-diff", "git log --textconv", "git log --show-signature"}},
		"git diff":   {[]string{"git diff --cached", "git diff -U5 -w HEAD~1 -- x"}, []string{"git diff --output=x", "git diff --ext-diff", "git diff -Ox"}},
		"git show":   {[]string{"git show HEAD:x", "git show --stat HEAD"}, []string{"git show --output=x"}},
		"git status": {[]string{"git status -sb", "git status --porcelain=v2"}, []string{"git status --output=x"}},
		"git stash":  {[]string{"git stash list"}, []string{"git stash show --output=x"}},
		"sort":       {[]string{"sort -rnk2,2 -t , x", "sort -u a b", "sort --key=2 x"}, []string{"sort -o y x", "sort -oy x", "sort x -o y", "sort -uo y x", "sort --output=y x", "sort --out y x", "sort -T x y", "sort --compress-program=x y"}},
		"uniq":       {[]string{"uniq", "uniq -c x", "uniq -cf1 x", "uniq -- x"}, []string{"uniq a b", "uniq - b", "uniq -c a b", "uniq -- a b"}},
		"xxd":        {[]string{"xxd x", "xxd -l64 x", "xxd -p x"}, []string{"xxd a b", "xxd -r a", "xxd -r -p a b", "xxd -revert a"}},
		"tar": {[]string{"tar tf x", "tar -tvf x a", "tar tzf x", "tar --list --file=x", "tar -t -f x"},
			[]string{"tar xf x", "tar -xf x", "tar cf x y", "tar tf x --index-file=y", "tar -tf x --to-command=y", "tar --index-file=y -tf x", "tar -tf x -Iy", "tar -tf host:x", "tar tf x --checkpoint-action=exec=y", "tar --file=host:x -t", "tar -f x -x", "tar -t -x -f y"}},
		"find": {[]string{"find . -name x -type f", "find . -mtime -1 -size +10k -print0", "find . ( -name a -o -name b ) -prune"},
			[]string{"find . -delete", "find . -exec x", "find . -execdir x", "find . -ok x", "find . -okdir x", "find . -fprint x", "find . -fprintf x y", "find . -fprint0 x", "find . -fls x"}},
		"fd":         {[]string{"fd x", "fd -HI -e go x", "fd --type=f x"}, []string{"fd -x rm", "fd -Hx rm", "fd --exec rm", "fd -X rm", "fd --exec-batch=rm"}},
		"rg":         {[]string{"rg -n x", "rg -tgo -C3 x", "rg --files --hidden"}, []string{"rg --pre x y", "rg --pre=x y", "rg --hostname-bin=x y"}},
		"cat":        {[]string{"cat -n x"}, nil},
		"head":       {[]string{"head -20 x"}, nil},
		"grep":       {[]string{"grep -rn --include=x y ."}, nil},
		"jq":         {[]string{"jq -r .x y"}, nil},
		"printf":     {[]string{"printf '%s -v' x", "printf -- x"}, []string{"printf -v x y"}},
		"test":       {[]string{"test -f x -a -n y", "test 1 -lt 2"}, []string{"test -v x", "test -R x"}},
		"go vet":     {[]string{"go vet ./..."}, []string{"go vet -vettool=x ./...", "go vet -toolexec x ./..."}},
		"git fetch":  {[]string{"git fetch origin main"}, []string{"git fetch --upload-pack=x y", "git fetch --upload-p x y", "git fetch y --up=x"}},
		"git rebase": {[]string{"git rebase -i main"}, []string{"git rebase -x y", "git rebase -ix y", "git rebase --exec=y main", "git rebase --ex y"}},
		"rsync":      {[]string{"rsync -a x y"}, []string{"rsync -e x y z", "rsync --rsh=x y z"}},
	} {
		p := with(t, policy.Always, allow(program+" *"))
		for _, line := range lines.reads {
			line = strings.NewReplacer("( ", "'(' ", " )", " ')'").Replace(line)
			if v := p.Decide(shell(line)); v.Decision != policy.Allow {
				t.Errorf("%s *: %q is %s: %s", program, line, v.Decision, v.Why)
			}
		}
		for _, line := range lines.writes {
			if v := p.Decide(shell(line)); v.Decision != policy.Ask {
				t.Errorf("%s *: %q is %s: %s", program, line, v.Decision, v.Why)
			}
			// A rule that names the option allows it.
			r, err := policy.RuleFor(shell(line))
			if err != nil || with(t, policy.Always, r).Decide(shell(line)).Decision != policy.Allow {
				t.Errorf("%q has no rule of its own: %+v %v", line, r, err)
			}
		}
	}
}

// A wildcard for the command that another one runs would allow any command.
func TestWildcardsBehindRunnersAreRefused(t *testing.T) {
	for _, pattern := range []string{
		"npx *", "bunx *", "uvx *", "pnpx *", "uv run *", "uv run -- *", "uv run --with x *", "uv tool run *", "npm exec *", "npm exec -- *", "npm x *", "npm --prefix d exec *", "npm exec -c *",
		"docker run *", "docker run --rm *", "docker run -v * x", "docker compose run *", "docker compose exec *", "docker exec *", "podman run *", "kubectl exec *", "kubectl exec pod -- *", "docker exec web sh *",
		"poetry run *", "pipx run *", "pipenv run *", "pdm run *", "hatch run *", "pnpm dlx *", "pnpm exec *", "yarn dlx *", "yarn exec *", "bundle exec *", "mise exec *", "mise x *", "go run *", "nix run *",
		"conda run *", "flatpak run *", "uv run python *", "uv run bash -c *", "poetry run env *", "git bisect run *", "cargo exec *", "uv run * x", "uv run p*", "npm exec **", "cd x && uv run *",
	} {
		_, err := policy.New(policy.Risky, []item.Rule{allow(pattern)})
		if err == nil || !strings.Contains(err.Error(), "has a wildcard after") || !strings.Contains(err.Error(), "any command would be allowed: write ") {
			t.Errorf("%s: %v", pattern, err)
		}
		if _, err := policy.New(policy.Risky, []item.Rule{{Tool: "shell", Command: strings.TrimPrefix(pattern, "cd x && "), Decision: policy.Deny}}); err != nil {
			t.Errorf("a rule that denies: %v", err)
		}
	}
	for pattern, line := range map[string]string{
		"uv run pytest *": "uv run pytest -q", "uv run python manage.py *": "uv run python manage.py migrate", "docker run alpine *": "docker run alpine ls", "npm run *": "npm run build", "npm run test:*": "npm run test:unit",
		"go run ./cmd/podd *": "go run ./cmd/podd --help", "cargo run *": "cargo run --release", "golangci-lint run *": "golangci-lint run ./...", "pnpm exec -- tsc *": "pnpm exec -- tsc -p .", "uv sync *": "uv sync", "make *": "make run",
		"go test *": "go test -run x ./...", "uv *": "uv sync", "npm *": "npm run build", "docker *": "docker ps", "uv run x": "uv run x", "npm exec -c 'a b'": "npm exec -c 'a b'",
	} {
		if v := with(t, policy.Always, allow(pattern)).Decide(shell(line)); v.Decision != policy.Allow {
			t.Errorf("%s: %q is %s: %s", pattern, line, v.Decision, v.Why)
		}
	}
	// A wildcard before it does not match the word that makes it run one.
	for pattern, line := range map[string]string{
		"uv *": "uv run x", "npm *": "npm exec x", "docker *": "docker compose run x", "npm **": "npm --prefix d exec x", "uv r*": "uv run x", "pnpm *": "pnpm dlx x", "git bisect *": "git bisect run x",
	} {
		if v := with(t, policy.Always, allow(pattern)).Decide(shell(line)); v.Decision != policy.Ask {
			t.Errorf("%s: %q is %s: %s", pattern, line, v.Decision, v.Why)
		}
	}
}
