#!/bin/sh
# prompt_submit: tells the model what git says of the workspace.
set -eu
status=$(git -c core.fsmonitor=false status --short --branch 2>/dev/null) || exit 0
printf 'git status --short --branch:\n%s\n' "$status" | jq -Rs '{verdict: "continue_with", items: [.]}'
