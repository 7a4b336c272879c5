// SPDX-License-Identifier: BSD-2-Clause
// The header is C++ too, and may be included twice.
#include <tenon_petsc.h>
// Again.
#include <tenon_petsc.h>

PetscErrorCode FirstUse(DM grid, TenonLayout* layout);
PetscErrorCode FirstUse(DM grid, TenonLayout* layout) {
  PetscFunctionBegin;
  PetscCall(TenonPetscLayoutFromDM(grid, layout));
  TenonPetscCall(TenonObjectView((TenonObject)*layout));
  PetscFunctionReturn(0);
}
