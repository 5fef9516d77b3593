#!/bin/sh
# turn_end, history = "turn": what the turn changed and did not test since goes back to the model.
set -eu
untested=$(jq -r '[.history[] | select(.type == "tool_result")]
  | (map(.kind == "shell" and (.output.summary | test("test"))) | rindex(true) // -1) as $tested
  | .[$tested + 1:] | map(select(.kind == "edit" and (.output.is_error | not)) | .path // .output.summary) | unique | join(", ")')
[ -n "$untested" ] || exit 0
echo "You changed $untested and ran no test since then. Run the tests." >&2
exit 2
