#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: package_test.sh BUILD CPACK CC CXX MPIFC VERSION MPIEXEC NUMPROC_FLAG
# Makes the Debian packages, unpacks them under BUILD/package-test, and builds programs in C, C++ and, where MPIFC is a
# compiler and the module was built, Fortran against the content. Names, versions and sonames are checked.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v dpkg-deb dpkg-shlibdeps >/dev/null; then
  echo "there is no dpkg-deb or dpkg-shlibdeps here"
  exit 77
fi
build=$1/package-test
cpack=$2 cc=$3 cxx=$4 mpifc=$5 version=$6 mpiexec=$7 numproc=$8
rm -rf "$build"
mkdir -p "$build"
"$cpack" --config "$1/CPackConfig.cmake" -G DEB -B "$build" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$build/cpack.log"

fault() {
  echo "fault: $*"
  exit 1
}
for package in "$build"/*.deb; do
  [[ $(dpkg-deb -f "$package" Version) == "$version" ]] || fault "$package is of another version"
  echo "$(basename "$package"), depends on $(dpkg-deb -f "$package" Depends)"
  dpkg-deb -x "$package" "$build/root"
done
[[ -e $build/tenon_${version}_$(dpkg --print-architecture).deb ]] || fault "there is no package tenon"
if dpkg-deb -f "$build/tenon_$version"_*.deb Depends | grep -qi petsc; then
  fault "the package tenon needs PETSc"
fi

lib=$(dirname "$(find "$build/root" -name libtenon.so)")
for library in "$lib"/libtenon*.so; do
  soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  [[ $soname == "$(basename "$library").${version%.*}" ]] || fault "$library has the soname '$soname'"
done

PKG_CONFIG_PATH=$lib/pkgconfig
export PKG_CONFIG_PATH LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
read -ra flags < <(pkg-config --cflags --libs tenon)
"$cc" -std=c99 -o "$build/main_c" "$here/consumer/main.c" "${flags[@]}"
"$build/main_c"
"$cxx" -std=c++17 -o "$build/field" "$here/field.cpp" "${flags[@]}"
"$mpiexec" "$numproc" 2 "$build/field"
if [[ -n $mpifc && -e $lib/pkgconfig/tenon_fortran.pc ]]; then
  read -ra flags < <(pkg-config --cflags --libs tenon_fortran)
  "$mpifc" -o "$build/field_fortran" "$here/field.f90" "${flags[@]}" -Wl,-rpath-link,"$lib"
  "$mpiexec" "$numproc" 2 "$build/field_fortran"
fi
