#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_needed.sh LIBRARY READELF
# The shared library starts where there is no CUDA: it needs no library of its.
set -euo pipefail
needed=$("$2" -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[[ $needed == *libc.so* ]] || { echo "fault: the libraries that $1 needs are not seen" && exit 1; }
if foreign=$(grep -E '^lib(cuda|cudart|cublas|cublasLt|cudnn|cufft|nccl)[._]' <<<"$needed"); then
  printf 'fault: %s needs\n%s\n' "$1" "$foreign"
  exit 1
fi
echo "$(wc -l <<<"$needed") libraries, none of them CUDA's"
