#!/bin/sh
# prompt_submit: tells the model what git says. Programs that the repository configures are not run.
set -euf
IFS='
'
export GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 EMPTY=
filters=$(git config --name-only --get-regexp '^filter\.' 2>/dev/null | sed 's/.*/--config-env=&=EMPTY/')
status=$(git --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null $filters \
  status --short --branch --ignore-submodules=all 2>/dev/null) || exit 0
printf 'git status --short --branch:\n%s\n' "$status" | jq -Rs '{verdict: "continue_with", items: [.]}'
