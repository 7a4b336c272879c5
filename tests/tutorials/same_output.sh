#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Two programs print the same on so many ranks.
# usage: same_output.sh MPIEXEC NUMPROC_FLAG RANKS PROGRAM OTHER [ARGUMENT OF THE OTHER...]
set -eu
mpiexec=$1 flag=$2 ranks=$3 program=$4
shift 4
wanted=$("$mpiexec" "$flag" "$ranks" "$program")
found=$("$mpiexec" "$flag" "$ranks" "$@")
if [[ -z $wanted || $found != "$wanted" ]]; then
  printf 'expected:\n%s\nprinted:\n%s\n' "$wanted" "$found" >&2
  exit 1
fi
