#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Tests gpu.sh with programs that stand for those of the bundle: its exit status where tests pass, fail, are skipped or
# are not run for want of time, and its results.
#   gpu_script_test.sh SOURCE_DIR SCRATCH_DIR
set -euo pipefail
source=$1 place=$2
rm -rf "$place"
mkdir -p "$place"/{bin,lib,mpi/bin,tools}

# program FILE TEXT: a script.
program() {
  printf '#!/bin/bash\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
cp "$source"/tests/bench/gpu.sh "$place/"
touch "$place/gpu_torch.py"
printf 'one_test:1\nlinop_device_test:1 2 4\nlayer_device_test:1\nplan_device_test:2\n' >"$place/device_tests.txt"
program "$place/mpi/bin/mpiexec" 'shift 2; exec "$@"'
for name in one_test linop_device_test layer_device_test plan_device_test; do
  program "$place/bin/$name" 'echo "[  PASSED  ] 3 tests."'
done
program "$place/bin/gpu" 'echo "device {}"; echo "a table"'
program "$place/bin/tenon" 'case $1 in
  info) echo "device 0: of the test" ;;
  bench) echo "{}" >"$3" ;;
  check) echo "200 draws passed" ;;
esac'
# Neither a GPU nor a tool that checks memory.
program "$place/tools/nvidia-smi" 'exit 1'
program "$place/tools/compute-sanitizer" 'exit 0'
export PATH=$place/tools:$PATH

# expect STATUS TEXT...: the exit status of gpu.sh, and texts of its report.
expect() {
  local status=0 wanted=$1 text
  shift
  rm -rf "$place/logs" "$place/results"
  "$place/gpu.sh" "$place/results" >"$place/printed" 2>&1 || status=$?
  if [[ $status -ne $wanted ]]; then
    echo "error: the exit status is $status and not $wanted:"
    cat "$place/printed"
    exit 1
  fi
  for text in "$@"; do
    if ! grep -qF "$text" "$place/results/report.txt"; then
      echo "error: the report lacks '$text':"
      cat "$place/results/report.txt"
      exit 1
    fi
  done
}

expect 0 'one_test on 1: [  PASSED  ] 3 tests.' 'linop_device_test on 4: ' '200 draws passed' 'a table' \
  'layer_device_test on 1 with -tenon_device_plans heuristic: ' 'kernels_device_test: nothing found'
[[ $(find "$place/results" -type f -printf '%f\n' | sort | tr '\n' ' ') == 'device.json machine.json report.txt results.tar ' ]]
python3 - "$place/results/results.tar" <<'PY'
import sys, tarfile
names = tarfile.open(sys.argv[1]).getnames()
for name in ('one_test.1', 'linop_device_test.4', 'linop_device_test.2.tenon_device_ipcoff', 'check', 'gpu.1', 'machine'):
    assert f'logs/{name}.log' in names, (name, names)
PY

# A program that TIME ends (as timeout says by 124) is not a failure, one that takes longer than its own limit is.
program "$place/bin/plan_device_test" 'exit 124'
TIME=60 expect 0 'plan_device_test on 2: ' 'not run for want of time' 'more with TIME=120'
TIME=4000 expect 1 'failed (124)'
TIME=0 expect 1 'not run for want of time' 'error: no test ran'

program "$place/bin/plan_device_test" 'echo "[  FAILED  ] 1 test"; exit 1'
expect 1 'failed (1)' '[  FAILED  ] 1 test'
program "$place/bin/plan_device_test" 'echo "needs_device.cpp:5: Skipped"; echo "there is no device: of the test"'
expect 1 'skipped: there is no device: of the test'
program "$place/bin/tenon" 'echo "no device: of the test"'
expect 1 'error: no test and no benchmark runs without a device'
