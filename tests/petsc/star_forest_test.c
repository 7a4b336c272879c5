/* SPDX-License-Identifier: BSD-2-Clause */
/* The index map of a PetscSF: leaves are filled, and added to their roots, as by itself;
 * alone, as several fields in one exchange, and as fields of different layouts in one exchange. */
#include "run.h"

#include <petscsf.h>

#include <string.h>

/* A star forest of three rows on each rank, of which the next and the previous rank have copies in
 * the order last, first. */
enum { kRows = 3, kLeaves = 2, kFields = 2 };

/* Fields in one exchange, and its adjoint, against PetscSF for each. They are in arrays with their
 * leaves. */
static PetscErrorCode CheckFields(PetscSF sf, TenonIndexMap nodes) {
  const TenonInt shape[1] = {0}, behind[1] = {kLeaves};
  PetscScalar arrays[kFields][kRows + kLeaves], want[kFields][kRows + kLeaves];
  TenonDTensor x[kFields], u[kFields], du[kFields];
  TenonLayout plain, ghosted, dual;
  TenonLinearOp fill, add;
  PetscMPIInt rank;
  int i, n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  TenonPetscCall(TenonIndexMapGetLayouts(nodes, 1, shape, &plain, &ghosted));
  TenonPetscCall(TenonLayoutGetDual(ghosted, &dual));
  TenonPetscCall(TenonLinearOpCreateIndexMap(nodes, plain, TENON_PETSC_SCALAR, &fill));
  TenonPetscCall(TenonLinearOpCreateAdjoint(fill, &add));
  for (i = 0; i < kFields; ++i) {
    TenonPetscCall(TenonDTensorCreate(plain, TENON_PETSC_SCALAR, &x[i]));
    TenonPetscCall(TenonDTensorCreate(ghosted, TENON_PETSC_SCALAR, &u[i]));
    TenonPetscCall(TenonDTensorCreate(dual, TENON_PETSC_SCALAR, &du[i]));
    TenonPetscCall(TenonDTensorPlaceArray(x[i], arrays[i], NULL, NULL, NULL, kRows + kLeaves));
    TenonPetscCall(TenonDTensorPlaceArray(u[i], arrays[i], NULL, NULL, behind, kRows + kLeaves));
    TenonPetscCall(TenonDTensorPlaceArray(du[i], arrays[i], NULL, NULL, behind, kRows + kLeaves));
    for (n = 0; n < kRows + kLeaves; ++n)
      arrays[i][n] = want[i][n] = n < kRows ? 100 * i + 10 * rank + n : -1;
    PetscCall(PetscSFBcastBegin(sf, MPIU_SCALAR, want[i], want[i] + kRows, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sf, MPIU_SCALAR, want[i], want[i] + kRows, MPI_REPLACE));
  }
  TenonPetscCall(TenonLinearOpApplyMany(fill, kFields, x, u));
  for (i = 0; i < kFields; ++i) {
    for (n = 0; n < kRows + kLeaves; ++n)
      CHECK(arrays[i][n] == want[i][n]);
    PetscCall(PetscSFReduceBegin(sf, MPIU_SCALAR, want[i] + kRows, want[i], MPI_SUM));
    PetscCall(PetscSFReduceEnd(sf, MPIU_SCALAR, want[i] + kRows, want[i], MPI_SUM));
  }
  TenonPetscCall(TenonLinearOpApplyMany(add, kFields, du, x));
  for (i = 0; i < kFields; ++i) {
    for (n = 0; n < kRows + kLeaves; ++n)
      CHECK(arrays[i][n] == want[i][n]);
    TenonPetscCall(TenonDTensorDestroy(&du[i]));
    TenonPetscCall(TenonDTensorDestroy(&u[i]));
    TenonPetscCall(TenonDTensorDestroy(&x[i]));
  }
  TenonPetscCall(TenonLinearOpDestroy(&add));
  TenonPetscCall(TenonLinearOpDestroy(&fill));
  TenonPetscCall(TenonLayoutDestroy(&dual));
  TenonPetscCall(TenonLayoutDestroy(&ghosted));
  TenonPetscCall(TenonLayoutDestroy(&plain));
  PetscFunctionReturn(0);
}

