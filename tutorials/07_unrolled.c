/* SPDX-License-Identifier: BSD-2-Clause */
/* 07 Unrolled: the gradient through several steps of a solver with a network in each.
 *
 * What you learn: one layer is applied in every time step and saves what the adjoints of all steps
 * need (TenonLayerSetStackDepth()). Backward in time, the adjoint of the network alternates with a
 * hand-written adjoint of the solver's step. Finite differences check the gradient.
 *
 * A periodic field u is advected and diffused, r(u) = a u_xx - c u_x by central differences, and a
 * small convolutional network N adds the terms that the equation lacks:
 *
 *   u[n+1] = u[n] + s A H u[n] + s N(u[n]),      L = |u[k] - v|^2 / (2 cells)
 *
 * H is the halo exchange and A the stencil in local memory. Backwards, from w = dL/du[k]:
 *
 *   w <- w + s H* A* w + s J* w,      where J* also accumulates the weight gradients
 *
 * After the last step w is dL/du[0]. In a direction (d of the weights, e of u[0]) the remainder
 * | L(h) - L(0) - h L' | then falls as h^2.
 *
 *   mpiexec -n 4 07_unrolled
 *   mpiexec -n 4 07_unrolled -cells 100000 -tenon_log_view
 */
#include <tenon.h>

#include <math.h>
#include <stdio.h>

enum { kSteps = 8, kHidden = 6, kParameters = 4, kHalvings = 5 };

static const double kDiffusion = 0.2, kSpeed = 0.5, kStep = 0.25;

typedef struct Unrolled {
  TenonInt cells;
  TenonLayout plain;
  TenonLinearOp halo;
  TenonLayer network;
  TenonDTensor
      u[kSteps + 1]; /* the layer keeps its inputs by reference, so each step has its own */
  TenonDTensor wanted, rate, answer, wide, wideCotangent, w, scaled, part;
  TenonDTensor weight[kParameters], start[kParameters], direction[kParameters], e, u0;
} Unrolled;

static double Wave(TenonInt i, TenonInt cells, double phase) {
  return sin(2 * 3.14159265358979323846 * ((double)i / (double)cells + phase));
}

static TenonErrorCode FillWave(TenonDTensor u, TenonInt cells, double phase) {
  TenonInt low[3], high[3], i;
  void* array;

  TenonCall(TenonDTensorGetBox(u, low, high));
  TenonCall(TenonDTensorGetArray(u, TENON_FLOAT64, &array));
  for (i = low[2]; i < high[2]; ++i)
    ((double*)array)[i - low[2]] = Wave(i, cells, phase);
  TenonCall(TenonDTensorRestoreArray(u, &array));
  return TENON_SUCCESS;
}

/* r <- A H u */
static TenonErrorCode Rate(Unrolled* p, TenonDTensor u) {
  TenonInt count, i;
  const void* lent;
  void* borrowed;
  const double* v;

  TenonCall(TenonLinearOpApply(p->halo, u, p->wide));
  TenonCall(TenonDTensorGetLocalSize(u, &count));
  TenonCall(TenonDTensorGetArrayRead(p->wide, TENON_FLOAT64, &lent));
  TenonCall(TenonDTensorGetArray(p->rate, TENON_FLOAT64, &borrowed));
  v = (const double*)lent;
  for (i = 0; i < count; ++i)
    ((double*)borrowed)[i] =
        kDiffusion * (v[i] - 2 * v[i + 1] + v[i + 2]) - kSpeed * (v[i + 2] - v[i]) / 2;
  TenonCall(TenonDTensorRestoreArray(p->rate, &borrowed));
  TenonCall(TenonDTensorRestoreArrayRead(p->wide, &lent));
  return TENON_SUCCESS;
}

/* part <- H* A* w: each element of w is added where Rate() reads, with the same factor. */
static TenonErrorCode RateAdjoint(Unrolled* p) {
  TenonInt count, i;
  const void* lent;
  void* borrowed;
  const double* w;
  double* z;

  TenonCall(TenonDTensorFillConstant(p->wideCotangent, 0));
  TenonCall(TenonDTensorGetLocalSize(p->w, &count));
  TenonCall(TenonDTensorGetArrayRead(p->w, TENON_FLOAT64, &lent));
  TenonCall(TenonDTensorGetArray(p->wideCotangent, TENON_FLOAT64, &borrowed));
  w = (const double*)lent;
  z = (double*)borrowed;
  for (i = 0; i < count; ++i) {
    z[i] += (kDiffusion + kSpeed / 2) * w[i];
    z[i + 1] -= 2 * kDiffusion * w[i];
    z[i + 2] += (kDiffusion - kSpeed / 2) * w[i];
  }
  TenonCall(TenonDTensorRestoreArray(p->wideCotangent, &borrowed));
  TenonCall(TenonDTensorRestoreArrayRead(p->w, &lent));
  TenonCall(TenonLinearOpApplyAdjoint(p->halo, p->wideCotangent, p->part));
  return TENON_SUCCESS;
}

