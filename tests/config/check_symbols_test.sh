#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_symbols_test.sh SCRATCH CC NM
# The test exported_symbols finds a symbol that was removed, one that is not Tenon's and a list that is missing; a symbol
# that was added is none of its faults.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1 cc=$2 nm=$3
rm -rf "$scratch"
mkdir -p "$scratch/abi"
library=$scratch/libplanted.so.1.2.3

# plant FUNCTION...: a library that exports them.
plant() {
  printf 'int %s(void) { return 0; }\n' "$@" >"$scratch/planted.c"
  "$cc" -shared -fPIC -o "$library" "$scratch/planted.c"
}
# expect RESULT TEXT: of the check.
expect() {
  local status=0 said
  said=$("$here/check_symbols.sh" "$library" "$nm" "$scratch/abi") || status=1
  if [[ $status != "$1" || $said != *"$2"* ]]; then
    echo "fault: the check ends with $status, not $1, or does not say '$2', but: $said"
    exit 1
  fi
}

plant TenonFirst TenonSecond
expect 1 "there is no list $scratch/abi/libplanted.so.1.2"
"$here/check_symbols.sh" --record "$library" "$nm" "$scratch/abi"
expect 0 "2 symbols"
plant TenonFirst TenonSecond TenonThird
expect 0 "3 symbols"
plant TenonFirst TenonThird
expect 1 TenonSecond
plant TenonFirst TenonSecond another
expect 1 another
library=$scratch/libplanted.so.1.3.0
plant TenonFirst
expect 1 "there is no list $scratch/abi/libplanted.so.1.3"
