#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: torch_reference.sh LAYER_TEST FOLDER MPIEXEC...
# Compares the results of layers on several ranks with PyTorch on the CPU: LAYER_TEST writes the cases to FOLDER on the
# ranks of MPIEXEC, and torch_reference.py computes them again. Exit status 77 (skipped) if python3 has no PyTorch.
set -euo pipefail
program=$1 folder=$2
shift 2
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import numpy, torch; torch.zeros(1)' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [[ -z $python ]]; then
  echo "skipped: python3 has no PyTorch"
  exit 77
fi
rm -rf "$folder"
mkdir -p "$folder"
TENON_TORCH_CASES=$folder "$@" "$program" --gtest_filter=TorchCases.* >"$folder/log" || { cat "$folder/log"; exit 1; }
exec "$python" "$(dirname "$0")/torch_reference.py" "$folder"
