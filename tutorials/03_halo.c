/* SPDX-License-Identifier: BSD-2-Clause */
/* 03 Halo: a halo exchange, its adjoint, and a gradient through both.
 *
 * What you learn: a halo exchange H is a linear operator from a layout to one with a halo. Its
 * adjoint H* adds the contributions in the halos to the cells of which they are copies; it is
 * needed for the gradient of a function that contains the exchange. The program computes the energy
 * of a periodic field u,
 *
 *   E(u) = 1/2 sum over i (u[i+1] - u[i])^2 = 1/2 |D H u|^2,
 *
 * and its gradient with respect to u, H* D* D H u, whose elements are -u[i-1] + 2 u[i] - u[i+1]. D,
 * the difference of neighbours in local memory, and D* are written by hand.
 *
 *   mpiexec -n 4 03_halo
 *   mpiexec -n 4 03_halo -cells 1000000 -tenon_log_view
 */
#include <tenon.h>

#include <math.h>
#include <stdio.h>

typedef struct Fields {
  TenonLayout plain, wide;
  TenonLinearOp halo;
  TenonDTensor u, wideU, wideCotangent, gradient;
} Fields;

static double ValueAt(TenonInt i, TenonInt cells) {
  return sin(2 * 3.14159265358979323846 * (double)i / (double)cells);
}

static TenonErrorCode FieldsCreate(MPI_Comm comm, TenonInt cells, Fields* f) {
  TenonPartition partition = NULL;
  TenonLayout dual = NULL;
  int size;

  MPI_Comm_size(comm, &size);
  TenonCall(TenonPartitionCreate(comm, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 1, &cells, "S0", &f->plain));
  TenonCall(TenonLayoutCreateLike(f->plain, &f->wide));
  TenonCall(TenonLayoutSetHalo(f->wide, 0, 0, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
  TenonCall(TenonLayoutSetUp(f->wide));
  TenonCall(TenonLinearOpCreateHalo(f->plain, f->wide, TENON_FLOAT64, &f->halo));

  /* A cotangent (gradient) has the dual layout: its halo holds contributions, not copies. */
  TenonCall(TenonLayoutGetDual(f->wide, &dual));
  TenonCall(TenonDTensorCreate(f->plain, TENON_FLOAT64, &f->u));
  TenonCall(TenonDTensorCreate(f->wide, TENON_FLOAT64, &f->wideU));
  TenonCall(TenonDTensorCreate(dual, TENON_FLOAT64, &f->wideCotangent));
  TenonCall(TenonDTensorCreate(f->plain, TENON_FLOAT64, &f->gradient));
  TenonCall(TenonLayoutDestroy(&dual));
  TenonCall(TenonPartitionDestroy(&partition));
  return TENON_SUCCESS;
}

static TenonErrorCode FieldsDestroy(Fields* f) {
  TenonCall(TenonDTensorDestroy(&f->u));
  TenonCall(TenonDTensorDestroy(&f->wideU));
  TenonCall(TenonDTensorDestroy(&f->wideCotangent));
  TenonCall(TenonDTensorDestroy(&f->gradient));
  TenonCall(TenonLinearOpDestroy(&f->halo));
  TenonCall(TenonLayoutDestroy(&f->wide));
  TenonCall(TenonLayoutDestroy(&f->plain));
  return TENON_SUCCESS;
}

static TenonErrorCode Fill(TenonDTensor u, TenonInt cells) {
  TenonInt low, high, i;
  void* array;

  TenonCall(TenonDTensorGetBox(u, &low, &high));
  TenonCall(TenonDTensorGetArray(u, TENON_FLOAT64, &array));
  for (i = low; i < high; ++i)
    ((double*)array)[i - low] = ValueAt(i, cells);
  TenonCall(TenonDTensorRestoreArray(u, &array));
  return TENON_SUCCESS;
}

/* 1/2 |D v|^2 of the field v with its halo, and the cotangent of v, D* D v. */
static TenonErrorCode LocalEnergy(Fields* f, double* energy) {
  TenonInt count, i;
  const void* values;
  void* cotangent;
  const double* v;
  double *w, difference;

  TenonCall(TenonDTensorFillConstant(f->wideCotangent, 0));
  TenonCall(TenonDTensorGetLocalSize(f->wideU, &count));
  TenonCall(TenonDTensorGetArrayRead(f->wideU, TENON_FLOAT64, &values));
  TenonCall(TenonDTensorGetArray(f->wideCotangent, TENON_FLOAT64, &cotangent));
  v = (const double*)values;
  w = (double*)cotangent;
  *energy = 0;
  for (i = 0; i + 1 < count; ++i) {
    difference = v[i + 1] - v[i];
    *energy += difference * difference / 2;
    w[i + 1] += difference;
    w[i] -= difference;
  }
  TenonCall(TenonDTensorRestoreArray(f->wideCotangent, &cotangent));
  TenonCall(TenonDTensorRestoreArrayRead(f->wideU, &values));
  return TENON_SUCCESS;
}

/* The largest difference between the gradient and its formula. */
static TenonErrorCode GradientError(const Fields* f, TenonInt cells, double* largest) {
  TenonInt low, high, i;
  const void* values;
  double expected, error;

  *largest = 0;
  TenonCall(TenonDTensorGetBox(f->gradient, &low, &high));
  TenonCall(TenonDTensorGetArrayRead(f->gradient, TENON_FLOAT64, &values));
  for (i = low; i < high; ++i) {
    expected = -ValueAt(i - 1, cells) + 2 * ValueAt(i, cells) - ValueAt(i + 1, cells);
    error = fabs(((const double*)values)[i - low] - expected);
    *largest = error > *largest ? error : *largest;
  }
  TenonCall(TenonDTensorRestoreArrayRead(f->gradient, &values));
  return TENON_SUCCESS;
}

static TenonErrorCode Halo(MPI_Comm comm) {
  Fields f;
  TenonInt cells;
  double local[2], energy, error, norm, forward, adjoint;
  int rank;

  MPI_Comm_rank(comm, &rank);
  TenonCall(TenonOptionsGetInt("-", "cells", &cells));
  TenonCall(FieldsCreate(comm, cells, &f));
  TenonCall(Fill(f.u, cells));
  TenonCall(TenonLinearOpApply(f.halo, f.u, f.wideU));
  TenonCall(LocalEnergy(&f, &local[0]));
  TenonCall(TenonLinearOpApplyAdjoint(f.halo, f.wideCotangent, f.gradient));
  TenonCall(GradientError(&f, cells, &local[1]));
  TenonCall(TenonDTensorNorm(f.gradient, &norm));
  MPI_Allreduce(&local[0], &energy, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(&local[1], &error, 1, MPI_DOUBLE, MPI_MAX, comm);

  /* With integers the two sides of <H x, y> = <x, H* y> are exactly equal. */
  TenonCall(TenonLinearOpTestAdjoint(f.halo, 1, TENON_TRUE, &forward, &adjoint, NULL));
  if (rank == 0) {
    printf("energy %.10f, norm of its gradient %.10f\n", energy, norm);
    printf("the gradient agrees with the formula: %s\n", error < 1e-14 ? "yes" : "no");
    printf("<H x, y> and <x, H* y> are equal: %s\n", forward == adjoint ? "yes" : "no");
  }
  TenonCall(FieldsDestroy(&f));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonOptionsDeclare("03_halo", "cells", TENON_OPTION_INT, "50",
                                     "number of cells of the periodic field", NULL));
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(
      TenonInitialize(&argc, &argv, "03 Halo: a halo exchange, its adjoint, a gradient\n"));
  TenonCallAbort(Halo(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
