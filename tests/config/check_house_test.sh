#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_house_test.sh SCRATCH
# Tests check_house.py on a small tree: one within its limits passes, each measure that becomes worse is found by name, and limits
# that are recorded anew are never weaker.
set -euo pipefail
checker=$(cd "$(dirname "$0")" && pwd)/check_house.py
scratch=$1
export PYTHONDONTWRITEBYTECODE=1
failed=0

source_of() { # LINES: a function of that many lines, with enough comments
  printf '// Opens.\n'
  printf 'int f() {\n'
  for ((i = 0; i < $1 - 1; ++i)); do printf '  g(%d); // why\n  // why\n' "$i" | sed -n "$((i % 2 + 1))p"; done
  printf '}\n'
}
plant() {
  rm -rf "$scratch"
  mkdir -p "$scratch"/{src/layer,src/capi,include/tenon/ext,tests/config,tutorials,src/interfaces/python/tenon}
  source_of 40 >"$scratch/src/layer/a.cpp"
  printf 'TENON_EXTERN TenonErrorCode TenonOne(int x) TENON_NOEXCEPT;\n' >"$scratch/include/tenon/one.h"
  printf 'from . import table\n' >"$scratch/src/interfaces/python/tenon/charts.py"
  printf 'import math\n' >"$scratch/src/interfaces/python/tenon/table.py"
  "$checker" "$scratch" --record
}
passes() {
  "$checker" "$scratch" >"$scratch/output" || { echo "$1 is a fault:"; cat "$scratch/output"; failed=1; }
}
# found WORDS: the tree, in which something became worse, has one fault with these words.
found() {
  if "$checker" "$scratch" >"$scratch/output" || [[ $(grep -c '^fault' "$scratch/output") -ne 1 ]] ||
    ! grep -q "^fault: .*$1" "$scratch/output"; then
    echo "not found, or not alone: $1"
    cat "$scratch/output"
    failed=1
  fi
}

plant && passes 'the small tree'
plant && source_of 51 >"$scratch/src/layer/a.cpp" && found 'lines of a function: src/layer/a.cpp f has 51, at most 50'
plant && { for ((i = 0; i < 501; ++i)); do echo '// why'; done; } >"$scratch/src/layer/b.cpp" && found 'lines of a file: src/layer/b.cpp has 501'
plant && { for ((i = 0; i < 50; ++i)); do echo 'int a;'; done; } >"$scratch/src/layer/c.cpp" && { for ((i = 0; i < 450; ++i)); do echo 'int a;'; done; } >>"$scratch/src/layer/c.cpp" && found 'comments of a room: layer'
plant && { for ((i = 0; i < 30; ++i)); do echo '// why' >"$scratch/src/layer/h$i.hpp"; done; } && found 'files of a folder: src/layer has 31, at most 30'
plant && printf '// %0101d\n' 1 >>"$scratch/src/layer/a.cpp" && found 'columns: all has 1, at most 0'
plant && printf 'TENON_EXTERN TenonErrorCode TenonTwo(int x) TENON_NOEXCEPT;\n' >>"$scratch/include/tenon/one.h" && found 'calls: tenon has 2, at most 1'
plant && printf '// dynamic_cast<\n' >>"$scratch/src/layer/a.cpp" && found 'dynamic_casts: outside capi has 1'
plant && printf '// dynamic_cast<\n' >"$scratch/src/capi/a.cpp" && passes 'a cast in capi'
plant && printf 'from . import charts\n' >"$scratch/src/interfaces/python/tenon/table.py" && found 'circles: charts, table has 1'
# What is worse is not recorded.
"$checker" "$scratch" --record
found 'circles: charts, table'
exit $failed