/* All steps from u[0], and the loss; w <- u[k] - v. */
static TenonErrorCode Forward(Unrolled* p, double* loss) {
  int n;

  for (n = 0; n < kSteps; ++n) {
    TenonCall(Rate(p, p->u[n]));
    TenonCall(TenonLayerApply(p->network, p->u[n], p->answer));
    TenonCall(TenonDTensorCopy(p->u[n], p->u[n + 1]));
    TenonCall(TenonDTensorAXPBY(kStep, p->rate, 1, p->u[n + 1]));
    TenonCall(TenonDTensorAXPBY(kStep, p->answer, 1, p->u[n + 1]));
  }
  TenonCall(TenonDTensorCopy(p->u[kSteps], p->w));
  TenonCall(TenonDTensorAXPBY(-1, p->wanted, 1, p->w));
  TenonCall(TenonDTensorNorm(p->w, loss));
  *loss *= *loss / (2 * (double)p->cells);
  return TENON_SUCCESS;
}

/* After Forward() in training mode: w <- dL/du[0], and the weights' gradients. */
static TenonErrorCode Backward(Unrolled* p) {
  int n;

  TenonCall(TenonDTensorScale(1 / (double)p->cells, p->w));
  for (n = kSteps; n-- > 0;) {
    TenonCall(RateAdjoint(p));
    TenonCall(TenonDTensorAXPBY(kStep, p->w, 0, p->scaled));
    TenonCall(TenonDTensorAXPBY(kStep, p->part, 1, p->w));
    TenonCall(TenonLayerApplyAdjoint(p->network, p->scaled, p->part));
    TenonCall(TenonDTensorAXPBY(1, p->part, 1, p->w));
  }
  return TENON_SUCCESS;
}

static TenonErrorCode AddConvolution(Unrolled* p, MPI_Comm comm, TenonInt in, TenonInt out) {
  const TenonInt kernel = 3, padding = 1;
  const TenonBoundary ring = TENON_BOUNDARY_PERIODIC;
  TenonLayer layer;

  TenonCall(TenonLayerCreateConv(comm, 1, in, out, &kernel, &layer));
  TenonCall(TenonLayerSetPadding(layer, &padding, NULL));
  TenonCall(TenonLayerSetBoundary(layer, &ring, NULL));
  TenonCall(TenonLayerSequentialAdd(p->network, layer));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

static TenonErrorCode CreateNetwork(Unrolled* p, MPI_Comm comm) {
  TenonLayer tanh;

  TenonCall(TenonLayerCreateSequential(comm, &p->network));
  TenonCall(AddConvolution(p, comm, 1, kHidden));
  TenonCall(TenonLayerCreateType(comm, "tanh", &tanh));
  TenonCall(TenonLayerSequentialAdd(p->network, tanh));
  TenonCall(TenonLayerDestroy(&tanh));
  TenonCall(AddConvolution(p, comm, kHidden, 1));
  TenonCall(TenonLayerSetDataType(p->network, TENON_FLOAT64));
  TenonCall(TenonLayerSetStackDepth(p->network, kSteps)); /* adjoints wait for all steps */
  TenonCall(TenonObjectSetFromOptions((TenonObject)p->network));
  TenonCall(TenonLayerSetUp(p->network, p->plain));
  TenonCall(TenonLayerInitialize(p->network, 1));
  return TENON_SUCCESS;
}

/* A halo of one cell on both sides, and the fields. */
static TenonErrorCode CreateSolver(Unrolled* p, MPI_Comm comm) {
  const TenonInt shape[3] = {1, 1, p->cells};
  TenonDTensor* fields[] = {&p->wanted, &p->rate, &p->w, &p->scaled, &p->part, &p->e, &p->u0};
  TenonPartition line = NULL;
  TenonLayout wide = NULL, dual = NULL;
  int size, i;

  MPI_Comm_size(comm, &size);
  TenonCall(TenonPartitionCreate(comm, 1, &size, &line));
  TenonCall(TenonLayoutCreateSharded(line, 3, shape, "S2", &p->plain));
  TenonCall(TenonLayoutCreateLike(p->plain, &wide));
  TenonCall(TenonLayoutSetHalo(wide, 2, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
  TenonCall(TenonLayoutSetUp(wide));
  TenonCall(TenonLayoutGetDual(wide, &dual));
  TenonCall(TenonLinearOpCreateHalo(p->plain, wide, TENON_FLOAT64, &p->halo));
  TenonCall(TenonDTensorCreate(wide, TENON_FLOAT64, &p->wide));
  TenonCall(TenonDTensorCreate(dual, TENON_FLOAT64, &p->wideCotangent));
  for (i = 0; i <= kSteps; ++i)
    TenonCall(TenonDTensorCreate(p->plain, TENON_FLOAT64, &p->u[i]));
  for (i = 0; i < 7; ++i)
    TenonCall(TenonDTensorCreate(p->plain, TENON_FLOAT64, fields[i]));
  TenonCall(TenonLayoutDestroy(&dual));
  TenonCall(TenonLayoutDestroy(&wide));
  TenonCall(TenonPartitionDestroy(&line));
  return TENON_SUCCESS;
}

/* The point (weights, u[0]) and a random direction, the same on any number of processes. */
static TenonErrorCode CreateDirection(Unrolled* p) {
  TenonLayout layout;
  int i;

  TenonCall(FillWave(p->u0, p->cells, 0));
  TenonCall(FillWave(p->wanted, p->cells, 0.1));
  TenonCall(TenonDTensorFillUniform(p->e, 2, 0, -1, 1));
  for (i = 0; i < kParameters; ++i) {
    TenonCall(TenonLayerGetParameter(p->network, i, &p->weight[i]));
    TenonCall(TenonDTensorGetLayout(p->weight[i], &layout));
    TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &p->start[i]));
    TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &p->direction[i]));
    TenonCall(TenonDTensorCopy(p->weight[i], p->start[i]));
    TenonCall(TenonDTensorFillUniform(p->direction[i], 2, i + 1, -1, 1));
    TenonCall(TenonLayoutDestroy(&layout));
  }
  return TENON_SUCCESS;
}

