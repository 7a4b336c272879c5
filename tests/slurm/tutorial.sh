#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tutorial.sh SLURM_TEST FOLDER EXPECTED PROGRAM ARGUMENT...
# A tutorial prints the same under srun on two nodes as under mpiexec.
# shellcheck source=tests/slurm/common.sh
source "$(dirname "$0")/common.sh"
expected=$1
shift
on_two_nodes "$@" >printed || fail "the program ended with $?" "$(cat printed)"
diff "$expected" printed
