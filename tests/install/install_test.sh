#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: install_test.sh BUILD CMAKE CC CXX VERSION MPIEXEC...
# Installs the built library under BUILD/install-test, builds the programs in consumer/ and field.cpp against that
# copy by find_package and by pkg-config, and runs them. With a static library they need none of Tenon's where they run,
# and have the options of all its classes.
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

echo "== projects in one language"
for language in C CXX; do
  "$cmake" -S "$here/consumer_one_language" -B "$build/consumer_$language" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DTENON_VERSION="$version" -DLANGUAGE=$language
  "$cmake" --build "$build/consumer_$language"
  "${mpiexec[@]}" 2 "$build/consumer_$language/main"
done

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tenon.pc)")
export PKG_CONFIG_PATH
for name in "$PKG_CONFIG_PATH"/tenon*.pc; do
  [[ -d $(pkg-config --variable=libdir "$name") && -d $(pkg-config --variable=includedir "$name") ]] ||
    { echo "fault: the folders of $name are not there" && exit 1; }
  if grep -n '[.][.]' "$name"; then
    echo "fault: $name has paths with '..', which stand in compilers' messages"
    exit 1
  fi
done
if [[ $(pkg-config --modversion tenon) != "$version" ]]; then
  echo "fault: tenon.pc gives version $(pkg-config --modversion tenon), not $version"
  exit 1
fi
static=()
if [[ -e $(dirname "$PKG_CONFIG_PATH")/libtenon.a ]]; then
  static=(--static)
fi
read -ra flags < <(pkg-config "${static[@]}" --cflags --libs tenon)
runpath=-Wl,-rpath,$(pkg-config --variable=libdir tenon)
"$cc" -std=c99 -o "$build/pc_c" "$here/consumer/main.c" "${flags[@]}" "$runpath"
"$cxx" -std=c++17 -o "$build/pc_cpp" "$here/consumer/main.cpp" "${flags[@]}" "$runpath"
"$cxx" -std=c++20 -o "$build/pc_field" "$here/field.cpp" "${flags[@]}" "$runpath"
"$build/pc_c"
"$build/pc_cpp"
"${mpiexec[@]}" 4 "$build/pc_field"

echo "== older standards of C++"
read -ra cflags < <(pkg-config --cflags tenon)
for standard in 11 14; do
  said=$("$cxx" -std=c++$standard -fsyntax-only "${cflags[@]}" -x c++ - 2>&1 <<<'#include <tenon.hpp>') || true
  if [[ $(grep -c 'error:' <<<"$said") -ne 1 || $said != *"tenon.hpp needs C++17"* ]]; then
    echo "fault: with C++$standard the compiler does not say that tenon.hpp needs C++17, and that alone, but: $said"
    exit 1
  fi
done

if [[ ${#static[@]} -gt 0 ]]; then
  echo "== the static library"
  for program in "$build"/pc_c "$build"/consumer/main_c "$build"/consumer/main_cpp; do
    if readelf -d "$program" | grep 'NEEDED.*libtenon'; then
      echo "fault: $program needs a library of Tenon's"
      exit 1
    fi
  done
  declared=$(sed -nE 's/.*OptionRegistration \w+\{\{"(\w+)",.*/\1/p' -r "$here"/../../src/*/*.cpp | sort -u)
  [[ $(wc -l <<<"$declared") -gt 10 ]] || { echo "fault: the options of classes are not seen" && exit 1; }
  printed=$("$build/pc_c" -tenon_help)
  for class in $declared conv spectralconv; do
    if ! grep -qi "^$class" <<<"$printed"; then
      echo "fault: a program with the static library has no options of '$class'"
      exit 1
    fi
  done
fi

echo "== the README's lines"
# Of a build for /usr it lies in the folder of Debian's processor, which pkg-config knows.
if [[ ! $PKG_CONFIG_PATH =~ ^"$prefix"/lib(64|/[^/]+-linux-gnu)?/pkgconfig$ ]]; then
  echo "fault: tenon.pc is in $PKG_CONFIG_PATH, but the README says lib/pkgconfig or lib64/pkgconfig"
  exit 1
fi
"$cc" -o "$build/readme" "$here/../capi/readme_example.c" "${flags[@]}" "$runpath"
"${mpiexec[@]}" 4 "$build/readme"

# component NAME HOW PATTERN: what find_package() says when a program asks for it.
component() {
  local said
  rm -rf "$build/component"
  said=$("$cmake" -S "$here/consumer_components" -B "$build/component" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" -DTENON_VERSION="$version" -DCOMPONENT="$1" -DHOW="$2" 2>&1 | tr -s '[:space:]' ' ') || true
  if [[ $said != *"$3"* ]]; then
    echo "fault: find_package(Tenon $2 $1) does not say '$3', but: $said"
    exit 1
  fi
}
echo "== components"
component Python "REQUIRED;COMPONENTS" "There is no component Python; the components are Fortran and PETSc."
component Python "OPTIONAL_COMPONENTS" "Tenon is found, and Python: FALSE"
rm -f "$(dirname "$(find "$prefix" -name TenonConfig.cmake)")"/TenonPETScTargets*.cmake
component PETSc "REQUIRED;COMPONENTS" "This Tenon was built without the component PETSc."
component PETSc "COMPONENTS" "This Tenon was built without the component PETSc."
if find "$prefix" -name TenonFortranTargets.cmake | grep -q .; then
  component Fortran "REQUIRED;COMPONENTS" "The component Fortran needs the language"
fi
