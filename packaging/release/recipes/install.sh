#!/bin/sh
# Installs podd <<.Version>> below PREFIX (~/.local), without asking and without root:
#
#   sh install.sh [ADDRESS-OR-DIRECTORY]
#
# It downloads the archive for this system from the address, or takes it from the directory,
# compares its SHA-256 with the one below, and copies its files. The configuration and pods stay.
set -eu
version=<<.Version>>
from=${1:-<<.URL>>}
prefix=${PREFIX:-$HOME/.local}

fail() {
	echo "install.sh: $1" >&2
	exit 1
}

[ -n "$from" ] || fail "say where the files are: sh install.sh ADDRESS-OR-DIRECTORY"
case $(uname -s) in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) fail "there is no podd for $(uname -s); build it with make install" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no podd for $(uname -m); build it with make install" ;;
esac
case $system-$arch in
<<- range $target, $sum := .Sum>>
<<$target>>) want=<<$sum>> ;;
<<- end>>
*) fail "this release has no podd for $system-$arch; build it with make install" ;;
esac

name=podd-$version-$system-$arch
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
case $from in
*://*)
	if command -v curl >/dev/null; then
		curl -fsSL -o "$dir/podd.tar.gz" "$from/$name.tar.gz" || fail "could not download $from/$name.tar.gz"
	elif command -v wget >/dev/null; then
		wget -qO "$dir/podd.tar.gz" "$from/$name.tar.gz" || fail "could not download $from/$name.tar.gz"
	else
		fail "needs curl or wget to download; install one of them, or name a directory"
	fi
	;;
*) cp "$from/$name.tar.gz" "$dir/podd.tar.gz" || fail "$from has no $name.tar.gz" ;;
esac
if command -v sha256sum >/dev/null; then
	got=$(sha256sum "$dir/podd.tar.gz")
else
	got=$(shasum -a 256 "$dir/podd.tar.gz")
fi
[ "${got%% *}" = "$want" ] || fail "$name.tar.gz is not the file of this release: its SHA-256 is ${got%% *}, not $want; nothing was installed"

tar -xzf "$dir/podd.tar.gz" -C "$dir" || fail "could not unpack $name.tar.gz in $dir; nothing was installed"
list=share/podd/files
files=$dir/$name/$list
trap 'while read -r f; do rm -f "$prefix/$f.podd-new"; done <"$files"; rm -rf "$dir"' EXIT
# A program that runs can't be written over, but another file can take its name.
while read -r f; do
	mkdir -p "$prefix/${f%/*}" && cp -p "$dir/$name/$f" "$prefix/$f.podd-new" || fail "could not write $prefix/$f; nothing was installed"
done <"$files"
if [ -e "$prefix/$list" ]; then cp "$prefix/$list" "$dir/before"; else : >"$dir/before"; fi
while read -r f; do mv -f "$prefix/$f.podd-new" "$prefix/$f"; done <"$files"
while read -r f; do grep -qxF "$f" "$files" || rm -f "$prefix/$f"; done <"$dir/before"

echo "podd $version is in $prefix/bin"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "Add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
[ "$system" != linux ] || command -v bwrap >/dev/null || echo "For the best sandbox install bubblewrap with your system's package manager."
echo "Next: podd demo. After an update: podd service restart"
