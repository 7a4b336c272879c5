#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# check_names_test.sh SCRATCH: the check of names finds those in a small manual that nothing declares, and no others.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
rm -rf "$scratch"
mkdir -p "$scratch"/{doc,include/tenon,src/fortran,config,tutorials/one}
mkdir -p "$scratch/src/layer"
printf '%s\n' '/* After TenonLayerSetBefore(). */' 'TENON_EXTERN TenonErrorCode TenonLayerSetUp(TenonLayer layer, TenonLayout input);' \
  >"$scratch/include/tenon/layer.h"
echo 'TenonLayer own; fail("call TenonLayerSetUp() \"first\", TenonLayerSetLast() last"); // TenonLayerIsMissing()' \
  >"$scratch/src/layer/layer.cpp"
echo '  subroutine Tenon_Layer_Set_Up(layer, input)' >"$scratch/src/fortran/calls.f90"
echo 'tenon_mpiexec() { :; }' >"$scratch/config/environment.sh"
echo 'Calls are `TenonLayerSet...` and `tenon_layer_set_up`; `tenon_mpiexec -n 2`, `-tenon_any_option`.' >"$scratch/README.md"
echo 'Not `TenonLayerSetDown(layer)`.' >"$scratch/doc/page.md"
printf 'Nor\n`tenon_layer_set_down`, nor `TenonLayersSet...`.\n' >"$scratch/tutorials/one/README.md"
said=$(python3 "$here/check_names.py" "$scratch") && { echo "fault: all names were found" && exit 1; }
expected="$scratch/doc/page.md:1: TenonLayerSetDown is declared nowhere
$scratch/tutorials/one/README.md:2: tenon_layer_set_down is declared nowhere
$scratch/tutorials/one/README.md:2: TenonLayersSet is declared nowhere
$scratch/include/tenon/layer.h:1: TenonLayerSetBefore is declared nowhere
$scratch/src/layer/layer.cpp:1: TenonLayerSetLast is declared nowhere"
if [[ $said != "$expected" ]]; then
  echo "fault: the check says: $said"
  exit 1
fi
