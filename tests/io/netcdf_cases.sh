#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: netcdf_cases.sh PYTHON MAKE FOLDER COMMAND...
# NetCDF files that xarray and netCDF4 write now, read by the command.
set -eu
python=$1 make=$2 folder=$3
shift 3
rm -rf "$folder"
env -u LD_PRELOAD "$python" "$make" "$folder" || exit $?
TENON_NETCDF_CASES=$folder "$@"
rm -rf "$folder"
