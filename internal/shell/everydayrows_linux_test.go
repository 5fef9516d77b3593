package shell_test

// subject and others are common checks.
const (
	subject = "git log -1 --format=%s"
	whole   = "git status --short; git fsck 2>&1 | grep -v -e dangling -e ^notice || true"
)

// everydayRows are lines as models write them.
var everydayRows = append(append(append(append(
	commitRows, branchRows...), historyRows...), repositoryRows...), programRows...)

var commitRows = []everydayRow{
	{everywhere, []string{"echo x >new.txt\ngit add -A && git commit -m \"$(cat <<'EOF'\nfix: the \"thing\"\n\nIt costs $5 & more.\nEOF\n)\""}, "git log -1 --format=%B", "fix: the \"thing\"\n\nIt costs $5 & more."},
	{everywhere, []string{"git add . && git commit -q --allow-empty -F - <<'EOF'\nfrom a heredoc\n\nCo-work.\nEOF"}, subject, "from a heredoc"},
	{everywhere, []string{"echo x >n.txt && git add n.txt && make && git commit -m x"}, subject, "x"},
	{committed, []string{"GIT_EDITOR=true git commit --allow-empty --amend"}, subject + "; git reflog -1 --format=%gs", "three\ncommit (amend): three"},
	{everywhere, []string{"git -C . add -A && git -C . commit --allow-empty -m c"}, subject, "c"},
	{everywhere, []string{"git -c user.name=m -c commit.gpgsign=false commit --allow-empty -m m"}, "git log -1 --format=%an", "m"},
	{everywhere, []string{"git checkout -q -b f && echo hi >n && git add n && git commit -m x"}, "git branch --show-current; " + subject, "f\nx"},
	{everywhere, []string{"for f in *.txt; do git add \"$f\"; done; git commit --allow-empty -m loop"}, subject, "loop"},
	{everywhere, []string{"git commit --allow-empty -m \"a \\`tick\\`\""}, subject, "a `tick`"},
	{everywhere, []string{"echo z >z.txt; git add *.txt && git commit -qm \"$(ls *.txt | wc -l) files\""}, "git log -1 --format=%s | sed s/[0-9]*//", " files"[1:]},
	{everywhere, []string{"python3 - <<'EOF'\nimport subprocess\nsubprocess.run(['git', 'add', '-A'], check=True)\nsubprocess.run(['git', 'commit', '--allow-empty', '-qm', 'by python'], check=True)\nEOF"}, subject, "by python"},
	{everywhere, []string{`python3 -c 'import os; raise SystemExit(os.system("git add -A && git commit --allow-empty -qm system") != 0)'`}, subject, "system"},
	{everywhere, []string{"./release.sh 1.2"}, subject + "; git tag", "release 1.2\nv1.2"},
	{everywhere, []string{"bash -c 'git add -A; git commit -q --allow-empty -m \"in bash\"'"}, subject, "in bash"},
	{everywhere, []string{"set -euo pipefail\nMSG=\"more: $(date +%Y | cut -c1-2)\"\ngit add -A\ngit commit -q --allow-empty -m \"$MSG\"\ngit status"}, subject, "more: 20"},
	{committed, []string{"echo y >>a.txt; if ! git diff --quiet; then git commit -qam changed; fi"}, subject, "changed"},
	{everywhere, []string{"git ls-files -o --exclude-standard | xargs -r git add && git commit -q --allow-empty -m xargs"}, subject, "xargs"},
	{everywhere, []string{"find . -name '*.txt' -not -path './.git/*' -exec git add {} + && git commit -q --allow-empty -m found"}, subject, "found"},
	{committed, []string{"echo y >>a.txt; printf 'y\\n' | git add -p a.txt && git commit -qm patched"}, subject, "patched"},
	{everywhere, []string{"GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_NAME=c git commit -q --allow-empty -m dated && git log -1"}, "git log -1 --format='%ad %cn' --date=short", "2020-01-01 c"},
	{everywhere, []string{"(cd sub && git add . && git commit -q --allow-empty -m below) && git status --short >st.out"}, subject, "below"},
	{committed, []string{"echo z >>a.txt && timeout 60 git commit -q --no-verify -am 'in time' && git show --stat HEAD | tail -n 1"}, subject, "in time"},
	{committed, []string{"git commit -q --amend --no-edit --author='A <a@x>' --date=now"}, "git log -1 --format='%an %s'", "A three"},
	{everywhere, []string{"touch \"$(git rev-parse --git-dir)/index.lock\"", "rm -f \"$(git rev-parse --git-dir)/index.lock\" && git add -A && git commit -q --allow-empty -m unlocked"}, subject, "unlocked"},
	{everywhere, []string{"echo '*.log' >>\"$(git rev-parse --git-path info/exclude)\" && touch x.log && git status --short >st.out"}, "git check-ignore x.log", "x.log"},
	{everywhere, []string{"cat >msg.out <<EOF\n$(basename $PWD): first\nEOF\ngit add -A && git commit -q --allow-empty -F msg.out && rm msg.out"}, subject, "ws: first"},
}

