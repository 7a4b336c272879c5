// SPDX-License-Identifier: BSD-2-Clause
// The kinds of configurations that `tenon check` draws.
#pragma once

#include "tools/check/case.hpp"

namespace tenon::tools {

std::vector<CaseKind> operatorKinds();
std::vector<CaseKind> layerKinds();

// Each primitive by its name, on one axis of a grid.
void checkPrimitive(Case& c);
// Several halo exchanges and adjoints of these as one operator.
void checkBlockDiagonal(Case& c);
// A halo exchange and its adjoint on one ghosted user array.
void checkInPlace(Case& c);
// Allocate, clear, add, copy and move on boxes of each rank's own memory.
void checkMemory(Case& c);
// Layers that use the lists of a mesh: linear ones, which are sparse matrices, and others.
void checkMesh(Case& c);
void checkMeshTypes(Case& c);
// An operator whose adjoint is wrong on purpose: the check must find it.
void checkBroken(Case& c);
// A rank that fails alone while the others wait for it.
void checkStuck(Case& c);

} // namespace tenon::tools
