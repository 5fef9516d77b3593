#!/bin/sh
# turn_end: runs the tests, and sends what failed back to the model.
[ -f Makefile ] || exit 0
if output=$(make test 2>&1); then
	exit 0
fi
printf 'The tests fail. Fix the cause, not the test.\n%s\n' "$output" | tail -n 60 >&2
exit 2
