#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_elements_test.sh SCRATCH
# Tests check_elements.py: a file that hands elements on passes, and each way to touch them is found.
set -euo pipefail
checker=$(cd "$(dirname "$0")" && pwd)/check_elements.py
scratch=$1
failed=0

# try EXPECTED BODY: the function with that body has so many faults.
try() {
  local output found
  rm -rf "$scratch"
  mkdir -p "$scratch/src/layer"
  printf 'template <class T>\nvoid f(const DTensor& x, DTensor& y, Index n, const T* in, T* out) {\n%s\n}\n' "$2" \
    >"$scratch/src/layer/a.cpp"
  output=$("$checker" "$scratch") || true
  found=$(grep -c '^fault: src/layer/a.cpp:3' <<<"$output") || true
  if [[ $found -ne $1 ]]; then
    printf 'expected %s faults, found %s in: %s\n%s\n' "$1" "$found" "$2" "$output"
    failed=1
  fi
}

try 0 'axpby<T>(y.context(), n, T(1), in + 3, T(0), out); // out[0] and *out in words'
try 0 'const T *a = x.data<T>(), *b = in; kernel(a, b, n * out_size, "out[0]");'
try 0 'const HostView<T> elements(y); elements[0] = box[2].begin * n; std::copy_n(list.out.begin(), n, w);'
try 1 'out[0] = 1;'
try 1 '*out = 1;'
try 1 'T value = *in;'
try 1 'y.mutableData<T>()[n] = 0;'
try 1 'T value = *x.data<T>();'
try 1 'const T *a = x.data<T>(), *b = in; use(b[n]);'
try 1 'auto* elements = y.mutableData<T>(); elements[n] = 0;'
try 1 'std::fill_n(out, n, T(0));'
try 1 'std::copy_n(x.data<T>(), n, space);'
try 1 'std::memcpy(space, in, bytes);'
rm -rf "$scratch"
mkdir -p "$scratch"
if "$checker" "$scratch" >"$scratch/output"; then
  echo "a tree without sources passes"
  failed=1
fi
exit "$failed"
