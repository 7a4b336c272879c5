#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: openfoam_test.sh BUILD CMAKE MPIEXEC...
# Builds share/tenon/openfoam and the function object in openfoam/ by wmake against an installed copy under BUILD/openfoam-test,
# and runs OpenFOAM's unmodified solvers with them, on 1, 2 and 4 ranks and two kinds of decompositions, all under OpenFOAM's
# floating-point traps. Skipped where there is no OpenFOAM with headers and wmake.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1") cmake=$2
root=$build/openfoam-test
mpiexec=("${@:3}") # and its flag for the number of processes

# Use the OpenFOAM of the environment, or else what config/openfoam has prepared. Its scripts do not stand -eu.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tenon/openfoam
if [[ -z ${WM_PROJECT_DIR:-} && -e $cache/complete ]]; then
  set +eu
  set -- # it reads arguments as files of settings
  # shellcheck source=/dev/null
  source "$cache/etc/bashrc"
  set -eu
fi
if [[ -z ${WM_PROJECT_DIR:-} ]] || ! PATH=$PATH:$WM_PROJECT_DIR/wmake command -v wmake pisoFoam >/dev/null; then
  echo "skipped: there is no OpenFOAM with headers and wmake; source its etc/bashrc, or run config/openfoam once on Debian"
  exit 77
fi
rm -rf "$root"
mkdir -p "$root/lib"
"$cmake" --install "$build" --prefix "$root/prefix" >"$root/install.log"
PKG_CONFIG_PATH=$(dirname "$(find "$root/prefix" -name tenon.pc)")
export PKG_CONFIG_PATH FOAM_USER_LIBBIN=$root/lib FOAM_SIGFPE=true
export PATH=$PATH:$WM_PROJECT_DIR/wmake
# Debian has the Pstream of MPI in a folder of its own.
export LD_LIBRARY_PATH=$root/lib:$FOAM_LIBBIN/${FOAM_MPI:-}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

fault() {
  echo "fault: $*"
  exit 1
}
# quietly LOG COMMAND...
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { local status=$?; tail -n 40 "$log"; fault "$* returned $status"; }
}

foam=$root/prefix/share/tenon/openfoam
cp -r "$foam" "$root/closure"
cp -r "$here/openfoam" "$root/check"
quietly "$root/wmake.log" wmake libso "$root/closure"
TENON_FOAM=$foam quietly "$root/wmake_check.log" wmake libso "$root/check"
for log in "$root"/wmake*.log; do
  if grep -nE '(tenon[A-Za-z]*|meshCheck)\.[CH]:[0-9:]* warning' "$log"; then fault "the compiler warns, see $log"; fi
done
lines=$(grep -ci tenon "$here/openfoam/meshCheck.C")
[[ $lines -le 30 ]] || fault "$lines lines of meshCheck.C name Tenon"