var branchRows = []everydayRow{
	{committed, []string{"git switch -q -c f --track main && git commit -q --allow-empty -m f"}, "git config branch.f.merge; git rev-parse --abbrev-ref f@{upstream}", "refs/heads/main\nmain"},
	{committed, []string{"git checkout -q -b f -t other"}, "git rev-parse --abbrev-ref @{upstream}", "other"},
	{committed, []string{"git branch -u other && git branch --unset-upstream"}, "git config --get-regexp '^branch' || echo none", "none"},
	{committed, []string{"git branch gone && git branch -d gone; git branch -D other"}, "git branch --list gone other", ""},
	{everywhere, []string{"git branch -m main trunk2"}, "git branch --show-current", "trunk2"},
	{committed, []string{"git switch -q -c f -t main", "git branch -m f g"}, "git config branch.g.merge; git config branch.f.merge || echo none", "refs/heads/main\nnone"},
	{committed, []string{"git switch -q -c f -t main && git switch -q main", "git branch -D f"}, "git config --get-regexp '^branch' || echo none", "none"},
	{committed, []string{"git tag v1 && git tag -a v2 -m two && git tag -d v1 && git describe"}, "git tag", "v2"},
	{everywhere, []string{"git switch -q --orphan clean && git commit -q --allow-empty -m clean"}, "git rev-list --count HEAD", "1"},
	{committed, []string{"git switch -q other && git switch -q - && git checkout -q other"}, "git branch --show-current", "other"},
	{committed, []string{"git merge -q --no-ff -m merged other"}, "git log -1 --format='%s %p' | wc -w", "3"},
	{committed, []string{"GIT_EDITOR=true git merge --no-ff other"}, subject, "Merge branch 'other'"},
	{committed, []string{"git merge --squash other && git commit -q -m squashed"}, subject + "; cat c.txt", "squashed\nthree"},
	{committed, []string{clash + "git merge main || git merge --abort; git status --short"}, subject + "; " + whole, "mine"},
	{committed, []string{clash + "git merge main || (git checkout --theirs a.txt && git add a.txt && git commit -q --no-edit)"}, subject + "; tail -n 1 a.txt", "Merge branch 'main' into clash\nfive"},
	{committed, []string{clash + "git merge -q -X ours main"}, subject + "; cat a.txt", "Merge branch 'main' into clash\nmine"},
	{committed, []string{clash + "git rebase -q main || (git checkout --theirs a.txt; git add a.txt; GIT_EDITOR=true git rebase --continue)"}, subject + "; cat a.txt", "mine\nmine"},
	{committed, []string{clash + "git rebase -q main || true", "git rebase --abort"}, subject + "; " + whole, "mine"},
	{committed, []string{clash + "git rebase -q main || git rebase --skip"}, subject, "three"},
	{committed, []string{"GIT_SEQUENCE_EDITOR=: git rebase -q -i HEAD~1"}, subject + "; " + whole, "three"},
	{committed, []string{"GIT_SEQUENCE_EDITOR=\"sed -i '2s/^pick/squash/'\" GIT_EDITOR=true git rebase -q -i HEAD~2"}, "git log --format=%s", "two\none"},
	{committed, []string{"git rebase -q -x true HEAD~2"}, subject + "; " + whole, "three"},
	{committed, []string{"git rebase -q -x false HEAD~1 || true", "git rebase --continue"}, subject + "; " + whole, "three"},
	{committed, []string{"echo z >>a.txt && git commit -qa --fixup HEAD && GIT_SEQUENCE_EDITOR=: git rebase -q -i --autosquash HEAD~2"}, subject + "; tail -n 1 a.txt", "three\nz"},
	{committed, []string{"git rebase -q --onto other HEAD~2"}, "git log --format=%s", "three\ntwo\nother\none"},
}

