#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: wheel.sh PYTHON CMAKE BUILD SCRATCH TUTORIALS
# The build makes a wheel, as pip's backend does, pip installs it without the network, and a program runs with the library inside
# it. A wheel without a library for the MPI of mpi4py says so.
set -euo pipefail
python=$1 cmake=$2 build=$3 scratch=$4 tutorials=$5
rm -rf "$scratch"
mkdir -p "$scratch"
PATH=$(dirname "$cmake"):$PATH PYTHONPATH=$tutorials/../src/interfaces/python "$python" -c \
  'import backend, sys; backend.build_wheel(sys.argv[1], {"build-dir": sys.argv[2]})' "$scratch" "$build" >"$scratch/log"
wheel=$(echo "$scratch"/*.whl)
[[ -e $wheel ]] || { echo "fault: the backend made no wheel"; exit 1; }
if "$python" -m pip --version >/dev/null 2>&1; then
  "$python" -m pip install --quiet --no-index --no-deps --no-warn-script-location --target "$scratch/site" "$wheel"
else
  "$python" -m zipfile -e "$wheel" "$scratch/site"
fi
cd "$scratch"
export PYTHONPATH=$scratch/site
"$python" "$tutorials/python/01_hello.py" | diff "$tutorials/expected/01_hello.1.txt" -
abi=$(ls "$scratch/site/tenon/lib")
found=$("$python" -c 'import tenon.library; print(tenon.library.where)')
[[ $found == "$scratch/site/tenon/lib/$abi/libtenon.so" ]] || { echo "fault: the library is $found"; exit 1; }
# A prefix that has no library is an error that names it.
if said=$(TENON_DIR=$scratch "$python" -c 'import tenon' 2>&1) || [[ $said != *"TENON_DIR is $scratch"* ]]; then
  echo "fault: a wrong TENON_DIR was not refused: $said"
  exit 1
fi
# Nor can the library for another MPI be used.
mv "$scratch/site/tenon/lib/$abi" "$scratch/site/tenon/lib/other"
if said=$("$python" -c 'import tenon' 2>&1) || [[ $said != *"this wheel of tenon has libraries for other"* ]]; then
  echo "fault: a wheel without a library for this MPI was not refused: $said"
  exit 1
fi
