#!/usr/bin/env bash
# module.sh MODULE: gives podd the module path under which somebody publishes it, such as
# example.org/you/podd, so that `go install MODULE/cmd/podctl@v0.1.0` works. It rewrites the tree
# and commits nothing.
set -euo pipefail
fail() {
	echo "make module: $1" >&2
	exit 1
}

module=${1:-}
[[ $module =~ ^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)+$ ]] ||
	fail "\"$module\" is no module path that the go command can download; set MODULE to one such as example.org/you/podd"
old=$(go list -m)
[ "$module" != "$old" ] || fail "the module is called $module already"
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "commit or undo your changes first: then git checkout . can undo this one"

# Every import, the proto files' go_package and the linker's -X name a folder of the module.
folders=$(git ls-files '*.go' | cut -d/ -f1 | sort -u | grep -v '\.go$' | paste -sd'|')
named="([\"= ])${old//./\\.}/($folders)([/\"])"
git grep -lIE "$named" -- . ':!*.pb.go' ':!CHANGELOG.md' | while read -r file; do
	sed -Ei "s#$named#\\1$module/\\2\\3#g" "$file"
done
sed -Ei "s#\"$old\"#\"$module\"#" internal/testing/layers/*.go internal/testing/size/*.go
sed -Ei "s#(local-prefixes: )\[$old\]#\1[$module]#" .golangci.yml
go mod edit -module "$module"
for dir in tools packaging; do (cd "$dir" && go mod edit -module "$module/$dir"); done
gofmt -w $(git diff --name-only -- '*.go')
rm proto/baseline.binpb # It would refuse another go_package, which no message on the wire has.
make -s generate
echo "The module is $module. Look at git diff, commit, and tag a version: git tag v0.1.0"
