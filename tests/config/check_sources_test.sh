#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_sources_test.sh SCRATCH
# Tests check_sources.py: a small tree in order passes, and each fault planted in it is found.
set -euo pipefail
checker=$(cd "$(dirname "$0")" && pwd)/check_sources.py
rm -rf "$1"
mkdir -p "$1"
cd "$1"
failed=0
licence='// SPDX-License-Identifier: BSD-2-Clause'
opening=$'// Adds grids (tenon/grids.h). The order of the sums is that of the ranks.'

# source_file FILE LINE...: a source that opens as it should, with these lines.
source_file() {
  printf '%s\n' "$licence" "$opening" "${@:2}" >"tree/src/$1"
}

header() {
  printf '%s\n' "$licence" '#pragma once' "${@:2}" >"tree/src/$1"
}

lengthen() { # FILE LINES
  printf '// more\n%.0s' $(seq "$2") >>"tree/src/$1"
}

# Two rooms in order: a header with its source and two users, one of which is a test.
plant() {
  rm -rf tree
  mkdir -p tree/src/{comm,linop/exchange} tree/tests/comm tree/include/tenon
  touch tree/include/tenon/grids.h
  header comm/wire.hpp 'struct Wire { int bytes; };' 'int length(const Wire&);'
  source_file comm/wire.cpp '#include "comm/wire.hpp"' 'int length(const Wire& w) { return w.bytes; }'
  source_file comm/send.cpp '#include "comm/wire.hpp"' 'void send(const Wire&);'
  printf '#include "comm/wire.hpp"\nstatic Wire wire;\n' >tree/tests/comm/wire_test.cpp
}

