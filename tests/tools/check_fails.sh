#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# `tenon check` must be able to fail: on an operator whose adjoint is wrong it prints the
# configuration, what differed and the command that repeats it, which finds the same. Ranks that wait for
# one that has failed end too.
# usage: check_fails.sh MPIEXEC NUMPROC_FLAG TENON
set -u
mpiexec=$1 flag=$2 tenon=$3

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

for ranks in 1 3; do
  said=$("$mpiexec" "$flag" $ranks "$tenon" check -n 20 -seed 7 -only broken 2>&1)
  [[ $? == 1 ]] || fail "the status at $ranks ranks is not 1:" "$said"
  [[ $said == *"tenon check: FAILED: configuration 0: broken "*"on ["* ]] || fail "no configuration:" "$said"
  [[ $said == *"rank 0: "*adjoint*expected*" got "* ||
     $said == *"rank 0: adjoint identity"* ]] || fail "no difference:" "$said"
  [[ $(grep -c 'FAILED:' <<<"$said") == 1 ]] || fail "several ranks speak:" "$said"
  repeat=$(sed -n 's/^  repeat: mpiexec -n [0-9]* tenon //p' <<<"$said")
  [[ $repeat == "check -seed 7 -case 0 -only broken" ]] || fail "no command to repeat it:" "$said"
  # The words are the command's own.
  # shellcheck disable=SC2086
  again=$("$mpiexec" "$flag" $ranks "$tenon" $repeat 2>&1)
  [[ $(grep 'rank 0: ' <<<"$again") == $(grep 'rank 0: ' <<<"$said") ]] ||
    fail "repeated it is another:" "$said" "$again"
done

said=$("$mpiexec" "$flag" 2 "$tenon" check -only stuck -timeout 1 2>&1)
[[ $? == 1 ]] || fail "the status of ranks that wait is not 1:" "$said"
[[ $said == *"check: configuration 0 "*"repeat: mpiexec -n 2 tenon check -seed 1 -case 0 -only stuck"* ]] ||
  fail "ranks that wait are not named:" "$said"
