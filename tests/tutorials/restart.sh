#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: restart.sh MPIEXEC NUMPROC_FLAG LENET5 FOLDER
# lenet5 continues from its last checkpoint: after the end of a run, and after SIGTERM, on another number of
# ranks, and ends as a run that was never interrupted.
set -u
mpiexec=$1 flag=$2 lenet5=$3 folder=$4

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}
# train RANKS OPTIONS...
train() {
  local ranks=$1
  shift
  "$mpiexec" "$flag" "$ranks" "$lenet5" -network linear -batch 500 "$@"
}
# The loss of an epoch to four digits.
loss() {
  sed -n "s/^epoch  $1 of .*: loss \([0-9]*\.[0-9]\{4\}\).*/\1/p"
}

# 12000 images in batches of 500 are 24 steps an epoch. 7 does not divide 24, so checkpoints are written inside epochs too.
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
whole=$(train 1 -epochs 3) || fail "$whole"
said=$(train 2 -epochs 1 -checkpoint run -every 7) || fail "$said"
said=$(train 1 -epochs 2 -checkpoint run -every 7) || fail "$said"
[[ $said == *"restart from run: step 24"* ]] || fail "no restart from step 24:" "$said"
[[ $(loss 2 <<<"$said") == "$(loss 2 <<<"$whole")" ]] || fail "another loss:" "$whole" "$said"

# SIGTERM to each rank after the first epoch that the run prints.
leaves() {
  local child children
  mapfile -t children < <(pgrep -P "$1")
  [[ ${#children[@]} -gt 0 ]] || echo "$1"
  for child in "${children[@]}"; do leaves "$child"; done
}
exec {lines}< <(exec "$mpiexec" "$flag" 2 "$lenet5" -network linear -batch 500 -epochs 400 \
  -checkpoint run -every 7 2>&1)
job=$!
said=
while read -r line <&"$lines"; do
  if [[ $line == epoch* && $said != *epoch* ]]; then
    mapfile -t ranks < <(leaves "$job")
    kill -TERM "${ranks[@]}"
  fi
  said+=$line$'\n'
done
step=$(sed -n 's/^signal 15: stopped after step \([0-9]*\);.*/\1/p' <<<"$said")
[[ -n $step ]] || fail "not stopped:" "$said"
said=$(train 1 -epochs 1 -checkpoint run) || fail "$said"
[[ $said == *"restart from run: step $step"* ]] || fail "no restart from step $step:" "$said"
rm -rf "$folder"
