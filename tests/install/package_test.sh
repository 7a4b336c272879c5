#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: package_test.sh BUILD CPACK CC CXX MPIFC VERSION MPIEXEC NUMPROC_FLAG LIBDIR contact:CONTACT
# Makes the Debian packages, unpacks them under BUILD/package-test, and builds programs in C, C++ and, where MPIFC is a
# compiler and the module was built, Fortran against the content; Debian's Python runs one too. Names, versions, sonames,
# dependencies, folders and copyright files are checked, and by lintian the rest where it is installed and LIBDIR is that of
# Debian's processor.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture file; do
  if ! command -v "$tool" >/dev/null; then
    echo "there is no $tool here"
    exit 77
  fi
done
if [[ ! -e $1/CPackConfig.cmake ]]; then
  echo "this build makes no packages; CMake says why"
  exit 77
fi
build=$1/package-test
cpack=$2 cc=$3 cxx=$4 mpifc=$5 version=$6 mpiexec=$7 numproc=$8 libdir=$9 contact=${10#contact:}
rm -rf "$build"
mkdir -p "$build"
"$cpack" --config "$1/CPackConfig.cmake" -G DEB -B "$build" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$build/cpack.log"

fault() {
  echo "fault: $*"
  exit 1
}
abi=${version%.*}
arch=$(dpkg --print-architecture)
multiarch=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)

# field PACKAGE NAME: of the control file.
field() {
  dpkg-deb -f "$build/$1_${version}_$arch.deb" "$2"
}
expected=(tenon "libtenon$abi" libtenon-dev)
[[ ! -e $1/tenon_fortran.pc ]] || expected+=("libtenon-fortran$abi" libtenon-fortran-dev)
[[ ! -e $1/tenon_petsc.pc ]] || expected+=("libtenon-petsc$abi" libtenon-petsc-dev)
[[ ! -e $1/python/tenon ]] || expected+=(python3-tenon)
packages=("$build"/*.deb)
[[ ${#packages[@]} -eq ${#expected[@]} ]] || fault "the packages are ${packages[*]##*/}; expected are ${expected[*]}"
for package in "${expected[@]}"; do
  [[ $(field "$package" Version) == "$version" ]] || fault "$package is missing, or of another version"
  echo "$package depends on $(field "$package" Depends)"
  mkdir -p "$build/content"
  dpkg-deb -x "$build/${package}_${version}_$arch.deb" "$build/content/$package"
  cp -a "$build/content/$package/." "$build/root"
  documents=$build/content/$package/usr/share/doc/$package
  grep -q '^License: BSD-2-Clause' "$documents/copyright" || fault "$package has no copyright file with the licence"
  gzip -dc "$documents/changelog.gz" | grep -q "^tenon ($version)" || fault "$package has no change log"
  case $package in
    *-dev)
      need=${package%-dev}$abi
      [[ $(field "$package" Depends) == *"$need (= $version)"* ]] || fault "$package does not need $need of its version"
      ;;
    lib*)
      others=$(find "$build/content/$package/usr" -type f -o -type l |
        grep -vE "/libtenon[a-z_]*\.so\.$abi(\.[0-9]+)?$|/share/doc/") || true
      [[ -z $others ]] || fault "beside libraries to run, $package has $others"
      ;;
  esac
done
if field "libtenon$abi" Depends | grep -qiE 'petsc|gfortran|-dev'; then
  fault "the package libtenon$abi needs PETSc, Fortran or a package to build with"
fi
readelf -d "$build/root/usr/bin/tenon" | grep -q NEEDED || fault "the needs of the command are not seen"
if readelf -d "$build/root/usr/bin/tenon" "$build/root/usr/$libdir"/libtenon*.so | grep -E 'RPATH|RUNPATH'; then
  fault "a program or library of the packages has a path of its own for libraries"
fi

if [[ $libdir == "$multiarch" ]]; then
  field libtenon-dev Depends | grep -qE '(mpi|mpich)[a-z0-9]*-dev' || fault "libtenon-dev does not need the headers of MPI"
  if command -v lintian >/dev/null; then
    # Nobody can answer at the address that stands in for an empty TENON_CONTACT (config/owner.cmake).
    suppress=()
    [[ -n $contact ]] || suppress=(--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog)
    lintian --allow-root --fail-on error "${suppress[@]}" "${packages[@]}" || fault "lintian finds errors"
  fi
fi

lib=$build/root/usr/$libdir
for library in "$lib"/libtenon*.so; do
  soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  [[ $soname == "$(basename "$library").$abi" ]] || fault "$library has the soname '$soname'"
done

PKG_CONFIG_PATH=$lib/pkgconfig
export PKG_CONFIG_PATH LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# As if the packages were installed where their content lies.
flags_of() {
  pkg-config --define-variable=prefix="$build/root/usr" --cflags --libs "$1"
}
[[ $(pkg-config --variable=prefix tenon) == /usr ]] || fault "tenon.pc has the prefix $(pkg-config --variable=prefix tenon)"
read -ra flags < <(flags_of tenon)
"$cc" -std=c99 -o "$build/main_c" "$here/consumer/main.c" "${flags[@]}"
"$build/main_c"
"$build/root/usr/bin/tenon" plan simulate -machine cpu2s -axes 32 -reduce 0 -bytes 8 >"$build/plan.log" ||
  fault "the command of the packages does not find their machines"
"$cxx" -std=c++17 -o "$build/field" "$here/field.cpp" "${flags[@]}"
"$mpiexec" "$numproc" 2 "$build/field"
if [[ -n $mpifc && -e $lib/pkgconfig/tenon_fortran.pc ]]; then
  read -ra flags < <(flags_of tenon_fortran)
  "$mpifc" -o "$build/field_fortran" "$here/field.f90" "${flags[@]}" -Wl,-rpath-link,"$lib"
  "$mpiexec" "$numproc" 2 "$build/field_fortran"
fi
if [[ -e $build/root/usr/lib/python3/dist-packages/tenon ]]; then
  field python3-tenon Depends | grep -q "libtenon$abi (= $version).*python3-mpi4py.*python3-numpy" ||
    fault "python3-tenon needs $(field python3-tenon Depends)"
  python=/usr/bin/python3
  export PYTHONPATH=$build/root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
  if ! "$python" -c 'import mpi4py.MPI, numpy' 2>/dev/null; then
    echo "no Python program runs: mpi4py or numpy is missing"
  elif said=$("$python" -c 'import tenon' 2>&1 || true) && [[ $said == *"both must be of one MPI"* ]]; then
    echo "no Python program runs: ${said##*$'\n'}"
  else
    found=$("$python" -c 'import tenon.library; print(tenon.library.where)')
    [[ $found == "$lib/libtenon.so.$abi"* ]] || fault "Python finds the library $found"
    "$mpiexec" "$numproc" 2 "$python" "$here/../../tutorials/python/01_hello.py" |
      diff "$here/../../tutorials/expected/01_hello.2.txt" - || fault "the Python package does not run"
  fi
fi
