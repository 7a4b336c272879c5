#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_rooms.sh ROOT BUILD NINJA
# Checks the order of the rooms in ROOT/src against ROOT/src/rooms.txt, and prints each fault. BUILD is
# a folder that NINJA has built: its record of the files that the compiler read for each object shows
# what a room reaches through other headers.
#
#   order     a room uses only rooms on lower floors, and includes only what it uses, directly or not
#   reach     sys, geometry, kernels, declaration, machine and reduction do not reach mpi.h; only io reaches HDF5;
#             only kernels and sys reach the headers of BLAS, oneDNN and CUDA; only machine hwloc's
#   words     getenv, abort and printing only in sys and tools
set -euo pipefail

root=$(cd "$1" && pwd)
build=$2
ninja=$3
faults=0
declare -A floor uses

fault() {
  echo "fault: $*"
  faults=$((faults + 1))
}

# Reads rooms.txt; `uses` becomes the transitive closure, as " a b c ".
read_rooms() {
  local level room direct used
  while read -r level room direct; do
    [[ $level =~ ^[0-9]+$ ]] || continue
    floor[$room]=$level
    uses[$room]=" "
    for used in $direct; do
      if [[ -z ${floor[$used]:-} || ${floor[$used]} -ge $level ]]; then
        fault "rooms.txt: $room on floor $level uses $used, which is not on a lower floor"
      fi
      uses[$room]+="$used ${uses[$used]:-}"
    done
  done <"$root/src/rooms.txt"
}

# The source files below the current folder.
sources() {
  find . -regex '.*\.\([ch]\|[ch]pp\|cuh?\)' -printf '%P\n' | sort
}

may_include() { # ROOM OTHER
  [[ $1 == "$2" || ${uses[$1]} == *" $2 "* ]]
}

check_includes() {
  local entry file line path room other
  while IFS= read -r entry; do
    file=${entry%%:*}
    line=${entry#*:}
    room=${file%%/*}
    path=$(sed -E 's/^[^"<]*["<]([^">]*)[">].*/\1/' <<<"${line#*:}")
    if [[ -z ${floor[$room]:-} ]]; then
      fault "src/$file: the room $room is not in rooms.txt"
    elif [[ $path == *..* ]]; then
      fault "src/$file:${line%%:*}: '$path' goes around the rooms; write \"room/file.hpp\""
    elif [[ $path == */* && ($line == *\"* || -e $root/src/$path) ]]; then
      other=${path%%/*}
      may_include "$room" "$other" || fault "src/$file:${line%%:*}: $room includes '$path'"
    fi
  done < <(cd "$root/src" && sources | xargs grep -nHE '^[[:space:]]*#[[:space:]]*include')
}

check_words() {
  local words='\b(getenv|secure_getenv|abort|printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|putc|perror)[[:space:]]*\(|fmt::print|std::(cout|cerr|clog)\b'
  local entry
  while IFS= read -r entry; do
    fault "src/$entry"
  done < <(cd "$root/src" && sources | grep -vE '^(sys|tools)/' | while IFS= read -r file; do
    sed -E 's|//.*||; s|/\*.*\*/||' "$file" | grep -nE "$words" | sed "s|^|$file:|" || true
  done)
}

# The first file of each object's record is its source, which gives the room; tests have none.
check_reach() {
  local line room='' path base faulty source_is_next=no sources_seen=0
  while IFS= read -r line; do
    [[ $line == ' '* ]] || { source_is_next=yes && continue; }
    path=${line#"${line%%[! ]*}"}
    if [[ $source_is_next == yes ]]; then
      source_is_next=no
      room=''
      [[ $path != "$root"/src/*/* ]] || { room=${path#"$root"/src/} && room=${room%%/*}; }
      sources_seen=$((sources_seen + 1))
    fi
    [[ -n $room ]] || continue
    base=${path##*/}
    faulty=no
    case $base in
      mpi.h) [[ ! $room =~ ^(sys|geometry|kernels|declaration|machine|reduction)$ ]] || faulty=yes ;;
      hdf5.h | H5*.h) [[ $room == io ]] || faulty=yes ;;
      hwloc.h) [[ $room == machine ]] || faulty=yes ;;
      cblas.h | dnnl*.h | dnnl*.hpp | cuda*.h | cudnn*.h | cublas*.h | nccl.h)
        [[ $room == kernels || $room == sys ]] || faulty=yes ;;
    esac
    [[ $faulty == no ]] || fault "the room $room reaches $base ($path)"
  done < <("$ninja" -C "$build" -t deps)
  [[ $sources_seen -gt 0 ]] || fault "$build has no record of dependencies; build first"
}

read_rooms
check_includes
check_words
check_reach
[[ $faults -eq 0 ]] || { echo "$faults faults"; exit 1; }
echo "the rooms are in order"
