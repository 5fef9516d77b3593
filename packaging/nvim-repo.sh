#!/usr/bin/env bash
# nvim-repo.sh DIR: makes a git repository of the plugin for Neovim, as plugin managers clone it. It has
# what is committed here, in one commit with the same date and author: the same hash for everybody.
set -euo pipefail
fail() {
	echo "make nvim-repo: $1" >&2
	exit 1
}

dir=${1:-}
[ -n "$dir" ] || fail "set DIR to the directory of the repository to make"
[ ! -e "$dir" ] || [ -d "$dir" ] || fail "$dir is a file; set DIR to a directory that is empty or missing"
[ -z "$(ls -A "$dir" 2>/dev/null)" ] || fail "$dir is not empty; set DIR to a directory that is empty or missing"

mkdir -p "$dir"
git archive HEAD plugins/nvim LICENSE | tar -x -C "$dir"
mv "$dir"/plugins/nvim/* "$dir"
rmdir "$dir"/plugins/nvim "$dir"/plugins
echo doc/tags >"$dir/.gitignore" # Plugin managers write it.

export GIT_AUTHOR_NAME=podd GIT_AUTHOR_EMAIL=podd@localhost GIT_COMMITTER_NAME=podd GIT_COMMITTER_EMAIL=podd@localhost
GIT_AUTHOR_DATE=$(git log -1 --format=%cI)
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
of=$(git rev-parse HEAD)
cd "$dir"
git -c init.defaultBranch=main init -q
git add .
git -c commit.gpgsign=false commit -qm "podd for Neovim, of podd $of"
echo "$dir has the plugin. Push it: git -C $dir push URL main"
