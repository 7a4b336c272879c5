#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# On a machine with a GPU, from a bundle of config/gpu_bundle: tests of device code, then times beside their limits and
# beside PyTorch, in under ten minutes. Ends with 1 if a test failed or was skipped.
#
#   gpu.sh [FOLDER FOR LOGS]
#
# cuBLAS, cuDNN and cuFFT are those of the loader's paths, of LD_LIBRARY_PATH, or of PyTorch's packages. From the environment:
# PYTHON (python3), SMALL=1 for the smallest benchmarks.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
here=$PWD
logs=${1:-$here/logs}
python=${PYTHON:-python3}
mkdir -p "$logs"

wheels=$("$python" - 2>/dev/null <<'PY'
import glob, os, sysconfig
print(":".join(glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "*", "lib"))))
PY
)
export TENON_LIBRARIES=$here/lib:${LD_LIBRARY_PATH:-}:$wheels
export OPAL_PREFIX=$here/mpi OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_plm_rsh_agent=/bin/false OMPI_MCA_btl_base_warn_component_unused=0
export PMIX_MCA_pcompress_base_silence_warning=1

# on RANKS SECONDS PROGRAM ARGUMENTS...: the program on so many ranks, within the time.
on() {
  local ranks=$1 limit=$2
  shift 2
  LD_LIBRARY_PATH=$TENON_LIBRARIES PATH=$here/mpi/bin:$PATH timeout "$limit" mpiexec -n "$ranks" "$@" </dev/null
}

failed=0
run_tests() {
  local entry name ranks
  while IFS= read -r entry; do
    name=${entry%%:*}
    for ranks in ${entry#*:}; do
      local log=$logs/$name.$ranks.log begin=$SECONDS status=0
      on "$ranks" 120 "bin/$name" --gtest_brief=1 >"$log" 2>&1 || status=$?
      if grep -q 'needs_device.cpp:.* Skipped' "$log"; then
        failed=1
        echo "$name on $ranks: skipped: $(grep -m 1 'there is no device' "$log")"
      elif [[ $status -eq 0 ]]; then
        echo "$name on $ranks: $(grep PASSED "$log" | tail -n 1), $((SECONDS - begin)) s"
      else
        failed=1
        echo "$name on $ranks: failed ($status), $((SECONDS - begin)) s; $log:"
        grep -m 8 -E 'Failure|FAILED|error|rror:' "$log"
      fi
    done
  done <device_tests.txt
}

run_benchmarks() {
  local small=${SMALL:+small} ranks
  for ranks in 1 2; do
    on "$ranks" 120 bin/gpu $small >"$logs/gpu.$ranks.log" 2>&1 || failed=1
    grep -v '^time ' "$logs/gpu.$ranks.log"
  done
  if "$python" -c 'import torch; torch.cuda.init()' 2>/dev/null; then
    timeout 120 "$python" gpu_torch.py "$logs/gpu.1.log" 2>&1 | tee "$logs/torch.log"
  else
    echo "note: no PyTorch with a GPU; times of layers and steps in seconds:"
    grep '^time ' "$logs/gpu.1.log"
  fi
}

# Rates for plans of networks on machines of this kind.
measure_machine() {
  if on 2 120 bin/tenon bench -machine_out "$logs/machine.json" -space device >"$logs/machine.log" 2>&1; then
    echo "written to $logs/machine.json"
  else
    failed=1
    echo "failed ($?):"
    tail -n 4 "$logs/machine.log"
  fi
}

echo "== device"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no nvidia-smi"
echo "== tests"
run_tests
if command -v compute-sanitizer >/dev/null; then
  echo "== memory check"
  LD_LIBRARY_PATH=$TENON_LIBRARIES timeout 120 compute-sanitizer --error-exitcode 9 bin/kernels_device_test \
    --gtest_brief=1 >"$logs/memcheck.log" 2>&1 && echo "kernels_device_test: nothing found" ||
    { echo "kernels_device_test: status $?"; tail -n 4 "$logs/memcheck.log"; }
fi
echo "== benchmarks"
run_benchmarks
echo "== machine for plans"
measure_machine
exit "$failed"
