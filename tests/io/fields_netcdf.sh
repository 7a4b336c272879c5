#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: fields_netcdf.sh MPIEXEC NUMPROC_FLAG PROGRAM PYTHON CHECK PACKAGES FOLDER
# Series of fields in NetCDF files on 3 ranks, continued on 2: what the script CHECK reads of them by these packages of Python.
set -eu
mpiexec=$1 flag=$2 program=$3 python=$4 check=$5 packages=$6 folder=$7
env -u LD_PRELOAD "$python" -c "import $packages" || { echo "skipped: a package is missing of $packages"; exit 77; }
format=(field_format netcdf field_time_units "days since 1850-01-01" field_length_units km)
options=""
for prefix in "" volume_; do
  for ((i = 0; i < ${#format[@]}; i += 2)); do
    options+=" -tenon_$prefix${format[i]} '${format[i + 1]}'"
  done
done

# PROGRAM writes four series of fields to a folder, at the steps that follow (write_fields.c). The second run continues
# the series of the first one.
rm -rf "$folder" && mkdir -p "$folder"
TENON_OPTIONS=$options "$mpiexec" "$flag" 3 "$program" "$folder" 0 10
TENON_OPTIONS=$options "$mpiexec" "$flag" 2 "$program" "$folder" 20
env -u LD_PRELOAD "$python" "$check" "$folder"
rm -rf "$folder"
