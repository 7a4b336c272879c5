#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_rooms.sh ROOT BUILD NINJA
# Checks the order of the rooms in ROOT/src against ROOT/src/rooms.txt, and prints each fault. BUILD is
# a folder that NINJA has built: its record of the files that the compiler read for each object shows
# what a room reaches through other headers.
#
#   order     a room uses only rooms on lower floors, and includes only what it uses, directly or not
#   reach     sys, geometry, kernels, weights, declaration, machine, reduction, compile, import, placement,
#             planner and studies do not reach mpi.h; only io reaches HDF5 and NetCDF;
#             only kernels and sys reach the headers of BLAS, oneDNN, FFTW and CUDA; only machine hwloc's
#   device    headers and names of CUDA and its libraries only in sys/cuda and kernels/cuda, whose headers
#             no other source includes
#   branches  no conditions of the preprocessor in linop, layer, plan and train
#   words     getenv, abort and printing only in sys and tools
set -euo pipefail

root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
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
  local entry file line path room other quoted='["<]([^">]*)[">]'
  while IFS= read -r entry; do
    file=${entry%%:*}
    line=${entry#*:}
    room=${file%%/*}
    path=
    [[ ! $line =~ $quoted ]] || path=${BASH_REMATCH[1]}
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

# The sources that do not belong to the device.
elsewhere() {
  sources | grep -vE '^(sys|kernels)/cuda/'
}

# outside_comments REGEX: its places in the files of standard input, FILE:LINE:TEXT, but for those in comments. Few files
# have any place at all.
outside_comments() {
  { xargs grep -lE "$1" || true; } | while IFS= read -r file; do
    sed -E 's|//.*||; s|/\*.*\*/||' "$file" | grep -nE "$1" | sed "s|^|$file:|" || true
  done
}

check_device() {
  local entry
  local named='\b(cuda|cublas|cudnn|cufft|hip|nccl)[A-Z][A-Za-z]*[[:space:]]*\('
  local headers='^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]((cuda|cublas|cudnn|cufft|hip|nccl)|(sys|kernels)/cuda/)'
  while IFS= read -r entry; do
    fault "src/$entry"
  done < <(cd "$root/src" && elsewhere | outside_comments "$headers|$named")
}

check_branches() {
  local entry room
  for room in linop layer plan train; do
    [[ -d $root/src/$room ]] || continue
    while IFS= read -r entry; do
      fault "src/$entry"
    done < <(cd "$root/src" && grep -rnE '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)\b' "$room")
  done
}

check_words() {
  local words='\b(getenv|secure_getenv|abort|printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|putc|perror)[[:space:]]*\(|fmt::print|std::(cout|cerr|clog)\b'
  local entry
  while IFS= read -r entry; do
    fault "src/$entry"
  done < <(cd "$root/src" && sources | grep -vE '^(sys|tools)/' | outside_comments "$words")
}

# Prints for each object with a room the outside headers that it reaches: ROOM PATH; last the number of
# objects. The first file of an object's record is its source, or the one that joins sources of a room,
# which gives the room; tests have none.
outside_headers() {
  "$ninja" -C "$build" -t deps | awk -v sources="$root/src/" -v joined="$build/src/" '
    function behind(start) { return index($1, start) == 1 ? substr($1, length(start) + 1) : "" }
    !/^ / { is_first = 1; next }
    is_first {
      is_first = 0
      objects++
      room = behind(sources)
      if (room == "") room = behind(joined)
      if (!sub(/\/.*/, "", room)) room = ""
      next
    }
    room != "" && /\/(mpi|hdf5|H5|netcdf|hwloc|cblas|dnnl|fftw3|cuda|cudnn|cublas|cufft|hip|nccl)[^\/]*$/ { print room, $1 }
    END { print "objects", objects + 0 }'
}

check_reach() {
  local room path base faulty
  while read -r room path; do
    if [[ $room == objects ]]; then
      [[ $path -gt 0 ]] || fault "$build has no record of dependencies; build first"
      continue
    fi
    base=${path##*/}
    faulty=no
    case $base in
      mpi.h) [[ ! $room =~ ^(sys|geometry|kernels|weights|declaration|machine|reduction|compile|import|placement|planner|studies)$ ]] || faulty=yes ;;
      hdf5.h | H5*.h | netcdf*.h) [[ $room == io ]] || faulty=yes ;;
      hwloc.h) [[ $room == machine ]] || faulty=yes ;;
      cblas.h | fftw3.h | dnnl*.h | dnnl*.hpp | cuda*.h | cudnn*.h | cublas*.h | cufft*.h | hip*.h | nccl.h)
        [[ $room == kernels || $room == sys ]] || faulty=yes ;;
    esac
    [[ $faulty == no ]] || fault "the room $room reaches $base ($path)"
  done < <(outside_headers)
}

read_rooms
check_includes
check_device
check_branches
check_words
check_reach
[[ $faults -eq 0 ]] || { echo "$faults faults"; exit 1; }
echo "the rooms are in order"
