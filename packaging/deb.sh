#!/bin/sh
# deb.sh BUILT OUT: packs what `make build share extension` made, in BUILT and plugins/vscode,
# into a Debian package in OUT, and prints its path. The same input gives the same package.
set -eu
umask 022
built=$1 out=$2
command -v dpkg-deb >/dev/null || { echo "make deb needs dpkg-deb: run it where the Debian package dpkg is installed" >&2; exit 1; }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
# A tag v1.2.3 is version 1.2.3; what comes after it, or before the first, is dated.
version=$(git describe --tags --match 'v[0-9]*' 2>/dev/null | sed 's/^v//; s/-\([0-9]*\)-g/+\1.g/') || version=
[ -n "$version" ] || version=0~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M%S)
arch=$(go env GOARCH)
case $arch in 386) arch=i386 ;; arm) arch=armhf ;; esac

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
put() { # MODE FROM TO
	install -D -m "$1" "$2" "$root$3"
}
put 755 "$built/podd" /usr/bin/podd
put 755 "$built/podd-launch" /usr/bin/podd-launch
put 755 "$built/podctl" /usr/bin/podctl
for unit in podd.socket podd.service; do put 644 "$built/share/systemd/user/$unit" "/usr/lib/systemd/user/$unit"; done
for page in "$built"/share/man/man1/*.1; do
	put 644 "$page" "/usr/share/man/man1/${page##*/}"
	gzip -9n "$root/usr/share/man/man1/${page##*/}"
done
for name in podd podctl; do
	put 644 "$built/share/bash-completion/completions/$name" "/usr/share/bash-completion/completions/$name"
	put 644 "$built/share/zsh/site-functions/_$name" "/usr/share/zsh/vendor-completions/_$name"
	put 644 "$built/share/fish/vendor_completions.d/$name.fish" "/usr/share/fish/vendor_completions.d/$name.fish"
done
# The plugin of Neovim, where each start of it looks.
(cd plugins/nvim && find . -type f) | while read -r file; do
	put 644 "plugins/nvim/$file" "/usr/share/nvim/site/pack/podd/start/podd/${file#./}"
done
# What :helptags would write.
(cd plugins/nvim/doc && for page in *.txt; do
	grep -o '\*[^ *|]*\*' "$page" | tr -d '*' | while read -r tag; do printf '%s\t%s\t/*%s*\n' "$tag" "$page" "$tag"; done
done) | LC_ALL=C sort > "$root/usr/share/nvim/site/pack/podd/start/podd/doc/tags"
chmod 644 "$root/usr/share/nvim/site/pack/podd/start/podd/doc/tags"
# The extension of VS Code; a person installs it.
put 644 plugins/vscode/dist/podd.vsix /usr/share/podd/podd.vsix
put 644 LICENSE /usr/share/doc/podd/copyright
put 644 README.md /usr/share/doc/podd/README.md
put 644 CHANGELOG.md /usr/share/doc/podd/CHANGELOG.md
for page in docs/*.md; do
	put 644 "$page" "/usr/share/doc/podd/$page"
done

mkdir "$root/DEBIAN"
cat > "$root/DEBIAN/control" <<EOF
Package: podd
Version: $version
Architecture: $arch
Maintainer: the podd project <podd@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Recommends: bubblewrap
Section: utils
Priority: optional
Description: daemon that hosts LLM agents
 podd hosts LLM agents as pods: named, durable, with any number of clients
 that come and go. podctl talks to it. To run it in the background, from each
 login on: systemctl --user enable --now podd.socket podd.service
EOF
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
mkdir -p "$out"
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/podd_${version}_$arch.deb" >/dev/null
echo "$out/podd_${version}_$arch.deb"
