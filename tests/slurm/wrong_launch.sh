#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: wrong_launch.sh SLURM_TEST FOLDER TENON
# srun without the launcher of the program's MPI never passes for a job of 4 ranks: MPI itself or -tenon_ranks ends
# the program with an error.
# shellcheck source=tests/slurm/common.sh
source "$(dirname "$0")/common.sh"
said=$(srun -N 2 --ntasks-per-node=2 --mpi=none --immediate=60 --kill-on-bad-exit=1 "$1" info -job 2>&1) &&
  fail "it has run:" "$said"
[[ $said == *MPI* ]] || fail "no word of MPI:" "$said"
# A world of another size than asked for.
said=$(TENON_OPTIONS="-tenon_ranks 3" on_two_nodes "$1" info -job 2>&1) && fail "it has run:" "$said"
[[ $said == *"runs on 4 ranks, but -tenon_ranks is 3"* ]] || fail "no error:" "$said"
