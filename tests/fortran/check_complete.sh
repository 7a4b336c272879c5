#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_complete.sh NM LIBRARY FORTRAN_LIBRARY SOURCES GENERATED
# Every function that the library exports is in every_name.f90, with its name in Fortran (which the compiler has
# found in the module, since that program is built) or the reason why there is none. What the modules declare of C
# exists, and the Fortran library exports names of Tenon only.
set -euo pipefail
nm=$1 library=$2 fortran=$3 sources=$4 generated=$5
status=0
exported() {
  "$nm" -D --defined-only "$1" | awk '{ print $3 }' | sort
}

if ! diff <(exported "$library" | grep '^Tenon') \
  <(sed -nE 's/^.*! (Tenon[A-Za-z0-9]+)(: none, .*)?$/\1/p' "$generated/every_name.f90" | sort); then
  echo "fault: < is only in the library, > only in every_name.f90"
  status=1
fi
declared=$(sed -nE 's/^.*bind\(C, name="(Tenon[A-Za-z0-9]+)"\).*$/\1/p' "$sources/"*.f90 \
  "$generated/tenon_c.f90" | sort -u)
if missing=$(comm -23 <(echo "$declared") <({ exported "$library"; exported "$fortran"; } | sort -u)) &&
  [[ -n $missing ]]; then
  printf 'fault: declared in Fortran, but in no library:\n%s\n' "$missing"
  status=1
fi
if foreign=$(exported "$fortran" | grep -v '^TenonF\|tenon_'); then
  printf 'fault: %s exports\n%s\n' "$fortran" "$foreign"
  status=1
fi
echo "$(wc -l <<<"$declared") functions of C in Fortran"
exit "$status"