# expect TEXT...: the checker passes without a text, and otherwise prints one fault, which has each text.
expect() {
  local output text status=0 right=yes
  output=$("$checker" tree) || status=$?
  [[ $status -eq $(($# > 0)) && $(grep -c '^fault: ' <<<"$output") -eq $(($# > 0)) ]] || right=no
  for text in "$@"; do
    [[ $output == *"$text"* ]] || right=no
  done
  [[ $right == yes ]] && return
  printf 'line %s: expected: %s\nstatus %s, output:\n%s\n' "${BASH_LINENO[0]}" "${*:-no fault}" "$status" "$output"
  failed=1
}

plant
expect

# Folders: headers do not count, device sources do, and a folder within a folder counts for itself.
fill() { # SOURCES
  local i
  for i in $(seq "$1"); do
    source_file "linop/exchange/s$i.cpp" 'int x;'
  done
}
plant && fill 25
header linop/exchange/part.hpp 'struct Part {};' && source_file linop/a.cpp '#include "linop/exchange/part.hpp"' 'Part p;'
source_file linop/b.cpp '#include "linop/exchange/part.hpp"' 'Part q;'
expect
plant && fill 25 && source_file linop/exchange/t.cu 'int x;'
expect 'fault: folder: src/linop/exchange: has 26 sources (.cpp and .cu; headers are not counted)' 'Divide it'

# Headers with one user: who it is, and how long the two are together.
plant && rm tree/tests/comm/wire_test.cpp
expect 'fault: header: src/comm/wire.hpp: is used by src/comm/send.cpp alone' 'Merge it with its source into' \
  'at most 12 lines'
lengthen comm/wire.cpp 338
expect '350 lines'
lengthen comm/wire.cpp 1
expect
# Two subjects: an unnamed namespace in each of the two sources.
plant && rm tree/tests/comm/wire_test.cpp
printf '%s\n' 'namespace {' 'int own;' '}' >>tree/src/comm/wire.cpp
expect 'fault: header: src/comm/wire.hpp: is used by src/comm/send.cpp alone'
printf '%s\n' 'namespace {' 'int sent;' '}' >>tree/src/comm/send.cpp
expect
# One header that is part of another, each with its source: the longer pair counts.
plant && rm tree/tests/comm/wire_test.cpp
header comm/send.hpp '#include "comm/wire.hpp"' 'Wire sent();'
source_file comm/send.cpp '#include "comm/send.hpp"'
source_file linop/a.cpp '#include "comm/send.hpp"' 'int y = sent().bytes;'
expect 'fault: header: src/comm/wire.hpp: is used by src/comm/send.hpp alone' 'at most 8 lines'
lengthen comm/send.cpp 343
expect '350 lines'
lengthen comm/send.cpp 1
expect
# Two headers of one user: 351 lines together, though each alone would fit.
plant && rm tree/tests/comm/wire_test.cpp
header comm/lane.hpp 'struct Lane {};' && lengthen comm/lane.hpp 335
source_file comm/send.cpp '#include "comm/lane.hpp"' '#include "comm/wire.hpp"' 'void send(const Wire&, const Lane&);'
[[ $(cat tree/src/comm/*.?pp | wc -l) -eq 351 ]] || { echo 'the planted files have other lengths'; failed=1; }
expect
# An include that nobody needs makes no user, and a test is one.
plant && printf '#include "comm/wire.hpp"\nstatic char name[] = "Wire"; // Wire\n' >tree/tests/comm/wire_test.cpp
expect 'src/comm/wire.hpp: is used by src/comm/send.cpp alone'
# A header with one user in another room, or in the tests, is there for them.
plant && rm tree/tests/comm/wire_test.cpp && mv tree/src/comm/send.cpp tree/src/linop/
expect
plant && rm tree/src/comm/send.cpp
expect
# A header that both compilers read stays; one that only that of devices reads is merged.
plant && rm tree/tests/comm/wire_test.cpp && mv tree/src/comm/send.cpp tree/src/comm/send.cu
expect
mv tree/src/comm/wire.hpp tree/src/comm/wire.cuh && rm tree/src/comm/wire.cpp && sed -i 's/hpp/cuh/' tree/src/comm/send.cu
expect 'src/comm/wire.cuh: is used by src/comm/send.cu alone' 'Merge it into that file'
# A file that is included for its text is a user, and so is one that stands beside the header and says so.
plant && rm tree/tests/comm/wire_test.cpp && printf '#include "wire.hpp"\nWIRE(Wire)\n' >tree/src/comm/wires.inc
expect
# Headers without users: with a source that defines what they declare, and without.
plant && rm tree/tests/comm/wire_test.cpp tree/src/comm/send.cpp
expect 'src/comm/wire.hpp: is used by src/comm/wire.cpp alone' 'Merge it into that file'
plant && header comm/old.hpp 'struct Old {};'
expect 'fault: header: src/comm/old.hpp: no file uses it. Remove it'
# Public headers are for programs.
plant && mkdir -p tree/src/comm/include && header comm/include/tenon_comm.h 'int tenon;'
expect

# Openings: of a source without a comment, with one sentence, with one behind the includes.
opens() { # LINE...
  plant
  printf '%s\n' "$licence" "$@" '#include "comm/wire.hpp"' 'void send(const Wire&);' >tree/src/comm/send.cpp
}
opens
expect 'fault: opening: src/comm/send.cpp: opens with no sentence' 'write a comment of two or more'
opens '// Sends arrays, e.g. those of grids, and waits.'
expect 'src/comm/send.cpp: opens with one sentence'
opens '#include <mpi.h>' '' "$opening"
expect 'src/comm/send.cpp: opens with no sentence'
opens '// Sends. (Nothing else, and nothing twice.)'
expect 'src/comm/send.cpp: opens with one sentence'
opens '// Sends arrays ... over all' '// ranks: sends, and waits' '//' '//   y <- x'
expect 'src/comm/send.cpp: opens with no sentence'
opens '// Sends arrays over' '// all ranks (wire.hpp).' '//' '// post() waits for nobody!'
expect
opens '' '/* Sends arrays (comm/wire.hpp).' ' * Does it wait? */'
expect
mv tree/src/comm/send.cpp tree/src/comm/send.cu && sed -i 's/ Sends arrays.*[.]//' tree/src/comm/send.cu
expect 'src/comm/send.cu: opens with one sentence'

# Headers that declare what a source defines: of its name, named in its opening, in a program.
opens '// Sends arrays. Waits for nobody.'
expect 'fault: declared: src/comm/send.cpp: has no header of its name, and its opening names no header' 'say there which'
opens '// Sends arrays (comm/wires.hpp). Waits for nobody.'
expect 'src/comm/send.cpp: has no header of its name, and its opening names comm/wires.hpp'
printf 'int main() {}\n' >>tree/src/comm/send.cpp
expect
opens '// Sends arrays. Waits for nobody.' && mv tree/src/comm/send.cpp tree/src/comm/wire.cpp
expect

rm -rf tree && mkdir -p tree/src
expect 'tree/src has no sources'
exit "$failed"
