# SPDX-License-Identifier: BSD-2-Clause
# Sourced. The settings under which MPI, OpenMP and BLAS behave well on one machine, for whoever runs
# Tenon's programs there. Whatever the user has set already is left alone.

# Open MPI: run as root, with more processes than cores, each giving way while it waits. Processes
# are not bound, since with one or two of them each would see a single core.
export OMPI_ALLOW_RUN_AS_ROOT=${OMPI_ALLOW_RUN_AS_ROOT:-1}
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=${OMPI_ALLOW_RUN_AS_ROOT_CONFIRM:-1}
export OMPI_MCA_rmaps_base_oversubscribe=${OMPI_MCA_rmaps_base_oversubscribe:-1}
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
export OMPI_MCA_hwloc_base_binding_policy=${OMPI_MCA_hwloc_base_binding_policy:-none}
export OMPI_MCA_btl_base_warn_component_unused=${OMPI_MCA_btl_base_warn_component_unused:-0}

# The OpenBLAS kernel set that fits the CPU's instructions, from the flags line of the file $1.
tenon_blas_kernel() {
  local flags flag
  flags=" $(sed -n 's/^flags[[:space:]]*: //p' "$1" 2>/dev/null | head -n 1) "
  local avx512=yes
  for flag in avx512f avx512cd avx512bw avx512dq avx512vl; do
    [[ $flags == *" $flag "* ]] || avx512=no
  done
  if [[ $avx512 == yes ]]; then
    echo SkylakeX
  elif [[ $flags == *" avx2 "* && $flags == *" fma "* ]]; then
    echo Haswell
  fi
}

# Whether the kernel set $1, which OpenBLAS chose, is at least as good as $2.
tenon_blas_kernel_suffices() {
  case $2 in
    SkylakeX) [[ $1 =~ ^(SkylakeX|Cooperlake|SapphireRapids)$ ]] ;;
    Haswell) [[ $1 =~ ^(Haswell|Zen|SkylakeX|Cooperlake|SapphireRapids)$ ]] ;;
    *) true ;;
  esac
}

# What OpenBLAS chooses by itself: it says so when it is loaded. Nothing where it cannot be loaded.
tenon_blas_kernel_chosen() {
  LD_PRELOAD=libopenblas.so.0 OPENBLAS_VERBOSE=2 "$(type -P true)" 2>&1 |
    sed -n 's/^Core: //p' | head -n 1
}

# An OpenBLAS older than the CPU falls back to a kernel five times slower than the CPU allows.
tenon_choose_blas_kernel() {
  [[ -z ${OPENBLAS_CORETYPE:-} ]] || return 0
  local best chosen
  best=$(tenon_blas_kernel /proc/cpuinfo)
  chosen=$(tenon_blas_kernel_chosen)
  if [[ -n $best && -n $chosen ]] && ! tenon_blas_kernel_suffices "$chosen" "$best"; then
    export OPENBLAS_CORETYPE=$best
    echo "note: OpenBLAS would run its $chosen kernels on this CPU; OPENBLAS_CORETYPE=$best is set"
  fi
}
tenon_choose_blas_kernel

# tenon_mpiexec PROCESSES PROGRAM ARGUMENTS...: the cores are divided among the processes.
tenon_mpiexec() {
  local processes=$1 threads
  shift
  threads=$(($(nproc) / processes))
  OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((threads > 0 ? threads : 1))} \
    "${MPIEXEC:-mpiexec}" -n "$processes" "$@"
}
