#!/bin/sh
# hook on alert and turn_ended: a desktop notification.
set -eu
text=$(jq -r '.alert.text // "turn \(.turn): \(.entry.turn_ended.outcome | ltrimstr("OUTCOME_") | ascii_downcase)"')
notify-send --app-name podd "${PODD_POD:-podd}" "$text"