// clash is a branch whose a.txt is in conflict with main's.
const clash = "git switch -q -c clash HEAD~1 && echo mine >a.txt && git commit -qam mine; "

var historyRows = []everydayRow{
	{committed, []string{"echo y >>a.txt; git stash && make && git stash pop"}, "git status --short a.txt; git stash list", "M a.txt"},
	{committed, []string{"echo y >>a.txt; git stash push -q -m wip -- a.txt && git stash list && git stash apply -q && git stash drop -q"}, "git status --short; git stash list", "M a.txt"},
	{committed, []string{"echo y >>a.txt; git stash -q; git stash branch wip"}, "git branch --show-current; git status --short", "wip\n M a.txt"},
	{committed, []string{"git notes add -m note && git notes append -m more"}, "git notes show | head -n 1", "note"},
	// git bisect wants to run at the top.
	{atTop, []string{"git bisect start HEAD HEAD~2 && git bisect run sh -c 'test ! -e d.txt' >bisect.out; git bisect reset"}, "grep -c 'is the first bad commit' bisect.out; git branch --show-current", "1\nmain"},
	{atTop, []string{"git bisect start && git bisect bad && git bisect good HEAD~2", "git bisect bad || true; git bisect reset"}, "git branch --show-current; git for-each-ref refs/bisect", "main"},
	{everywhere, []string{"git gc -q && git gc --prune=now -q && git repack -adq && git prune && git pack-refs --all && git commit-graph write --reachable"}, "git fsck 2>&1 | grep -v -e dangling -e ^notice || true", ""},
	{everywhere, []string{"git maintenance run --auto -q; git add -A; git commit -q --allow-empty -m kept"}, subject, "kept"},
	{committed, []string{"echo y >>a.txt; git diff >x.out && git checkout a.txt && git apply x.out"}, "git status --short", "M a.txt"},
	{committed, []string{"git switch -q -c am HEAD~1 && git format-patch -1 --stdout main | git am"}, subject, "three"},
	{committed, []string{"git format-patch -q -2 -o p.out main && git switch -q -c am HEAD~2 && git am -q p.out/*.patch && rm -r p.out"}, "git log --format=%s", "three\ntwo\none"},
	{committed, []string{"git format-patch -1 --stdout >p.out; " + clash + "git am -3 p.out || git am --abort"}, subject + "; " + whole, "mine"},
	{committed, []string{"git cherry-pick -x other"}, subject, "other"},
	{committed, []string{"c=$(git rev-parse main); " + clash + "git cherry-pick $c || git cherry-pick --abort"}, subject + "; " + whole, "mine"},
	{committed, []string{"git revert --no-edit HEAD"}, subject, `Revert "three"`},
	{committed, []string{"git reset -q --hard HEAD~1 && git reset -q --hard 'HEAD@{1}'"}, subject, "three"},
	{committed, []string{"git reset -q --soft HEAD~2 && git commit -q -m squash"}, "git log --format=%s", "squash\none"},
	{committed, []string{"git reflog expire --expire=now --all && git reflog >r.out"}, "git reflog | wc -l", "0"},
	{committed, []string{"git update-index --chmod=+x a.txt && git update-index --refresh || true"}, "git ls-files -s a.txt | cut -c1-6", "100755"},
	{committed, []string{"git checkout -q HEAD~1 -- a.txt; git restore --source HEAD~1 --staged --worktree a.txt; git restore --staged --worktree a.txt"}, "git status --short", ""},
	{committed, []string{"git rm -rq sub && git mv a.txt e.txt && git commit -qm moved"}, "git ls-files '*.txt' | tr '\\n' ' '", "d.txt e.txt far/f.txt"},
	{committed, []string{"touch junk && mkdir dir && touch dir/junk && git clean -fdq junk dir && git clean -fdxn"}, "git status --short", ""},
	{committed, []string{"git update-ref refs/heads/plumb $(echo m | git commit-tree HEAD^{tree} -p HEAD) && git symbolic-ref HEAD refs/heads/plumb"}, subject, "m"},
	{committed, []string{"git blame -L1,1 a.txt >b.out && git grep -n one -- a.txt && git shortlog -sn HEAD && git archive HEAD | tar -t >/dev/null"}, "wc -l <b.out", "1"},
	{committed, []string{"for b in $(git branch --format='%(refname:short)'); do git log -1 --oneline $b; done; git diff --stat HEAD~1; git log -p -1; git show-ref; git cat-file -p HEAD; ls $(git rev-parse --git-path hooks)"}, whole, ""},
	{committed, []string{"git status -s && git sparse-checkout set sub && git sparse-checkout list"}, "test -e far/f.txt || echo sparse", "sparse"},
	{committed, []string{"git status -s; git sparse-checkout set sub", "git sparse-checkout disable"}, "cat far/f.txt; git status --short", "far"},
	{committed, []string{"git bundle create -q b.out --all && git fetch -q \"$PWD/b.out\" main:got"}, "git log -1 --format=%s got", "three"},
	{committed, []string{"git replace HEAD HEAD~1 && git replace -d $(git rev-parse HEAD) && git rerere gc"}, subject, "three"},
}

