#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: environment_test.sh ROOT SCRATCH
# The choice of BLAS kernels, the list of missing packages and the number of jobs, on inputs made up here.
set -euo pipefail
root=$1
mkdir -p "$2"
cd "$2"
failed=0

expect() { # WHAT EXPECTED GOT
  [[ $2 == "$3" ]] || { echo "$1: expected '$2', got '$3'"; failed=1; }
}

export OPENBLAS_CORETYPE=Nehalem OMPI_MCA_mpi_yield_when_idle=0 OMP_NUM_THREADS=3
# shellcheck source=config/environment.sh
source "$root/config/environment.sh"
expect "the user's kernel stays" Nehalem "$OPENBLAS_CORETYPE"
expect "the user's setting stays" 0 "$OMPI_MCA_mpi_yield_when_idle"
# shellcheck disable=SC2016  # for the script to expand
printf '#!/bin/sh\necho "$OMP_NUM_THREADS"\n' >show
chmod +x show
expect "the user's threads stay" 3 "$(MPIEXEC=./show tenon_mpiexec 4)"
expect "one thread each" 1 "$(unset OMP_NUM_THREADS; MPIEXEC=./show tenon_mpiexec 100000)"

mkdir -p build/src build/tutorials/network
touch build/src/libtenon_wait.so
cp show build/tutorials/network
expect "the library of the program's build" "$(realpath build/src/libtenon_wait.so)" "$(tenon_wait_library build/tutorials/network/show)"
expect "a program elsewhere" "" "$(tenon_wait_library ls)"
expect "no program" "" "$(tenon_wait_library '')"
# shellcheck disable=SC2016  # for the script to expand
printf '#!/bin/sh\necho "$LD_PRELOAD"\n' >preloaded
chmod +x preloaded
expect "nothing to preload" "" "$(unset LD_PRELOAD; MPIEXEC=./preloaded tenon_mpiexec 4 ls)"

cpu() {
  printf 'processor\t: 0\nflags\t\t: fpu %s sse2\n\nprocessor\t: 1\n' "$1" >cpuinfo
  tenon_blas_kernel cpuinfo
}
expect "AVX-512" SkylakeX "$(cpu 'avx2 fma avx512f avx512dq avx512cd avx512bw avx512vl')"
expect "AVX-512 without VL" Haswell "$(cpu 'avx2 fma avx512f avx512dq avx512cd avx512bw')"
expect "AVX2" Haswell "$(cpu 'fma avx avx2')"
expect "AVX2 without FMA" "" "$(cpu 'avx avx2')"
expect "no such file" "" "$(tenon_blas_kernel /nonexistent)"

# Whether the choice is made anew: OpenBLAS's own choice, the best one, the processor, and the outcome.
chosen() {
  (
    unset OPENBLAS_CORETYPE
    eval "tenon_blas_kernel_chosen() { echo $1; }; tenon_blas_kernel() { echo $2; }; uname() { echo ${3:-x86_64}; }"
    tenon_choose_blas_kernel >/dev/null
    echo "${OPENBLAS_CORETYPE:-}"
  )
}
expect "a weak choice" SkylakeX "$(chosen Prescott SkylakeX)"
expect "an AVX2 choice on AVX-512" SkylakeX "$(chosen Haswell SkylakeX)"
expect "a better choice" "" "$(chosen SapphireRapids SkylakeX)"
expect "an equal choice" "" "$(chosen Zen Haswell)"
expect "no OpenBLAS" "" "$(chosen '' SkylakeX)"
expect "another processor" "" "$(chosen armv8 SkylakeX aarch64)"

# shellcheck source=config/packages.sh
source "$root/config/packages.sh"
dpkg-query() { [[ ${*: -1} == there* ]] && printf installed; }
printf '# a comment\n\nthere1   # why\nmissing1 | there2\nmissing2|missing3 # why\nmissing4\n' >list
expect "missing packages" "missing2 missing4" "$(tenon_missing_packages list | xargs)"

# shellcheck source=config/phases.sh
source "$root/config/phases.sh"
expect "cores are not threads" "$(OMP_NUM_THREADS=7 tenon_cores)" "$(OMP_NUM_THREADS=1 tenon_cores)"
exit "$failed"
