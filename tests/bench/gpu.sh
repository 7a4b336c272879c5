#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the tests of device code and the benchmark gpu on a machine with a GPU, from a folder that config/gpu_bundle has
# made: programs, libraries and MPI. Times are compared with their limits and with PyTorch. The exit status is 1 if a test
# or a benchmark failed or was skipped, or if no test ran; what was not run for want of time is only named.
#
#   gpu.sh [FOLDER]
#
# FOLDER (results) gets report.txt, which is what is printed, device.json, machine.json, and results.tar with all logs.
# cuBLAS, cuDNN and cuFFT are those of PyTorch's packages, of LD_LIBRARY_PATH, or of the loader's paths. Environment
# variables: PYTHON (python3), TIME=400 seconds for everything, SMALL=1 for the smallest benchmarks, SLOW=1 times as long
# for each program.
set -uo pipefail
results=${1:-$(dirname "$0")/results}
mkdir -p "$results"
results=$(cd "$results" && pwd)
cd "$(dirname "$0")" || exit 1
here=$PWD
logs=$here/logs
python=${PYTHON:-python3}
end=$((SECONDS + ${TIME:-400}))
mkdir -p "$logs"

# The libraries in Python packages: those of the interpreter, of the user, or in folders of PYTHONPATH.
wheels=$("$python" - 2>/dev/null <<'PY'
import glob, os, sys
print(":".join(path for root in sys.path if root for path in sorted(glob.glob(os.path.join(root, "nvidia", "*", "lib")))))
PY
)
export TENON_LIBRARIES=$here/lib:${wheels:+$wheels:}${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/cuda/lib64
export PATH=$PATH:/usr/local/cuda/bin PYTHONUNBUFFERED=1 GTEST_COLOR=no
export OPAL_PREFIX=$here/mpi OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_plm=isolated OMPI_MCA_btl_base_warn_component_unused=0 # no agent to reach other machines
# In containers a process cannot read the memory of another one.
export OMPI_MCA_btl_vader_single_copy_mechanism=none PMIX_MCA_pcompress_base_silence_warning=1
ip link set lo up 2>/dev/null # without which mpiexec does not start

# within SECONDS COMMAND...: runs a command for at most so many seconds, and at most until the end of TIME. Returns 124
# if it took longer, 125 if TIME ended before.
within() {
  local limit=$(($1 * ${SLOW:-1})) left=$((end - SECONDS)) status=0
  shift
  [[ $left -gt 5 ]] || return 125
  timeout -k 5 $((limit < left ? limit : left)) "$@" </dev/null || status=$?
  if [[ $limit -gt $left && ($status -eq 124 || $status -eq 137) ]]; then
    status=125
  fi
  return "$status"
}

# on RANKS SECONDS PROGRAM ARGUMENTS...: runs a program on so many ranks.
on() {
  local ranks=$1 limit=$2
  shift 2
  within "$limit" env LD_LIBRARY_PATH="$TENON_LIBRARIES" PATH="$here/mpi/bin:$PATH" mpiexec -n "$ranks" "$@"
}

failed=0 passed=0 missed=0
# complain STATUS LOG: prints the lines of a log that describe a failure.
complain() {
  if [[ $1 -eq 125 ]]; then
    missed=$((missed + 1))
    echo "not run for want of time"
    return
  fi
  failed=1
  echo "failed ($1); $2:"
  [[ $1 -lt 124 ]] || grep -F '[ RUN ' "$2" | tail -n 1 # where it was stopped
  grep -m 12 -E 'C\+\+ exception|Failure|FAILED|watchdog|rror:|TENON_ERR|cannot|unable' "$2" || tail -n 4 "$2"
}

# run_test NAME RANKS [OPTION OF THE LIBRARY...]
run_test() {
  local name=$1 ranks=$2 begin=$SECONDS status=0 log
  shift 2
  log=$logs/$name.$ranks${*:+.$(tr -dc 'a-z_' <<<"$*")}.log
  TENON_OPTIONS="$*" on "$ranks" 100 "bin/$name" >"$log" 2>&1 || status=$?
  printf '%s on %s%s: ' "$name" "$ranks" "${*:+ with $*}"
  if grep -q 'needs_device.cpp:.* Skipped' "$log"; then
    failed=1
    echo "skipped: $(grep -m 1 'there is no device' "$log")"
  elif [[ $status -eq 0 ]]; then
    passed=$((passed + 1))
    echo "$(grep PASSED "$log" | tail -n 1), $((SECONDS - begin)) s"
  else
    echo -n "$((SECONDS - begin)) s, "
    complain "$status" "$log"
  fi
}

# run_tests_on RANKS: those of the list that run on so many.
run_tests_on() {
  local entry
  while IFS= read -r entry <&3; do
    [[ " ${entry#*:} " != *" $1 "* ]] || run_test "${entry%%:*}" "$1"
  done 3<device_tests.txt
}

# First what shows most, last what takes longest: ranks of one device take turns on it.
run_tests() {
  run_tests_on 1
  # A wrong result of only one of the two is that of a plan, not of a kernel.
  run_test layer_device_test 1 -tenon_device_plans heuristic
  run_tests_on 2
  run_test linop_device_test 2 -tenon_conversion_transport messages
  run_test linop_device_test 2 -tenon_device_ipc off
  run_test plan_device_test 2 -tenon_device_graphs true
  check_draws
  run_tests_on 4
}

# Random operators and layers beside one process.
check_draws() {
  local status=0 log=$logs/check.log
  on 2 100 bin/tenon check -space device -n 200 -timeout 60 >"$log" 2>&1 || status=$?
  if [[ $status -eq 0 ]]; then
    tail -n 1 "$log"
  else
    echo -n "tenon check: "
    complain "$status" "$log"
  fi
}

run_benchmarks() {
  local small=() ranks status
  [[ -z ${SMALL:-} ]] || small=(small)
  for ranks in 1 2; do
    status=0
    on "$ranks" $((300 - 100 * ranks)) bin/gpu "${small[@]}" >"$logs/gpu.$ranks.log" 2>&1 || status=$?
    grep -vE '^(time|device) ' "$logs/gpu.$ranks.log"
    [[ $status -eq 0 ]] || complain "$status" "$logs/gpu.$ranks.log"
    if [[ $ranks -eq 1 ]]; then
      if grep -q '^device ' "$logs/gpu.1.log"; then
        sed -n 's/^device //p' "$logs/gpu.1.log" >"$results/device.json"
        echo "$results/device.json describes the device, for TENON_STANDIN_MODEL"
      fi
      status=0
      within 150 "$python" gpu_torch.py "$logs/gpu.1.log" 2>"$logs/torch.err" | tee "$logs/torch.log" || status=$?
      if [[ $status -ne 0 ]]; then
        echo "note: PyTorch ended with $status: $(tail -n 1 "$logs/torch.err"); times of layers and steps in seconds:"
        grep '^time ' "$logs/gpu.1.log"
      fi
    fi
  done
}

# Rates for plans of networks on machines of this kind.
measure_machine() {
  local status=0
  on 2 100 bin/tenon bench -machine_out "$results/machine.json" -space device >"$logs/machine.log" 2>&1 || status=$?
  if [[ $status -eq 0 ]]; then
    echo "written to $results/machine.json"
  else
    complain "$status" "$logs/machine.log"
  fi
}

check_memory() {
  local status=0
  LD_LIBRARY_PATH=$TENON_LIBRARIES within 120 compute-sanitizer --error-exitcode 9 bin/kernels_device_test \
    >"$logs/memcheck.log" 2>&1 || status=$?
  case $status in
    0) echo "kernels_device_test: nothing found" ;;
    124 | 125) echo "kernels_device_test: not finished in the time" ;;
    *) complain "$status" "$logs/memcheck.log" ;;
  esac
}