/* A field of some layers on the nodes, in an array of [nodes, layers] with its leaves. */
typedef struct {
  TenonLayout plain, ghosted, dual;
  TenonDTensor x, u, du;
  TenonLinearOp fill;
} Field;

static PetscErrorCode CreateField(TenonIndexMap nodes, int layers, PetscScalar* array, Field* f) {
  const TenonInt shape[2] = {0, layers}, ghosts[2] = {kLeaves, 0};
  const TenonInt length = (kRows + kLeaves) * layers;

  PetscFunctionBegin;
  TenonPetscCall(TenonIndexMapGetLayouts(nodes, 2, shape, &f->plain, &f->ghosted));
  TenonPetscCall(TenonLayoutGetDual(f->ghosted, &f->dual));
  TenonPetscCall(TenonLinearOpCreateIndexMap(nodes, f->plain, TENON_PETSC_SCALAR, &f->fill));
  TenonPetscCall(TenonDTensorCreate(f->plain, TENON_PETSC_SCALAR, &f->x));
  TenonPetscCall(TenonDTensorCreate(f->ghosted, TENON_PETSC_SCALAR, &f->u));
  TenonPetscCall(TenonDTensorCreate(f->dual, TENON_PETSC_SCALAR, &f->du));
  TenonPetscCall(TenonDTensorPlaceArray(f->x, array, NULL, NULL, NULL, length));
  TenonPetscCall(TenonDTensorPlaceArray(f->u, array, NULL, NULL, ghosts, length));
  TenonPetscCall(TenonDTensorPlaceArray(f->du, array, NULL, NULL, ghosts, length));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyField(Field* f) {
  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorDestroy(&f->du));
  TenonPetscCall(TenonDTensorDestroy(&f->u));
  TenonPetscCall(TenonDTensorDestroy(&f->x));
  TenonPetscCall(TenonLinearOpDestroy(&f->fill));
  TenonPetscCall(TenonLayoutDestroy(&f->dual));
  TenonPetscCall(TenonLayoutDestroy(&f->ghosted));
  TenonPetscCall(TenonLayoutDestroy(&f->plain));
  PetscFunctionReturn(0);
}

/* The leaves of each layer of [nodes, layers] filled by PetscSF, or added to the rows. */
static PetscErrorCode ByStarForest(PetscSF sf, PetscBool adds, int layers, PetscScalar* values) {
  PetscScalar one[kRows + kLeaves];
  int n, layer;

  PetscFunctionBegin;
  for (layer = 0; layer < layers; ++layer) {
    for (n = 0; n < kRows + kLeaves; ++n)
      one[n] = values[n * layers + layer];
    if (adds) {
      PetscCall(PetscSFReduceBegin(sf, MPIU_SCALAR, one + kRows, one, MPI_SUM));
      PetscCall(PetscSFReduceEnd(sf, MPIU_SCALAR, one + kRows, one, MPI_SUM));
    } else {
      PetscCall(PetscSFBcastBegin(sf, MPIU_SCALAR, one, one + kRows, MPI_REPLACE));
      PetscCall(PetscSFBcastEnd(sf, MPIU_SCALAR, one, one + kRows, MPI_REPLACE));
    }
    for (n = 0; n < kRows + kLeaves; ++n)
      values[n * layers + layer] = one[n];
  }
  PetscFunctionReturn(0);
}

