#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_symbols.sh [--record] LIBRARY NM FOLDER
# The shared library exports names that begin with Tenon, and no others; and all those that programs linked with its soname
# may need. FOLDER has a list of these, a file named as the soname; --record writes it.
set -euo pipefail
record=no
if [[ $1 == --record ]]; then
  record=yes
  shift
fi
exported=$("$2" -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort)
if [[ -z $exported ]]; then
  echo "fault: $1 exports nothing"
  exit 1
fi
if foreign=$(grep -v '^Tenon' <<<"$exported"); then
  printf 'fault: %s exports\n%s\n' "$1" "$foreign"
  exit 1
fi
name=$(basename "$1")
list=$3/${name%.*} # libtenon.so.0.1.0 has the soname libtenon.so.0.1
if [[ $record == yes ]]; then
  printf '# SPDX-License-Identifier: BSD-2-Clause\n%s\n' "$exported" >"$list"
elif [[ ! -e $list ]]; then
  echo "fault: there is no list $list; record one with: $0 --record $*"
  exit 1
elif removed=$(grep -v '^#' "$list" | LC_ALL=C sort | LC_ALL=C comm -23 - <(echo "$exported")) && [[ -n $removed ]]; then
  echo "fault: programs linked with $(basename "$list") may need these symbols, which $1 does not export:"
  echo "$removed"
  echo "Keep them, or raise the minor version (before 1.0) or the major one, and with it the soname, and record a new list."
  echo "Where no release had them yet: $0 --record $*"
  exit 1
fi
echo "$(wc -l <<<"$exported") symbols, all of them Tenon's, none removed"
