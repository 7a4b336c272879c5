#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: ann_files.sh PYTHON TENON MPIEXEC NUMPROC_FLAG FOLDER
# `tenon import` with networks in MOM6's layout that xarray writes now: what it says of one, and that only the right one is
# proved, on 3 ranks.
set -eu
python=$1 tenon=$2 mpiexec=$3 flag=$4 folder=$5
here=$(dirname "$0")
rm -rf "$folder"
env -u LD_PRELOAD "$python" "$here/ann_files.py" "$folder" || exit $?
"$tenon" import "$folder/good.nc" -o "$folder/good" | tee "$folder/report"
for line in "good.nc: MOM6's layout, 5 operations, with a test" 'input  x: \[batch, 27\]' 'output \[1,3\]' \
  '1 A0         affine         inputs 27, outputs 20' '623 parameters, and 60 constants that are not trained'; do
  grep -q "$line" "$folder/report" || { echo "fault: the report has no line '$line'"; exit 1; }
done
[[ -s $folder/good.safetensors ]]
"$mpiexec" "$flag" 3 "$tenon" import "$folder/good.nc" -prove
if "$mpiexec" "$flag" 3 "$tenon" import "$folder/wrong.nc" -prove >"$folder/log" 2>&1; then
  echo "fault: a wrong y_test is accepted"
  exit 1
fi
grep -q 'differs by 1.0e-03, allowed 1.0e-05, at \[0,' "$folder/log" || { cat "$folder/log"; exit 1; }
rm -rf "$folder"