# Without a daemon for it, the driver initialises the GPU again for each process that finds it unused, in some seconds.
keeper=
if command -v nvidia-smi >/dev/null; then
  nvidia-smi dmon -d 60 >/dev/null 2>&1 &
  keeper=$!
fi

run_all() {
  local total
  echo "== device"
  timeout 30 nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no nvidia-smi"
  echo "libraries: $TENON_LIBRARIES"
  df -h /dev/shm | tail -n 1
  echo "== start of two processes"
  on 2 60 bin/tenon version 2>&1 || echo "mpiexec fails"
  echo "== devices as Tenon sees them"
  on 1 60 bin/tenon info >"$logs/info.log" 2>&1
  grep -iE '^ *(device|no device|cuda)' "$logs/info.log" || echo "tenon info fails"
  if grep -q '^ *no device' "$logs/info.log"; then
    echo "error: no test and no benchmark runs without a device"
    return 1
  fi
  total=$end
  end=$((SECONDS + (total - SECONDS) * 2 / 5)) # the tests have two fifths of the time
  echo "== tests"
  run_tests
  end=$total
  echo "== benchmarks"
  run_benchmarks
  echo "== machine for plans"
  measure_machine
  if command -v compute-sanitizer >/dev/null; then
    echo "== memory check"
    check_memory
  fi
  if [[ $missed -gt 0 ]]; then
    echo "note: $missed not run for want of time; more with TIME=$((2 * ${TIME:-400}))"
  fi
  if [[ $passed -eq 0 ]]; then
    echo "error: no test ran"
    return 1
  fi
  return "$failed"
}

run_all | tee "$results/report.txt"
status=${PIPESTATUS[0]}
[[ -z $keeper ]] || kill "$keeper" 2>/dev/null
if command -v tar >/dev/null; then
  tar -C "$here" -cf "$results/results.tar" logs
else
  "$python" -m tarfile -c "$results/results.tar" logs
fi
exit "$status"
