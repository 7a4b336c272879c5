#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_every_call.sh NM INCLUDE OBJECT...
# tenon.hpp has every call of the C interface: the objects, which use all of its members, call each function that the
# headers below INCLUDE declare.
set -euo pipefail
nm=$1 include=$2
shift 2
called() {
  "$nm" -u "$@" | sed -nE 's/^ +U (Tenon[A-Za-z0-9]+)$/\1/p' | sort -u
}
declared() {
  find "$include" -name '*.h' -exec cat {} + | tr '\n' ' ' |
    grep -oE 'TENON_EXTERN [^;()]*\bTenon[A-Za-z0-9]+ *\(' | sed -E 's/.*\b(Tenon[A-Za-z0-9]+) *\($/\1/' | sort -u
}
count=$(declared | wc -l)
if [[ $count -lt 100 ]]; then
  echo "fault: only $count functions are found in $include"
  exit 1
fi
if ! diff <(declared) <(called "$@"); then
  echo "fault: < is declared, but tenon.hpp does not call it, > is called, but not declared; run" \
    "src/interfaces/cxx/generate.py, and use what is written by hand in tests/capi/every_by_hand.cpp"
  exit 1
fi
echo "$count functions"
