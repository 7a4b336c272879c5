#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Operators and layers on the device give the same bits in whatever order the work of streams runs: the digests of `tenon
# check` in all modes of the stand-in are one, and that of another seed is another.
# usage: same_bits.sh MPIEXEC NUMPROC_FLAG TENON MODE...
set -u
mpiexec=$1 flag=$2 tenon=$3
shift 3

# digest_of MODE SEED
digest_of() {
  local said
  said=$(TENON_STANDIN=$1 "$mpiexec" "$flag" 2 "$tenon" check -n 20 -seed "$2" -space device -timeout 0 -digest 2>&1) ||
    { printf 'in mode %s:\n%s\n' "$1" "$said" >&2; return 1; }
  sed -n 's/^tenon check: digest \([0-9a-f]\{16\}\)$/\1/p' <<<"$said"
}

first=$(digest_of "$1" 5) && other=$(digest_of "$1" 6) || exit 1
[[ -n $first && $first != "$other" ]] || { echo "no digest of its own: '$first', '$other'" >&2; exit 1; }
status=0
for mode in "${@:2}"; do
  digest=$(digest_of "$mode" 5) || exit 1
  [[ $digest == "$first" ]] || { echo "the digest is $digest in mode $mode, and $first in mode $1" >&2; status=1; }
done
exit $status
