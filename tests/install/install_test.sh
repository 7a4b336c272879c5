#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: install_test.sh BUILD CMAKE CC CXX VERSION MPIEXEC...
# Installs the built library under BUILD/install-test, builds the programs in consumer/ and field.cpp against that
# copy by find_package and by pkg-config, and runs them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1/install-test
cmake=$2
cc=$3
cxx=$4
version=$5
mpiexec=("${@:6}") # and its flag for the number of processes
prefix=$build/prefix
rm -rf "$build"
mkdir -p "$build"
"$cmake" --install "$1" --prefix "$prefix" >"$build/install.log"

echo "== tenon"
if [[ $("$prefix/bin/tenon" --version) != "tenon $version" ]]; then
  echo "fault: the installed command does not start, or is of another version"
  exit 1
fi

if ! "$prefix/bin/tenon" plan simulate -machine cpu2s -axes 32 -reduce 0 -bytes 8 >"$build/plan.log"; then
  echo "fault: the installed command does not find the installed machines"
  exit 1
fi

echo "== find_package"
"$cmake" -S "$here/consumer" -B "$build/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DTENON_VERSION="$version"
"$cmake" --build "$build/consumer"
"$build/consumer/main_c"
"$build/consumer/main_cpp"
for ranks in 1 4; do
  "${mpiexec[@]}" "$ranks" "$build/consumer/field"
done

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tenon.pc)")
export PKG_CONFIG_PATH
if [[ $(pkg-config --modversion tenon) != "$version" ]]; then
  echo "fault: tenon.pc gives version $(pkg-config --modversion tenon), not $version"
  exit 1
fi
read -ra flags < <(pkg-config --cflags --libs tenon)
runpath=-Wl,-rpath,$(pkg-config --variable=libdir tenon)
"$cc" -std=c99 -o "$build/pc_c" "$here/consumer/main.c" "${flags[@]}" "$runpath"
"$cxx" -std=c++17 -o "$build/pc_cpp" "$here/consumer/main.cpp" "${flags[@]}" "$runpath"
"$cxx" -std=c++20 -o "$build/pc_field" "$here/field.cpp" "${flags[@]}" "$runpath"
"$build/pc_c"
"$build/pc_cpp"
"${mpiexec[@]}" 4 "$build/pc_field"
