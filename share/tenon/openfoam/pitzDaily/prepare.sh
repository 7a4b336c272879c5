#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: bash prepare.sh CASE
# Copies OpenFOAM's tutorial pisoFoam/LES/pitzDaily to CASE, and lets a network learn the eddy viscosity of its LES model. Then:
#   blockMesh -case CASE && pisoFoam -case CASE
set -euo pipefail
case=${1:?usage: bash prepare.sh CASE}
cp -r "${FOAM_TUTORIALS:?source etc/bashrc of OpenFOAM first}/incompressible/pisoFoam/LES/pitzDaily" "$case"
foamDictionary -case "$case" -entry functions -set '{
  training { type tenonTraining; libs ("libtenonFoam.so"); target nut; steps 2; writeControl writeTime;
    checkpoint "<case>/closure.h5"; network messagePassing; timeRef 1e-4; nuRef 1e-5; } }' "$case/system/controlDict"
cat >"$case/system/decomposeParDict" <<'TEXT'
FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }
numberOfSubdomains 2;
method simple;
simpleCoeffs { n (2 1 1); delta 0.001; }
TEXT
