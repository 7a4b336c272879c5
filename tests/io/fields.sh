#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: fields.sh MPIEXEC NUMPROC_FLAG PROGRAM PYTHON FOLDER
# A series of fields on 3 ranks, continued on 2 after an interruption: what other programs read of it.
# PROGRAM is write_fields: it writes four series of fields to FOLDER, at the steps that follow. The
# first run writes steps 0, 10 and 30. The second one continues at step 20, as after an interruption
# behind step 10: the series then lists 0, 10 and 20, and no longer 30, which check_fields.py verifies.
set -eu
mpiexec=$1 flag=$2 program=$3 python=$4 folder=$5
type -P h5dump >/dev/null || { echo "skipped: there is no h5dump (package hdf5-tools)"; exit 77; }

rm -rf "$folder" && mkdir -p "$folder"
"$mpiexec" "$flag" 3 "$program" "$folder" 0 10 30
"$mpiexec" "$flag" 2 "$program" "$folder" 20
"$python" "$(dirname "$0")/check_fields.py" "$folder"
rm -rf "$folder"
