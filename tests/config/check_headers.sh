#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_headers.sh ROOT CC CXX MPI_INCLUDES [GENERATED]
# Every public header compiles alone, and twice over, as C99 and as C++17 without a warning; those of tenon.hpp
# as C++17 and C++20.
# MPI_INCLUDES are MPI's include folders separated by ';', GENERATED the folder of generated headers.
set -euo pipefail
root=$1
cc=$2
cxx=$3
IFS=';' read -ra mpi <<<"$4"
flags=(-fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$root/include" -I"${5:-$root/include}")
for folder in "${mpi[@]}"; do flags+=(-isystem "$folder"); done
# As the installed package has it, see TenonInstall.cmake.
flags+=(-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)

status=0
compile() { # COMPILER LANGUAGE STANDARD HEADER
  printf '#include <%s>\n#include <%s>\ntypedef int NotEmpty;\n' "$4" "$4" |
    "$1" -x "$2" -std="$3" "${flags[@]}" - || { echo "fault: <$4> as $3"; status=1; }
}
while IFS= read -r header; do
  compile "$cc" c c99 "$header"
  compile "$cxx" c++ c++17 "$header"
done < <(cd "$root/include" && find . -name '*.h' -printf '%P\n' | sort)
while IFS= read -r header; do
  compile "$cxx" c++ c++17 "$header"
  compile "$cxx" c++ c++20 "$header"
done < <(cd "$root/include" && find . -name '*.hpp' -printf '%P\n' | sort)
exit "$status"
