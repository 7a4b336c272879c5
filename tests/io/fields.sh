#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: fields.sh MPIEXEC NUMPROC_FLAG PROGRAM PYTHON FOLDER
# A series of fields on 3 ranks, continued on 2 after an interruption: what other programs read of it.
set -eu
mpiexec=$1 flag=$2 program=$3 python=$4 folder=$5
type -P h5dump >/dev/null || { echo "skipped: there is no h5dump (package hdf5-tools)"; exit 77; }

rm -rf "$folder" && mkdir -p "$folder"
"$mpiexec" "$flag" 3 "$program" "$folder" 0 10 30
"$mpiexec" "$flag" 2 "$program" "$folder" 20
"$python" "$(dirname "$0")/check_fields.py" "$folder"
rm -rf "$folder"