var repositoryRows = []everydayRow{
	{everywhere, []string{"git config user.name Me && git config user.email me@x"}, "git config user.name; git config user.email", "Me\nme@x"},
	{everywhere, []string{"git config --unset user.name"}, "git config user.name || echo none", "none"},
	{everywhere, []string{"git config pull.rebase true && git config core.autocrlf input && git config --get user.name && git config -l >c.out"}, "git config pull.rebase; git config core.autocrlf", "true\ninput"},
	{everywhere, []string{"git init -q --bare up.git && git remote add up ./up.git && git remote -v"}, "git remote", "up"},
	{everywhere, []string{"git remote add up ./up.git", "git remote rename up down", "git remote remove down"}, "git remote; git config --get-regexp '^remote' || echo none", "none"},
	{everywhere, []string{"git init -q -b main new && cd new && echo x >f && git add f && git -c user.name=n -c user.email=e@x commit -q -m first"}, "git -C new log --format=%s", "first"},
	{everywhere, []string{"git init -q new", "cd new && git config user.name n && git config user.email e@x && git commit -q --allow-empty -m later", "rm -rf new"}, "test -e new || echo gone", "gone"},
	{everywhere, []string{"mkdir -p build/_deps a/b/c/d/e/f node_modules && for d in build/_deps/x a/b/c/d/e/f/x node_modules/x; do git init -q $d || exit 1; done; rm -rf build"}, "git -C node_modules/x rev-parse --is-inside-work-tree; git -C a/b/c/d/e/f/x rev-parse --show-prefix; test -e build || echo gone", "true\n\ngone"},
	// A subdirectory is no repository by itself.
	{atTop, []string{"git clone -q . copy && cd copy && git log --oneline | head -n 1", "git -C copy -c user.name=n -c user.email=e@x commit -q --allow-empty -m copy"}, "git -C copy log -1 --format=%s", "copy"},
	{atTop, []string{"git clone -q . copy", "rm -rf copy"}, "test -e copy || echo gone", "gone"},
	{atTop, []string{"git clone -q . copy", "mv copy kept && git -C kept status --short"}, "git -C kept log -1 --format=%s", "three"},
	{committed, []string{"git clone -q \"$(git rev-parse --show-toplevel)\" copy && git -C copy switch -q -c f && git -C copy -c user.name=n -c user.email=e@x commit -q --allow-empty -m f"}, "git -C copy log -1 --format=%s", "f"},
	{committed, []string{"git clone -q --bare \"$(git rev-parse --show-toplevel)\" store.git", "git -C store.git branch b main && rm -rf x", "rm -rf store.git"}, "test -e store.git || echo gone", "gone"},
	{atTop, []string{"git clone -q --depth 1 \"file://$PWD\" dep && rm -rf dep/.git"}, "cat dep/d.txt; test -e dep/.git || echo gone", "four\ngone"},
	{committed, []string{"top=$(git rev-parse --show-toplevel); git init -q dep && cd dep && git remote add origin \"$top\" && git fetch -q --depth 1 origin main && git checkout -q FETCH_HEAD"}, "git -C dep log --format=%s", "three"},
	{atTop, []string{"git clone -q . copy && cd copy && git fetch -q .. other:got"}, "git -C copy log -1 --format=%s got", "other"},
	{committed, []string{"git clone -q --bare \"$(git rev-parse --show-toplevel)\" up.git && git remote add up ./up.git 2>/dev/null; git remote set-url up \"$PWD/up.git\"; git fetch -q up && git reset -q --hard HEAD~1 && git pull -q up main"}, subject + "; git branch -r --list up/other", "three\n  up/other"},
	{committed, []string{"git clone -q --bare \"$(git rev-parse --show-toplevel)\" up.git && git clone -q ./up.git work && cd work && git reset -q --hard HEAD~1 && git pull -q && git pull -q --rebase"}, "git -C work log -1 --format=%s", "three"},
	{committed, []string{"git worktree add -q wt -b wt && cd wt && echo x >n && git add n && git commit -q -m wt"}, "git -C wt log -1 --format=%s", "wt"},
	{committed, []string{"git worktree add -q wt -b wt", "cd wt && git commit -q --allow-empty -m later", "git worktree remove wt && git branch -D wt"}, "test -e wt || echo gone; git branch --list wt", "gone"},
	{committed, []string{"git worktree add -q --detach wt && git worktree lock wt && git worktree unlock wt && git worktree move wt wt2 && git -C wt2 status --short", "rm -rf wt2 && git worktree prune"}, "test -e wt2 || echo gone; git worktree list | grep -c wt2 || true", "gone\n0"},
	// git writes .gitmodules at the top, which lies outside of a subdirectory.
	{atTop, []string{library + "git -c protocol.file.allow=always submodule --quiet add \"$PWD/src\" lib && git commit -q -m lib && git submodule --quiet update --init --recursive"}, "git submodule status | cut -d' ' -f3; git -C lib log -1 --format=%s", "lib\nsrc"},
	{atTop, []string{library + "git -c protocol.file.allow=always submodule --quiet add \"$PWD/src\" lib && git commit -q -m lib && git submodule --quiet deinit -f lib && git submodule --quiet update --init && cd lib && git checkout -q -b f && git -c user.name=n -c user.email=e@x commit -q --allow-empty -m below"}, "git -C lib log -1 --format=%s", "below"},
	{committed, []string{"git submodule update --init --recursive && git submodule status && git submodule foreach git status"}, whole, ""},
	{committed, []string{"d=$(mktemp -d) && git clone -q \"$(git rev-parse --show-toplevel)\" $d/c && git -C $d/c log -1 --format=%s >c.out && rm -rf $d"}, "cat c.out", "three"},
	{everywhere, []string{"python3 - <<'EOF'\nimport subprocess, tempfile\nwith tempfile.TemporaryDirectory() as d:\n    subprocess.run(['git', 'init', '-q', d], check=True)\n    subprocess.run(['git', 'config', 'core.hooksPath', 'x'], cwd=d, check=True)\nopen('py.out', 'w').write('ok')\nEOF"}, "cat py.out", "ok"},
	// Elsewhere the copy of a gitfile leads nowhere.
	{inRepository, []string{"cp -r . $TMPDIR/copy && cd $TMPDIR/copy && git commit -q --allow-empty -m copied && git log -1 --format=%s >\"$OLDPWD/c.out\" && rm -rf $TMPDIR/copy"}, "cat c.out; " + subject, "copied\nthree"},
	{inRepository, []string{"git clone -q --shared . copy && git -C copy log -1"}, "git -C copy log -1 --format=%s", "three"},
}

