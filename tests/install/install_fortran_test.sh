#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: install_fortran_test.sh BUILD CMAKE FC MPIFC MPIEXEC NUMPROC_FLAG VERSION
# Installs the built library under BUILD/install-test-fortran, builds field.f90 against that
# copy by find_package with FC and by pkg-config with MPI's wrapper MPIFC, and runs it on 1 and 4 processes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1/install-test-fortran
cmake=$2 fc=$3 mpifc=$4 mpiexec=$5 numproc=$6 version=$7
prefix=$build/prefix
rm -rf "$build"
mkdir -p "$build"
"$cmake" --install "$1" --prefix "$prefix" >"$build/install.log"

run() {
  "$mpiexec" "$numproc" 1 "$1"
  "$mpiexec" "$numproc" 4 "$1"
}

echo "== find_package"
"$cmake" -S "$here/consumer_fortran" -B "$build/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_Fortran_COMPILER="$fc" -DTENON_VERSION="$version"
"$cmake" --build "$build/consumer"
run "$build/consumer/main_fortran"

echo "== a project in Fortran alone, without the component"
"$cmake" -S "$here/consumer_one_language" -B "$build/consumer_alone" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_Fortran_COMPILER="$fc" -DTENON_VERSION="$version" -DLANGUAGE=Fortran

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tenon_fortran.pc)")
export PKG_CONFIG_PATH
if [[ $(pkg-config --modversion tenon_fortran) != "$version" ]]; then
  echo "fault: tenon_fortran.pc gives version $(pkg-config --modversion tenon_fortran), not $version"
  exit 1
fi
static=()
if [[ -e $(dirname "$PKG_CONFIG_PATH")/libtenon_fortran.a ]]; then
  static=(--static)
fi
read -ra flags < <(pkg-config "${static[@]}" --cflags --libs tenon_fortran)
"$mpifc" -o "$build/pc_fortran" "$here/field.f90" "${flags[@]}" \
  -Wl,-rpath,"$(pkg-config --variable=libdir tenon_fortran)"
run "$build/pc_fortran"
