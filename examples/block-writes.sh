#!/bin/sh
# before_tool: keeps the tools that can change files away from deploy/.
set -eu
call=$(jq -r '.call | select(.tool | test("^(write_file|edit_file|apply_patch|shell)$")) | .arguments | tostring')
case $call in *deploy/*)
	echo 'deploy/ is changed by people alone: say in your answer what should change there' >&2
	exit 2 ;;
esac
