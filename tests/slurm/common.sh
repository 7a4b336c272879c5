# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests of SLURM: $1 is config/slurm-test, $2 a folder, which is made anew and entered.
set -u
environment=$("$1" env) || { echo "$environment"; exit 77; }
eval "$environment"
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 1
shift 2
export TENON_OPTIONS="-tenon_ranks 4"

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# on_two_nodes PROGRAM...: 2 ranks on each; an error of one ends all, and a job that cannot start is none.
on_two_nodes() {
  srun -N 2 --ntasks-per-node=2 --mpi=pmix --immediate=60 --kill-on-bad-exit=1 "$@"
}
