#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_symbols.sh LIBRARY NM
# The shared library exports names that begin with Tenon, and no others.
set -euo pipefail
exported=$("$2" -D --defined-only "$1" | awk '{ print $3 }')
if [[ -z $exported ]]; then
  echo "fault: $1 exports nothing"
  exit 1
fi
if foreign=$(grep -v '^Tenon' <<<"$exported"); then
  printf 'fault: %s exports\n%s\n' "$1" "$foreign"
  exit 1
fi
echo "$(wc -l <<<"$exported") symbols, all of them Tenon's"
