#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: install_petsc_test.sh BUILD CMAKE CC VERSION MPIEXEC NUMPROC_FLAG
# Installs the built library under BUILD/install-test-petsc, builds field_petsc.c against that copy by find_package
# and by pkg-config, and runs it on 1 and 4 processes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1/install-test-petsc
cmake=$2 cc=$3 version=$4 mpiexec=$5 numproc=$6
prefix=$build/prefix
rm -rf "$build"
mkdir -p "$build"
"$cmake" --install "$1" --prefix "$prefix" >"$build/install.log"

echo "== find_package"
"$cmake" -S "$here/consumer_petsc" -B "$build/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_COMPILER="$cc" -DTENON_VERSION="$version"
"$cmake" --build "$build/consumer"
"$mpiexec" "$numproc" 1 "$build/consumer/field_petsc"
"$mpiexec" "$numproc" 4 "$build/consumer/field_petsc"

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tenon_petsc.pc)")
export PKG_CONFIG_PATH
if [[ $(pkg-config --modversion tenon_petsc) != "$version" ]]; then
  echo "fault: tenon_petsc.pc gives version $(pkg-config --modversion tenon_petsc), not $version"
  exit 1
fi
static=()
if [[ -e $(dirname "$PKG_CONFIG_PATH")/libtenon_petsc.a ]]; then
  static=(--static)
fi
read -ra flags < <(pkg-config "${static[@]}" --cflags --libs tenon_petsc)
"$cc" -std=c99 -o "$build/pc_petsc" "$here/field_petsc.c" "${flags[@]}" \
  -Wl,-rpath,"$(pkg-config --variable=libdir tenon_petsc)"
"$mpiexec" "$numproc" 1 "$build/pc_petsc"
