#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_processors.sh ROOT
# In ROOT/src only these files know processors: elsewhere there is no instruction, macro or attribute of one.
set -euo pipefail
cd "$1/src"
known=(sys/{bfloat16,pause,traps}.hpp kernels/walks/stream.hpp kernels/convolution/direct_{avx2,avx512,kernels,neon}.cpp
  kernels/base/instruction_set.{cpp,hpp})
words='[a-z]mmintrin\.h|arm_(neon|sve)\.h|_mm[0-9]*_[a-z]|__(SSE|AVX|FMA|ARM|i386|x86_64|amd64|aarch64)|__builtin_(cpu|ia32)'
words+='|\btarget(_clones)?\("|\basm\b|TENON_HAS_(AVX|NEON)'
exclude=()
for file in "${known[@]}"; do
  grep -qE "$words" "$file" || { echo "fault: src/$file knows no processor any more; leave it out of the list"; exit 1; }
  exclude+=(-e "$file")
done
if find . -type f \( -name '*.?pp' -o -name '*.inc' -o -name '*.cu*' \) -printf '%P\n' | grep -vxF "${exclude[@]}" |
  xargs grep -nE "$words"; then
  echo "fault: these lines are for one kind of processor; put them into one of: ${known[*]}"
  exit 1
fi
