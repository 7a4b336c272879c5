#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_absent.sh NM STAND_IN OBJECTS...
# What the objects need of those of sys_device the object STAND_IN defines too, so that the library links without CUDA; a
# build that has CUDA shows it. Kernels of the device are in folders named cuda, and the others do not need them there.
set -euo pipefail
nm=$1
stand_in=$2
shift 2
device=()
others=()
for object; do
  case $object in
    *sys_device*) device+=("$object") ;;
    */cuda/*) ;;
    *) others+=("$object") ;;
  esac
done
[[ ${#device[@]} -gt 0 && ${#others[@]} -gt 0 ]] || { echo "fault: no objects of CUDA, or none beside them" && exit 1; }
symbols() { # symbols u|d FILE...: those that the files need, or define for others
  local option=--defined-only
  [[ $1 == d ]] || option=--undefined-only
  shift
  "$nm" --extern-only --format=posix "$option" "$@" | awk 'NF > 1 { print $1 }' | sort -u
}
needed=$(comm -12 <(symbols u "${others[@]}") <(symbols d "${device[@]}"))
[[ -n $needed ]] || { echo "fault: nothing is needed of the objects of CUDA" && exit 1; }
missing=$(comm -23 <(echo "$needed") <(symbols d "$stand_in" "${others[@]}"))
if [[ -n $missing ]]; then
  echo "fault: without CUDA nothing defines"
  c++filt <<<"$missing" || echo "$missing"
  exit 1
fi
echo "$(wc -l <<<"$needed") symbols of CUDA's objects have a stand-in"