/* Fields of one and of three layers in one exchange, and its adjoint, against PetscSF for each. */
static PetscErrorCode CheckUnlikeFields(PetscSF sf, TenonIndexMap nodes) {
  enum { kLayers = 3, kNodes = kRows + kLeaves };
  PetscScalar arrays[2][kNodes * kLayers] = {{0}}, want[2][kNodes * kLayers] = {{0}};
  const int layers[2] = {1, kLayers};
  Field fields[2];
  TenonLinearOp fill, add;
  TenonInt messages[3], bytes[3];
  PetscMPIInt rank;
  int i, n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (i = 0; i < 2; ++i) {
    PetscCall(CreateField(nodes, layers[i], arrays[i], &fields[i]));
    TenonPetscCall(TenonLinearOpGetTraffic(fields[i].fill, &messages[i], &bytes[i]));
    for (n = 0; n < kNodes * layers[i]; ++n)
      arrays[i][n] = want[i][n] = n < kRows * layers[i] ? 100 * i + 10 * rank + n : -1;
    PetscCall(ByStarForest(sf, PETSC_FALSE, layers[i], want[i]));
  }
  TenonPetscCall(TenonLinearOpCreateBlockDiagonal(
      2, (const TenonLinearOp[]){fields[0].fill, fields[1].fill}, &fill));
  TenonPetscCall(TenonLinearOpCreateAdjoint(fill, &add));
  TenonPetscCall(TenonLinearOpGetTraffic(fill, &messages[2], &bytes[2]));
  CHECK(messages[2] == messages[0] && bytes[2] == bytes[0] + bytes[1]);
  TenonPetscCall(TenonLinearOpApplyMany(fill, 2, (const TenonDTensor[]){fields[0].x, fields[1].x},
                                        (const TenonDTensor[]){fields[0].u, fields[1].u}));
  CHECK(memcmp(arrays, want, sizeof arrays) == 0);
  TenonPetscCall(TenonLinearOpApplyMany(add, 2, (const TenonDTensor[]){fields[0].du, fields[1].du},
                                        (const TenonDTensor[]){fields[0].x, fields[1].x}));
  for (i = 0; i < 2; ++i) {
    PetscCall(ByStarForest(sf, PETSC_TRUE, layers[i], want[i]));
    CHECK(memcmp(arrays[i], want[i], kRows * layers[i] * sizeof arrays[i][0]) == 0);
    PetscCall(DestroyField(&fields[i]));
  }
  TenonPetscCall(TenonLinearOpDestroy(&add));
  TenonPetscCall(TenonLinearOpDestroy(&fill));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckStarForest(void) {
  const TenonInt shape[1] = {0}, behind[1] = {kLeaves};
  PetscScalar array[kRows + kLeaves], leaves[kLeaves];
  PetscSFNode remote[kLeaves];
  TenonLayout plain, ghosted;
  TenonLinearOp fill;
  TenonIndexMap nodes;
  TenonDTensor x, u;
  PetscMPIInt rank, size;
  PetscSF sf;
  int n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  remote[0].rank = (rank + size - 1) % size;
  remote[0].index = kRows - 1;
  remote[1].rank = (rank + 1) % size;
  remote[1].index = 0;
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &sf));
  CHECK_FAILS(PETSC_ERR_ARG_WRONGSTATE, TenonPetscIndexMapFromSF(sf, &nodes));
  PetscCall(
      PetscSFSetGraph(sf, kRows, kLeaves, NULL, PETSC_COPY_VALUES, remote, PETSC_COPY_VALUES));
  PetscCall(TenonPetscIndexMapFromSF(sf, &nodes));
  TenonPetscCall(TenonIndexMapGetLayouts(nodes, 1, shape, &plain, &ghosted));
  TenonPetscCall(TenonDTensorCreate(plain, TENON_PETSC_SCALAR, &x));
  TenonPetscCall(TenonDTensorCreate(ghosted, TENON_PETSC_SCALAR, &u));
  TenonPetscCall(TenonLinearOpCreateIndexMap(nodes, plain, TENON_PETSC_SCALAR, &fill));
  TenonPetscCall(TenonDTensorPlaceArray(x, array, NULL, NULL, NULL, kRows + kLeaves));
  TenonPetscCall(TenonDTensorPlaceArray(u, array, NULL, NULL, behind, kRows + kLeaves));
  for (n = 0; n < kRows + kLeaves; ++n)
    array[n] = n < kRows ? 10 * rank + n : -1;
  PetscCall(PetscSFBcastBegin(sf, MPIU_SCALAR, array, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_SCALAR, array, leaves, MPI_REPLACE));
  TenonPetscCall(TenonLinearOpApply(fill, x, u));
  for (n = 0; n < kLeaves; ++n)
    CHECK(array[kRows + n] == leaves[n]);
  PetscCall(CheckFields(sf, nodes));
  PetscCall(CheckUnlikeFields(sf, nodes));
  TenonPetscCall(TenonLinearOpDestroy(&fill));
  TenonPetscCall(TenonDTensorDestroy(&u));
  TenonPetscCall(TenonDTensorDestroy(&x));
  TenonPetscCall(TenonLayoutDestroy(&ghosted));
  TenonPetscCall(TenonLayoutDestroy(&plain));
  TenonPetscCall(TenonIndexMapDestroy(&nodes));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  return RunTest(argc, argv, CheckStarForest);
}
