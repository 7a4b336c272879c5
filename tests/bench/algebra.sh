#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the benchmarks of data movement (repartition, halo, all_reduce, ...), which compare Tenon with the limits of the
# machine and with other libraries, and prints one table.
#
#   tests/bench/algebra.sh BUILD
#
# The machine should be otherwise idle: waiting ranks poll, and yield only if there are more ranks than processors.
# Environment variables: MPIEXEC, OPENBLAS_CORETYPE.
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
