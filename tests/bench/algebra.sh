#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The movement of data beside its limits and its peers, in one table.
#
#   tests/bench/algebra.sh BUILD
#
# Wants a machine that does nothing else: waiting ranks spin, and only where they are more than the
# processors do they yield. Settings come from the environment: MPIEXEC, OPENBLAS_CORETYPE.
set -euo pipefail
build=${1:?usage: algebra.sh BUILD}
export OMP_NUM_THREADS=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_rmaps_base_oversubscribe=1

run() {
  export OMPI_MCA_mpi_yield_when_idle=$(($1 > $(nproc --all)))
  "${MPIEXEC:-mpiexec}" -n "$1" "$build/tests/bench/$2"
}
{
  run 2 repartition
  run 4 repartition
  run 2 halo
  run 2 all_reduce
  run 2 split_convolution
  run 2 overlap
} | awk '!/^work/ || !heads++'
"$build/tests/bench/schedule_making"
"$build/tests/bench/move_prices"
