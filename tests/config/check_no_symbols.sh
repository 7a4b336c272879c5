#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_no_symbols.sh NM WHAT PATTERN ROOM OBJECTS... [-- ROOM OBJECTS...]...
# The objects of rooms that work without WHAT need no symbol of its, those that begin with PATTERN. The first room
# is one that does need them, so that a symbol would be seen.
set -euo pipefail
nm=$1
what=$2
pattern=$3
shift 3
faults=0
expected=yes
while (($#)); do
  room=$1
  shift
  objects=()
  while (($#)) && [[ $1 != -- ]]; do
    objects+=("$1")
    shift
  done
  (($#)) && shift
  [[ ${#objects[@]} -gt 0 ]] || { echo "fault: $room has no objects" && exit 1; }
  needed=$("$nm" -A -u "${objects[@]}" | grep -E " U ($pattern)" || true)
  if [[ $expected == yes && -z $needed ]]; then
    echo "fault: no symbol of $what was found in $room, which uses $what"
    faults=$((faults + 1))
  elif [[ $expected == no && -n $needed ]]; then
    printf 'fault: the room %s needs\n%s\n' "$room" "$needed"
    faults=$((faults + 1))
  fi
  expected=no
done
[[ $faults -eq 0 ]] || exit 1
echo "these rooms need no symbol of $what"
