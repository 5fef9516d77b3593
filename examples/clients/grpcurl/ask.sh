#!/bin/sh
# Makes a pod, gives it a prompt, and shows its log: ask.sh NAME DIR PROMPT
# Needs grpcurl and jq. The path behind -unix must be absolute.
set -eu
state=${PODD_STATE_DIR:-$HOME/.local/state/podd}
socket=${PODD_SOCKET:-$state/podd.sock}
call() { grpcurl -plaintext -unix "$@"; }

call -H "authorization: Bearer $(cat "$state/client.token")" \
  -d "$(jq -n --arg name "$1" --arg dir "$2" '{name: $name, spec: {dir: $dir}}')" \
  "$socket" podd.v1.PodService/CreatePod | jq -r '"made pod " + .pod.name'

seq=$(call -d "$(jq -n --arg pod "$1" --arg text "$3" '{pod: $pod, parse_refs: true, segments: [{text: {text: $text}}]}')" \
  "$socket" podd.v1.PodService/Submit | jq -r .seq)

# What is above the cursor, until the turn has ended. With "follow": true the stream goes on
# by itself.
while :; do
  entries=$(call -d "$(jq -n --arg pod "$1" --arg seq "$seq" '{pod: $pod, after_seq: $seq}')" \
    "$socket" podd.v1.PodService/Stream | jq -c '.entry // empty')
  if [ -n "$entries" ]; then
    printf '%s\n' "$entries"
    seq=$(printf '%s\n' "$entries" | tail -n 1 | jq -r .seq)
  fi
  case $entries in *'"turnEnded"'*) break ;; esac
  sleep 0.2
done
