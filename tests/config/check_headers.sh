#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_headers.sh ROOT CC CXX GENERATED MPI_INCLUDE...
# Every public header compiles alone, and twice over, without a warning: as C99, and those of tenon.hpp as C++17. All
# together compile as C++17 and C++20.
# GENERATED is the folder of generated headers, MPI_INCLUDE are MPI's.
set -euo pipefail
root=$1
cc=$2
cxx=$3
generated=$4
mpi=("${@:5}")
flags=(-fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$root/include" -I"$generated")
for folder in "${mpi[@]}"; do flags+=(-isystem "$folder"); done
# As the installed package has it, see TenonInstall.cmake.
flags+=(-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)

status=0
compile() { # COMPILER LANGUAGE STANDARD HEADER...
  { printf '#include <%s>\n' "${@:4}" "${@:4}"; echo 'typedef int NotEmpty;'; } |
    "$1" -x "$2" -std="$3" "${flags[@]}" - || { echo "fault: <${*:4}> as $3"; status=1; }
}
headers() { # SUFFIX
  { find "$root/include" -name "*.$1" -printf '%P\n'; find "$generated" -path '*/tenon/*' -name "*.$1" -printf '%P\n'; } | sort -u
}
mapfile -t in_c < <(headers h)
mapfile -t in_cxx < <(headers hpp)
for header in "${in_c[@]}"; do compile "$cc" c c99 "$header"; done
for header in "${in_cxx[@]}"; do compile "$cxx" c++ c++17 "$header"; done
for standard in c++17 c++20; do compile "$cxx" c++ "$standard" "${in_c[@]}" "${in_cxx[@]}"; done
exit "$status"
