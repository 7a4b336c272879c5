#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_needed.sh FILE READELF TENON
# The shared library, or the command that has the static one, needs the libraries that `tenon info` lists and
# those of the system, and no others: so it starts where there is no CUDA.
set -euo pipefail
needed=$("$2" -d "$1" | sed -n 's/.*(NEEDED).*\[lib\([A-Za-z0-9_+-]*\).*\]/\1/p')
[[ $needed == *c* ]] || { echo "fault: the libraries that $1 needs are not seen" && exit 1; }
declare -A names=([mpi]=MPI [mpich]=MPI [openblas]=BLAS [blas]=BLAS [cblas]=BLAS [z]=zlib [fmt]=fmt [dnnl]=oneDNN
  [fftw3]=FFTW [fftw3f]=FFTW [hwloc]=hwloc [gomp]=OpenMP [omp]=OpenMP)
found=()
for library in $needed; do
  case $library in
    c | m | dl | rt | pthread | atomic | gcc_s | stdc++ | c++) ;;
    hdf5*) found+=(HDF5) ;;
    netcdf*) found+=(NetCDF) ;;
    *) found+=("${names[$library]:-lib$library}") ;;
  esac
done
printed=$("$3" info | sed -n 's/^needs: //p' | sed 's/, /\n/g' | sort)
if ! diff <(printf '%s\n' "${found[@]}" | sort -u) <(echo "$printed"); then
  echo "fault: < is what $1 needs, > what $3 info lists"
  exit 1
fi
echo "needs $(paste -sd' ' <<<"$printed"), and the libraries of the system"
