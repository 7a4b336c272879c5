#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: kills.sh MPIEXEC NUMPROC_FLAG PROGRAM TENON COUNT FOLDER
# Kills writers of checkpoints COUNT times. After each, the folder has a whole file, the latest or the
# one being written, from which the next writer goes on; no file under its final name is damaged.
set -u
mpiexec=$1 flag=$2 program=$3 tenon=$4 count=$5 folder=$6

fail() {
  echo "after kill $kill: $1" >&2
  exit 1
}

rm -rf "$folder" && mkdir -p "$folder" || exit 1
for ((kill = 1; kill <= count; ++kill)); do
  ranks=$((kill % 3 + 2))
  said=$("$mpiexec" "$flag" "$ranks" "$program" "$folder" "$kill" 2>/dev/null)
  [[ $said == *"continues from step"* ]] || fail "$said"
  for file in "$folder"/*.h5; do
    [[ ! -e $file ]] || "$tenon" checkpoint "$file" >/dev/null || fail "$file is damaged"
  done
done
said=$("$mpiexec" "$flag" 2 "$program" "$folder" 0) || fail "$said"
# The command lists each dataset with its digest, and refuses a truncated file.
set -- "$folder"/*.h5
listed=$("$tenon" checkpoint "$1") || fail "$1 is damaged"
[[ $listed == "checkpoint '$1': format 1, written "*" digest right"* ]] || fail "the list is $listed"
head -c 1000 "$1" >"$folder/cut.h5"
listed=$("$tenon" checkpoint "$folder/cut.h5" "$1" 2>&1) && fail "a truncated file is whole"
[[ $listed == *"tenon checkpoint: "*cut.h5*" digest right"* ]] || fail "of a truncated file: $listed"
echo "$count kills: $said"
rm -rf "$folder"
