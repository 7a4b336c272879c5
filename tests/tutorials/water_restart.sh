#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: water_restart.sh MPIEXEC NUMPROC_FLAG 06_SHALLOW_WATER EXPECTED FOLDER OPTIONS...
# 06_shallow_water stops in the middle of each way of training, the first time on two ranks, continues from its
# checkpoint on one, and then prints the results of a run that was never interrupted.
set -u
mpiexec=$1 flag=$2 program=$3 expected=$4 folder=$5
shift 5

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}
# run RANKS OPTIONS...
run() {
  local ranks=$1
  shift
  "$mpiexec" "$flag" "$ranks" "$program" -checkpoint run "$@" 2>&1
}
# From the last report of the training on.
results() {
  sed -n '/training step *8:/,$p'
}

# The options are those of tutorials/short.cmake: 40 training steps on single steps of the solver, then 8 through several of them.
# Step 25 is in the first way of training, step 45 in the second.
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
said=$(run 2 -stop 25 "$@") || fail "$said"
[[ $said != *"velocity error     bare"* ]] || fail "did not stop:" "$said"
said=$(run 1 -stop 45 "$@") || fail "$said"
[[ $said == *"continues from run after 25 training steps"* ]] || fail "no restart from step 25:" "$said"
said=$(run 1 "$@") || fail "$said"
[[ $said == *"continues from run after 45 training steps"* ]] || fail "no restart from step 45:" "$said"
[[ $(results <<<"$said") == "$(results <"$expected")" ]] || fail "other results:" "$said"
