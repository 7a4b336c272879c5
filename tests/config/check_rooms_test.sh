#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_rooms_test.sh SCRATCH CXX NINJA
# Tests check_rooms.sh: a small tree in order passes, and each fault planted in it is found.
set -euo pipefail
checker=$(cd "$(dirname "$0")" && pwd)/check_rooms.sh
cxx=$2
ninja=$3
rm -rf "$1"
mkdir -p "$1"
cd "$1"
failed=0

# A tree of four rooms in order, with headers of the outside world and a test beside it.
plant() {
  rm -rf tree
  mkdir -p tree/src/{sys,geometry,comm,io} tree/outside tree/tests/sys
  printf '# floor room uses\n0 sys\n1 geometry sys\n2 comm geometry\n3 io comm\n' >tree/src/rooms.txt
  touch tree/outside/{mpi.h,hdf5.h,cblas.h,hwloc.h}
  echo '#include <sys/stat.h> // getenv( in a comment is none' >tree/src/sys/a.hpp
  printf '#include "sys/a.hpp"\n#include <cstdlib>\nchar* home() { return std::getenv("HOME"); }\n' \
    >tree/src/sys/a.cpp
  printf '#pragma once\n#include "sys/a.hpp"\n' >tree/src/geometry/b.hpp
  printf '#include "geometry/b.hpp"\n#include <cstdio>\n%s\n' \
    'void f(char* s) { std::snprintf(s, 2, "x"); }' >tree/src/geometry/b.cpp
  printf '#include "sys/a.hpp"\n#include <mpi.h>\n' >tree/src/comm/c.cpp
  printf '#include "geometry/b.hpp"\n#include <hdf5.h>\n' >tree/src/io/d.cpp
  printf '#include "sys/a.hpp"\n#include <mpi.h>\n' >tree/tests/sys/a_test.cpp
}

# Builds the planted tree, so that the record of dependencies is the real one.
# shellcheck disable=SC2016  # the $ are ninja's
build() {
  local file
  {
    printf 'rule cxx\n  command = %s -Isrc -I%s/src -isystem %s/outside -MD -MF $out.d -c $in -o $out\n' \
      "$cxx" "$PWD/tree" "$PWD/tree"
    printf '  depfile = $out.d\n  deps = gcc\n'
    for file in "$PWD"/tree/*/*/*.cpp; do
      printf 'build %s.o: cxx %s\n' "${file##*/}" "$file"
    done
  } >tree/build.ninja
  "$ninja" -C tree >tree/log || { cat tree/log; exit 1; }
}

# expect TEXT: the checker passes if TEXT is empty, and otherwise fails with that text, and only that.
expect() {
  local output status=0
  build
  output=$("$checker" tree tree "$ninja") || status=$?
  if [[ -z $1 && $status -eq 0 ]]; then return; fi
  if [[ -n $1 && $status -eq 1 && $output == *"$1"* && $output == *"1 faults"* ]]; then return; fi
  printf 'expected: %s\nstatus %s, output:\n%s\n' "${1:-no fault}" "$status" "$output"
  failed=1
}

plant
expect ""
plant && echo '#include "geometry/b.hpp"' >>tree/src/sys/a.cpp
expect "src/sys/a.cpp:4: sys includes 'geometry/b.hpp'"
plant && echo '#include <io/e.hpp>' >>tree/src/comm/c.cpp && touch tree/src/io/e.hpp
expect "src/comm/c.cpp:3: comm includes 'io/e.hpp'"
plant && echo '#include "../io/e.hpp"' >>tree/src/comm/c.cpp && touch tree/src/io/e.hpp
expect "src/comm/c.cpp:3: '../io/e.hpp' goes around the rooms"
plant && mkdir tree/src/attic && echo '#include <cstdio>' >tree/src/attic/z.cpp
expect "the room attic is not in rooms.txt"
plant && sed -i 's/^1 geometry sys/1 geometry sys comm/' tree/src/rooms.txt
expect "geometry on floor 1 uses comm"
plant && printf '#pragma once\n#include <mpi.h>\n' >tree/outside/wrap.h &&
  echo '#include <wrap.h>' >>tree/src/geometry/b.cpp
expect "the room geometry reaches mpi.h"
plant && echo '#include <hdf5.h>' >>tree/src/comm/c.cpp
expect "the room comm reaches hdf5.h"
plant && echo '#include <cblas.h>' >>tree/src/comm/c.cpp
expect "the room comm reaches cblas.h"
plant && echo '#include <hwloc.h>' >>tree/src/comm/c.cpp
expect "the room comm reaches hwloc.h"
plant && touch tree/outside/cuda_runtime.h && echo '#include <cuda_runtime.h>' >>tree/src/sys/a.cpp
expect 'src/sys/a.cpp:4:#include <cuda_runtime.h>'
plant && mkdir tree/src/sys/cuda && echo '#pragma once' >tree/src/sys/cuda/status.hpp &&
  echo '#include "sys/cuda/status.hpp"' >>tree/src/sys/a.cpp
expect 'src/sys/a.cpp:4:#include "sys/cuda/status.hpp"'
plant && echo 'int cudaDeviceCount();' >tree/outside/gpu.h &&
  printf '#include <gpu.h>\nint h() { return cudaDeviceCount(); }\n' >>tree/src/sys/a.cpp
expect 'src/sys/a.cpp:5:int h() { return cudaDeviceCount(); }'
plant && mkdir tree/src/layer && echo '1 layer sys' >>tree/src/rooms.txt &&
  printf '#pragma once\n#ifdef TENON_WITH_DEVICE\n#endif\n' >tree/src/layer/l.hpp
expect 'src/layer/l.hpp:2:#ifdef TENON_WITH_DEVICE'
for word in 'std::getenv("A")' 'std::abort()' 'std::printf("x")' 'std::puts("x")' '(void)std::cout'; do
  plant && printf '#include <cstdio>\n#include <cstdlib>\n#include <iostream>\nvoid g() { %s; }\n' \
    "$word" >>tree/src/comm/c.cpp
  expect "src/comm/c.cpp:6:void g() { $word"
done
exit "$failed"
