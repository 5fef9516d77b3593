#!/usr/bin/env bash
# need.sh NEED...: installs the Debian packages of what is missing. A NEED is PROGRAM:PACKAGE or
# PATH:PACKAGE. It never fails: it says what is missing and could not be installed, and what
# needs it tells the rest.
set -u
missing=
for need in "$@"; do
	command -v "${need%%:*}" >/dev/null || [ -e "${need%%:*}" ] || missing="$missing ${need#*:}"
done
[ -n "$missing" ] || exit 0

get=(apt-get)
if [ "$(id -u)" != 0 ]; then
	# Without a terminal nobody can type a password.
	if [ -t 0 ]; then get=(sudo apt-get); else get=(sudo -n apt-get); fi
fi
if command -v apt-get >/dev/null && command -v "${get[0]}" >/dev/null; then
	echo "Installing Debian packages:$missing" >&2
	export DEBIAN_FRONTEND=noninteractive
	"${get[@]}" install -y -qq $missing >/dev/null 2>&1 ||
		{ "${get[@]}" update -qq && "${get[@]}" install -y -qq $missing >/dev/null; } && exit 0
fi
echo "Missing, and not installed:$missing (names of Debian packages). Install them with your system's package manager." >&2
