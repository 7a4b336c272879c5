#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Times one training step of LeNet-5 on 1, 2 and 4 ranks (lenet5_step), compared with PyTorch with as many threads, if a
# python3 has it. Both run in turns, and the ratio is that of the medians of the turns.
#
#   tests/bench/lenet5.sh BUILD [batch|space]
#
# Environment variables: TURNS (5), PYTHON, OPENBLAS_CORETYPE, MPIEXEC.
set -euo pipefail
build=${1:?usage: lenet5.sh BUILD [batch|space]}
how=${2:-batch}
turns=${TURNS:-5}
here=$(cd "$(dirname "$0")" && pwd)
export OMP_NUM_THREADS=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1

python=
for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
  if [[ -z $python ]] && "$candidate" -c 'import torch' 2>/dev/null; then
    python=$candidate
  fi
done
[[ -n $python ]] || echo "note: no python3 with PyTorch; only Tenon is timed"

# The median of the milliseconds in "name: 12.3 ms ..." lines.
median() {
  sed -n 's/^[a-z]*: \([0-9.]*\) ms.*/\1/p' "$1" | sort -n |
    awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

results=$(mktemp -d)
trap 'rm -r "$results"' EXIT
echo "$(nproc --all) processors, load $(cut -d' ' -f1-3 /proc/loadavg), $turns turns"
for ranks in 1 2 4; do
  : >"$results/tenon"
  : >"$results/torch"
  for ((turn = 0; turn < turns; ++turn)); do
    "${MPIEXEC:-mpiexec}" -n "$ranks" "$build/tests/bench/lenet5_step" "$how" >>"$results/tenon"
    [[ -z $python ]] ||
      OMP_NUM_THREADS=$ranks "$python" "$here/lenet5_torch.py" "$ranks" >>"$results/torch"
  done
  tail -qn 1 "$results/tenon" "$results/torch"
  tenon=$(median "$results/tenon")
  torch=$(median "$results/torch")
  awk -v n="$ranks" -v a="$tenon" -v b="$torch" 'BEGIN {
    printf "%d rank(s): Tenon %.2f ms", n, a
    if (b > 0) printf ", PyTorch %.2f ms with as many threads, ratio %.2f", b, a / b
    print "" }'
done