# set_entry CASE FILE ENTRY VALUE
set_entry() {
  quietly "$root/dictionary.log" foamDictionary -case "$1" -entry "$3" -set "$4" "$1/$2"
}
# add_check CASE RANKS ENTRIES: meshCheck among the case's function objects.
add_check() {
  local output=$1/check.$2
  rm -rf "$output"
  mkdir -p "$output"
  set_entry "$1" system/controlDict functions/check "{ type meshCheck; libs (\"libmeshCheck.so\"); output \"$output\"; $3 }"
}
# solve CASE SOLVER RANKS LOG
solve() {
  if [[ $3 -eq 1 ]]; then
    quietly "$4" "$2" -case "$1"
  else
    quietly "$4" "${mpiexec[@]}" "$3" "$2" -case "$1" -parallel
  fi
  grep -q '^End' "$4" || fault "$2 on $3 ranks has not reached its end, see $4"
  if grep -n 'Tenon: ' "$4"; then fault "Tenon has printed a warning, see $4"; fi
}
# decompose CASE RANKS simple|manual
decompose() {
  rm -rf "$1"/processor*
  set_entry "$1" system/decomposeParDict numberOfSubdomains "$2"
  set_entry "$1" system/decomposeParDict method "$3"
  if [[ $3 == simple ]]; then
    # Cut across the periodic dimension: its patches become those of processors.
    set_entry "$1" system/decomposeParDict simpleCoeffs/n "(1 $(($2 / 2)) 2)"
  else
    # Blocks of seven cells, one of which is elsewhere.
    set_entry "$1" system/decomposeParDict manualCoeffs '{ dataFile "owner"; }'
    awk -v ranks="$2" -v cells=1600 'BEGIN {
      print "FoamFile { version 2.0; format ascii; class labelList; object owner; }\n" cells "\n("
      for (c = 0; c < cells; ++c) print (int(c / 7) * 3 + (c % 7 == 2)) % ranks
      print ")" }' >"$1/constant/owner"
  fi
  quietly "$1/decompose.log" decomposePar -case "$1" -force
}
# new_case FOLDER
new_case() {
  rm -rf "$1"
  cp -r "$foam/cavity" "$1"
  quietly "$1/mesh.log" blockMesh -case "$1"
}
losses() {
  sed -n 's/^tenonTraining.*loss \([^,]*\),.*/\1/p' "$1"
}
# agree LOG REFERENCE: the losses of all steps to 11 digits.
agree() {
  paste <(losses "$1") <(losses "$2") | awk '{ d = $1 - $2; if (d < 0) d = -d; if (NF != 2 || d > 1e-11 * $2) bad = 1 }
    END { exit bad || NR < 5 }' || fault "the losses in $1 are not those in $2"
}
# cells FOLDER: what meshCheck has written, by id.
cells() {
  sort -n "$1"/*
}

echo "== cavity, 1 rank"
new_case "$root/one"
add_check "$root/one" 1 "save \"$root/one.h5\";"
solve "$root/one" pisoFoam 1 "$root/one.log"
[[ $(cells "$root/one/check.1" | wc -l) -eq 1600 ]] || fault "there are not 1600 cells"
grep -q '^meshCheck: 800 ghosts, wrong components 0$' "$root/one.log" || fault "the ghosts of periodic cells are wrong"

for kind in simple manual; do
  for ranks in 2 4; do
    echo "== cavity, $ranks ranks, $kind"
    case=$root/$kind$ranks
    new_case "$case"
    decompose "$case" "$ranks" "$kind"
    add_check "$case" "$ranks" "load \"$root/one.h5\"; save \"$case/centres.h5\";"
    solve "$case" pisoFoam "$ranks" "$case.log"
    grep -q '^meshCheck: [1-9][0-9]* ghosts, wrong components 0$' "$case.log" || fault "ghosts are wrong, see $case.log"
    grep -q '^meshCheck: centres are those of the checkpoint: yes$' "$case.log" || fault "cells are permuted, see $case.log"
    cmp <(cells "$root/one/check.1") <(cells "$case/check.$ranks") || fault "the network's output depends on the decomposition"
    agree "$case.log" "$root/one.log"
  done
done

echo "== restart of 4 ranks on 2, and the same by 1"
case=$root/manual4
quietly "$case.reconstruct.log" reconstructPar -case "$case" -latestTime
decompose "$case" 2 simple
add_check "$case" 2 "load \"$case/centres.h5\";"
set_entry "$root/one" system/controlDict functions/check '{ type meshCheck; libs ("libmeshCheck.so"); enabled no; }'
for folder in "$case" "$root/one"; do
  set_entry "$folder" system/controlDict endTime 0.03
  set_entry "$folder" system/controlDict functions/training/restart yes
done
solve "$case" pisoFoam 2 "$case.restart.log"
grep -q '; nutTenon differs from that of time 0.02 by at most 0$' "$case.restart.log" || fault "the checkpoint has other cells than the fields"
grep -q 'centres are those of the checkpoint: yes' "$case.restart.log" || fault "the checkpoint of 4 ranks is permuted on 2"
solve "$root/one" pisoFoam 1 "$root/one.restart.log"
agree "$case.restart.log" "$root/one.restart.log"

echo "== the LES model, 1 and 2 ranks"
for folder in "$case" "$root/one"; do
  set_entry "$folder" system/controlDict endTime 0.04
  set_entry "$folder" constant/turbulenceProperties LES/LESModel tenonEddyViscosity
  set_entry "$folder" system/controlDict functions/training/restart no
  set_entry "$folder" system/controlDict functions/training/checkpoint "\"$folder/other.h5\""
done
solve "$case" pisoFoam 2 "$case.model.log"
solve "$root/one" pisoFoam 1 "$root/one.model.log"
agree "$case.model.log" "$root/one.model.log"

# pimple CASE: the settings of pimpleFoam, whose mesh can change.
pimple() {
  set_entry "$1" system/fvSolution PIMPLE '{ nOuterCorrectors 1; nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; correctPhi yes; }'
  set_entry "$1" system/fvSolution solvers/pcorr '{ solver PCG; preconditioner DIC; tolerance 1e-13; relTol 0; }'
  set_entry "$1" system/fvSolution solvers/pcorrFinal '{ solver PCG; preconditioner DIC; tolerance 1e-13; relTol 0; }'
  set_entry "$1" system/fvSolution solvers/UFinal '{ solver PBiCGStab; preconditioner DILU; tolerance 1e-13; relTol 0; }'
}

echo "== a mesh that turns, 1 and 2 ranks"
for ranks in 1 2; do
  case=$root/turned$ranks
  new_case "$case"
  pimple "$case"
  add_check "$case" "$ranks" ""
  set_entry "$case" 0/U boundaryField/lid '{ type movingWallVelocity; value uniform (0 0 0); }'
  set_entry "$case" 0/U boundaryField/walls '{ type movingWallVelocity; value uniform (0 0 0); }'
  cp "$here/openfoam/dynamicMeshDict.turned" "$case/constant/dynamicMeshDict"
  [[ $ranks -eq 1 ]] || decompose "$case" 2 simple
  solve "$case" pimpleFoam "$ranks" "$case.log"
  [[ $(grep -c 'geometry is that of the mesh: yes' "$case.log") -eq 10 ]] || fault "the geometry is not that of the mesh, see $case.log"
done
agree "$root/turned2.log" "$root/turned1.log"

echo "== refinement while it learns, 2 ranks"
case=$root/refined
new_case "$case"
cp "$here/openfoam/dynamicMeshDict.refined" "$case/constant/dynamicMeshDict"
decompose "$case" 2 simple
pimple "$case"
add_check "$case" 2 ""
solve "$case" pimpleFoam 2 "$case.log"
[[ $(grep -c '^tenonMesh: the mesh has no cellProcAddressing' "$case.log") -ge 1 && $(grep -c 'Refined from' "$case.log") -ge 1 ]] ||
  fault "the mesh was not refined, see $case.log"
[[ $(grep -c 'geometry is that of the mesh: yes' "$case.log") -eq 10 ]] || fault "the geometry is not that of the mesh, see $case.log"
losses "$case.log" | awk '{ if (NR > 1 && $1 > 2 * last) bad = 1; last = $1 } END { exit bad || NR < 8 }' ||
  fault "training does not go on after a refinement, see $case.log"

echo "== a patch that is refused"
case=$root/refused
cp -r "$foam/cavity" "$case"
sed -i -e 's/type cyclic;/type cyclicAMI; transform translational;/' -e '/^ *front/s/faces/separationVector (0 0 0.02); faces/' \
  -e '/^ *back/s/faces/separationVector (0 0 -0.02); faces/' "$case/system/blockMeshDict"
sed -i 's/cyclic;/cyclicAMI;/' "$case"/0/*
quietly "$case/mesh.log" blockMesh -case "$case"
# OpenFOAM goes on without a function object that reports an error, but not without an LES model.
quietly "$case.log" pisoFoam -case "$case"
[[ -z $(losses "$case.log") ]] || fault "cyclicAMI is not refused, see $case.log"
grep -q 'patch front is of type cyclicAMI' "$case.log" || fault "the patch is not named, see $case.log"
set_entry "$case" constant/turbulenceProperties LES/LESModel tenonEddyViscosity
if pisoFoam -case "$case" >"$case.model.log" 2>&1; then fault "cyclicAMI is not refused, see $case.model.log"; fi
grep -q 'patch front is of type cyclicAMI' "$case.model.log" || fault "the patch is not named, see $case.model.log"

pitz=$WM_PROJECT_DIR/tutorials/incompressible/pisoFoam/LES/pitzDaily
if [[ -d $pitz ]]; then
  echo "== pitzDaily, 1 and 2 ranks"
  for ranks in 1 2; do
    case=$root/pitz$ranks
    quietly "$root/pitz.log" env FOAM_TUTORIALS="$WM_PROJECT_DIR/tutorials" bash "$foam/pitzDaily/prepare.sh" "$case"
    set_entry "$case" system/controlDict endTime 6e-5
    quietly "$case/mesh.log" blockMesh -case "$case"
    [[ $ranks -eq 1 ]] || quietly "$case/decompose.log" decomposePar -case "$case"
    solve "$case" pisoFoam "$ranks" "$case.log"
  done
  paste <(losses "$root/pitz1.log") <(losses "$root/pitz2.log") |
    awk '{ d = $1 - $2; if (d < 0) d = -d; if (NF != 2 || d > 1e-3 * $2) bad = 1 } END { exit bad || NR < 5 }' ||
    fault "the losses of pitzDaily differ between 1 and 2 ranks"
else
  echo "pitzDaily is skipped: OpenFOAM's tutorials are not installed"
fi
echo "all runs have ended well"