/* The loss at a distance h from the point. */
static TenonErrorCode LossAt(Unrolled* p, double h, double* loss) {
  int i;

  TenonCall(TenonDTensorCopy(p->u0, p->u[0]));
  TenonCall(TenonDTensorAXPBY(h, p->e, 1, p->u[0]));
  for (i = 0; i < kParameters; ++i) {
    TenonCall(TenonDTensorCopy(p->start[i], p->weight[i]));
    TenonCall(TenonDTensorAXPBY(h, p->direction[i], 1, p->weight[i]));
  }
  TenonCall(Forward(p, loss));
  return TENON_SUCCESS;
}

/* L' = <dL/du[0], e> + sum of <gradient, d>; a gradient has the dual layout of its weight. */
static TenonErrorCode Slope(Unrolled* p, double* slope) {
  TenonDTensor gradient;
  double part;
  int i;

  TenonCall(TenonDTensorPairing(p->e, p->w, slope));
  for (i = 0; i < kParameters; ++i) {
    TenonCall(TenonLayerGetParameterGradient(p->network, i, &gradient));
    TenonCall(TenonDTensorPairing(p->direction[i], gradient, &part));
    TenonCall(TenonDTensorDestroy(&gradient));
    *slope += part;
  }
  return TENON_SUCCESS;
}

static TenonErrorCode Destroy(Unrolled* p) {
  TenonDTensor* fields[] = {&p->wanted, &p->rate,   &p->answer, &p->wide, &p->wideCotangent,
                            &p->w,      &p->scaled, &p->part,   &p->e,    &p->u0};
  int i;

  for (i = 0; i < kParameters; ++i) {
    TenonCall(TenonDTensorDestroy(&p->weight[i]));
    TenonCall(TenonDTensorDestroy(&p->start[i]));
    TenonCall(TenonDTensorDestroy(&p->direction[i]));
  }
  for (i = 0; i <= kSteps; ++i)
    TenonCall(TenonDTensorDestroy(&p->u[i]));
  for (i = 0; i < 10; ++i)
    TenonCall(TenonDTensorDestroy(fields[i]));
  TenonCall(TenonLayerDestroy(&p->network));
  TenonCall(TenonLinearOpDestroy(&p->halo));
  TenonCall(TenonLayoutDestroy(&p->plain));
  return TENON_SUCCESS;
}

static TenonErrorCode Run(MPI_Comm comm) {
  Unrolled p;
  double loss, slope, moved, remainder, before = 0, h = 0.1;
  int rank, i;

  MPI_Comm_rank(comm, &rank);
  TenonCall(TenonOptionsGetInt("-", "cells", &p.cells));
  TenonCall(CreateSolver(&p, comm));
  TenonCall(CreateNetwork(&p, comm));
  TenonCall(TenonLayerCreateOutput(p.network, 0, &p.answer));
  TenonCall(CreateDirection(&p));

  TenonCall(LossAt(&p, 0, &loss));
  TenonCall(Backward(&p));
  TenonCall(Slope(&p, &slope));
  if (rank == 0)
    printf("loss after %d steps %.8f, its slope by the adjoint %.8f\n", kSteps, loss, slope);

  TenonCall(TenonLayerSetTraining(p.network, TENON_FALSE)); /* nothing to keep from here on */
  for (i = 0; i <= kHalvings; ++i, h /= 2) {
    TenonCall(LossAt(&p, h, &moved));
    remainder = fabs(moved - loss - h * slope);
    if (rank == 0 && i == 0)
      printf("h %.6f: remainder %.3e\n", h, remainder);
    if (rank == 0 && i > 0)
      printf("h %.6f: remainder %.3e, order %.2f\n", h, remainder, log2(before / remainder));
    before = remainder;
  }
  TenonCall(Destroy(&p));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonOptionsDeclare("07_unrolled", "cells", TENON_OPTION_INT, "48",
                                     "cells of the periodic field", NULL));
  TenonCallAbort(
      TenonInitialize(&argc, &argv, "07 Unrolled: the gradient through steps of a solver\n"));
  TenonCallAbort(Run(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