// library is another repository in the workspace.
const library = "git init -q -b main src && git -C src -c user.name=n -c user.email=e@x commit -q --allow-empty -m src && echo src >>.gitignore && git commit -qam ignore && "

// seeded is for lines that build with go.
const seeded = "cp -r $SEED cache.out; export GOCACHE=$PWD/cache.out; "

var programRows = []everydayRow{
	{committed, []string{"make version && make"}, "cat version.out | wc -c; cat built.out", "8\nbuilt"},
	{everywhere, []string{"make release && git log -1 --format=%s"}, subject + "; git tag", "release 2.0\nv2.0"},
	// go looks for a directory .git: it finds none from a linked worktree.
	{committed &^ inWorktree, []string{seeded + "go build -buildvcs=true -o prog . && go version -m prog >vcs.out"}, "grep -c vcs.revision vcs.out", "1"},
	{everywhere, []string{seeded + "go build ./... && go run . && echo ok >t.out"}, "cat t.out", "ok"},
	// The packages of tests take seconds to build.
	{inRepository, []string{seeded + "go test ./... && echo ok >t.out"}, "cat t.out", "ok"},
	{everywhere, []string{"printf 'int main(void) { return 0; }\\n' >m.c && cc -o prog m.c && ./prog && rm m.c && git add -A && git commit -q --allow-empty -m built"}, subject, "built"},
	{everywhere, []string{"make -j2 all && ( git add -A; git commit -q --allow-empty -m jobs ) | cat"}, subject, "jobs"},
}

// otherRows are of programs that no test needs otherwise, by their names.
var otherRows = map[string][]everydayRow{
	"npm": {
		// npm commits only where .git is a directory.
		{inRepository, []string{"npm init -y >/dev/null && git add package.json && git commit -qm npm && npm version patch"}, subject + "; git tag", "1.0.1\nv1.0.1"},
		{everywhere, []string{"npm init -y >/dev/null && npm pkg set scripts.commit='git commit -q --allow-empty -m script' && npm run commit && npm install --offline"}, subject, "script"},
	},
	"node": {
		{everywhere, []string{`node -e "require('child_process').execFileSync('git', ['commit', '-q', '--allow-empty', '-m', 'by node'])"`}, subject, "by node"},
	},
	"cargo": {
		{everywhere, []string{"cargo new -q --vcs git app && cd app && cargo build -q --offline && git -c user.name=n -c user.email=e@x commit -q --allow-empty -m cargo"}, "git -C app log -1 --format=%s", "cargo"},
	},
}
