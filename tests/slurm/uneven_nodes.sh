#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: uneven_nodes.sh SLURM_TEST FOLDER TENON
# Two ranks on each node make the node a level of the machine; 3 + 1 do not, and the view says how to start.
# shellcheck source=tests/slurm/common.sh
source "$(dirname "$0")/common.sh"
said=$(on_two_nodes "$1" info -job) || fail "$said"
[[ $said == *"node"*"2"* && $said != *"'node' is left out"* ]] || fail "no level of nodes:" "$said"
cat >hosts <<'TEXT'
n0
n0
n0
n1
TEXT
said=$(SLURM_HOSTFILE=$PWD/hosts srun -N 2 -n 4 --distribution=arbitrary --mpi=pmix --immediate=60 \
  --kill-on-bad-exit=1 "$1" info -job) || fail "$said"
[[ $(tr -s ' \n' ' ' <<<"$said") == *"'node' is left out: its units hold from 1 to 3 ranks; start as many on each node"*"--ntasks-per-node"* ]] ||
  fail "no advice:" "$said"
