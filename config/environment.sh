# SPDX-License-Identifier: BSD-2-Clause
# Sourced. Settings for MPI, OpenMP and BLAS with which Tenon's programs run well on a single machine.
# Variables that are already set are not changed.

# Open MPI: run as root and with more processes than cores, which yield while they wait. Processes are
# not bound: one or two processes would each be bound to a single core.
export OMPI_ALLOW_RUN_AS_ROOT=${OMPI_ALLOW_RUN_AS_ROOT:-1}
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=${OMPI_ALLOW_RUN_AS_ROOT_CONFIRM:-1}
export OMPI_MCA_rmaps_base_oversubscribe=${OMPI_MCA_rmaps_base_oversubscribe:-1}
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
export OMPI_MCA_hwloc_base_binding_policy=${OMPI_MCA_hwloc_base_binding_policy:-none}
# The same for version 5, whose processes PRRTE starts.
export PRTE_MCA_rmaps_default_mapping_policy=${PRTE_MCA_rmaps_default_mapping_policy:-:oversubscribe}
export PRTE_MCA_hwloc_default_binding_policy=${PRTE_MCA_hwloc_default_binding_policy:-none}
export OMPI_MCA_btl_base_warn_component_unused=${OMPI_MCA_btl_base_warn_component_unused:-0}

# The OpenBLAS kernel set for the CPU's instructions, according to the flags line of the file $1.
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

# True if the kernel set $1, which OpenBLAS chose, is at least as good as $2.
tenon_blas_kernel_suffices() {
  case $2 in
    SkylakeX) [[ $1 =~ ^(SkylakeX|Cooperlake|SapphireRapids)$ ]] ;;
    Haswell) [[ $1 =~ ^(Haswell|Zen|SkylakeX|Cooperlake|SapphireRapids)$ ]] ;;
    *) true ;;
  esac
}

# The kernel set that OpenBLAS chooses, which it prints when loaded; empty if it cannot be loaded.
tenon_blas_kernel_chosen() {
  LD_PRELOAD=libopenblas.so.0 OPENBLAS_VERBOSE=2 "$(type -P true)" 2>&1 |
    sed -n 's/^Core: //p' | head -n 1
}

# An OpenBLAS older than the CPU falls back to kernels five times slower than the CPU allows. Where qemu runs the programs
# of another processor, cpuinfo is that of the machine.
tenon_choose_blas_kernel() {
  [[ -z ${OPENBLAS_CORETYPE:-} && $(uname -m) == x86_64 ]] || return 0
  local best chosen
  best=$(tenon_blas_kernel /proc/cpuinfo)
  chosen=$(tenon_blas_kernel_chosen)
  if [[ -n $best && -n $chosen ]] && ! tenon_blas_kernel_suffices "$chosen" "$best"; then
    export OPENBLAS_CORETYPE=$best
    echo "note: OpenBLAS would use slower kernels ($chosen) on this CPU; OPENBLAS_CORETYPE=$best is set"
  fi
}
tenon_choose_blas_kernel

# The library for LD_PRELOAD with which processes that wait leave their cores to others, of the build folder of the program
# $1, which is one of the folders above it; empty if there is none.
tenon_wait_library() {
  local folder
  folder=$(dirname "$(realpath -- "$(type -P "$1")" 2>/dev/null)")
  while [[ $folder == /?* && ! -e $folder/src/libtenon_wait.so ]]; do
    folder=$(dirname "$folder")
  done
  [[ $folder != /?* ]] || echo "$folder/src/libtenon_wait.so"
}

# tenon_mpiexec PROCESSES PROGRAM ARGUMENTS...: mpiexec, with the cores divided among the processes, which give way to each
# other while they wait.
tenon_mpiexec() {
  local processes=$1 threads library
  shift
  threads=$(($(nproc) / processes))
  library=$(tenon_wait_library "${1:-}")
  LD_PRELOAD=$library${library:+${LD_PRELOAD:+:}}${LD_PRELOAD:-} \
    OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((threads > 0 ? threads : 1))} \
    "${MPIEXEC:-mpiexec}" -n "$processes" "$@"
}
