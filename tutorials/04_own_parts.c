/* SPDX-License-Identifier: BSD-2-Clause */
/* 04 Own parts: your own operator and your own layer.
 *
 * What you learn: a shell operator calls your functions, and can be composed with the library's
 * operators; TenonLinearOpTestAdjoint() verifies your adjoint. A shell layer does the same for a
 * differentiable map with parameters, and is trained like the library's layers.
 *
 * The operator is the second difference of a periodic field: the library's halo exchange H, then a
 * stencil S on local memory, L = S H. The layer is a diffusion step with an unknown conductivity,
 * y = x + kappa L x. It is trained on the result of a step with a conductivity of 0.2.
 *
 *   mpiexec -n 4 04_own_parts
 */
#include <tenon.h>
#include <tenon/ext/layer.h>

#include <stdio.h>

enum { kCells = 60, kSteps = 40 };

static TenonErrorCode ArrayOf(TenonDTensor x, const double** cells) {
  const void* values;

  TenonCall(TenonDTensorGetArrayRead(x, TENON_FLOAT64, &values));
  *cells = (const double*)values;
  TenonCall(TenonDTensorRestoreArrayRead(x, &values));
  return TENON_SUCCESS;
}

/* The operator's functions. The input has one more cell on each side than the output. */
static TenonErrorCode Stencil(TenonDTensor input, TenonDTensor output, void* context) {
  const double* wide;
  TenonInt count, i;
  void* array;

  (void)context;
  TenonCall(TenonDTensorGetLocalSize(output, &count));
  TenonCall(ArrayOf(input, &wide));
  TenonCall(TenonDTensorGetArray(output, TENON_FLOAT64, &array));
  for (i = 0; i < count; ++i)
    ((double*)array)[i] = wide[i] - 2 * wide[i + 1] + wide[i + 2];
  TenonCall(TenonDTensorRestoreArray(output, &array));
  return TENON_SUCCESS;
}

static TenonErrorCode StencilAdjoint(TenonDTensor input, TenonDTensor output, void* context) {
  const double* narrow;
  TenonInt count, i;
  double* wide;
  void* array;

  (void)context;
  TenonCall(TenonDTensorFillConstant(output, 0));
  TenonCall(TenonDTensorGetLocalSize(input, &count));
  TenonCall(ArrayOf(input, &narrow));
  TenonCall(TenonDTensorGetArray(output, TENON_FLOAT64, &array));
  wide = (double*)array;
  for (i = 0; i < count; ++i) {
    wide[i] += narrow[i];
    wide[i + 1] -= 2 * narrow[i];
    wide[i + 2] += narrow[i];
  }
  TenonCall(TenonDTensorRestoreArray(output, &array));
  return TENON_SUCCESS;
}

static TenonErrorCode CreateLaplacian(TenonLayout plain, TenonLinearOp* laplacian) {
  TenonLayout wide = NULL;
  TenonLinearOp parts[2] = {NULL, NULL};

  TenonCall(TenonLayoutCreateLike(plain, &wide));
  TenonCall(TenonLayoutSetHalo(wide, 0, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
  TenonCall(TenonLayoutSetUp(wide));
  TenonCall(TenonLinearOpCreateHalo(plain, wide, TENON_FLOAT64, &parts[0]));
  TenonCall(TenonLinearOpCreateShell(wide, plain, TENON_FLOAT64, TENON_FLOAT64, Stencil,
                                     StencilAdjoint, NULL, NULL, &parts[1]));
  TenonCall(TenonLinearOpCreateComposition(2, parts, laplacian));
  TenonCall(TenonLinearOpDestroy(&parts[0]));
  TenonCall(TenonLinearOpDestroy(&parts[1]));
  TenonCall(TenonLayoutDestroy(&wide));
  return TENON_SUCCESS;
}

/* The layer's context: the operator L, and a tensor for L x. */
typedef struct Diffusion {
  TenonLinearOp laplacian;
  TenonDTensor change;
} Diffusion;

static TenonErrorCode Scalar(TenonDTensor parameter, double* value) {
  const double* cells;

  TenonCall(ArrayOf(parameter, &cells));
  *value = cells[0];
  return TENON_SUCCESS;
}

/* y <- x + kappa L x. */
static TenonErrorCode Diffuse(TenonLayer layer, TenonDTensor x, TenonDTensor y, void* context) {
  const Diffusion* d = (const Diffusion*)context;
  TenonDTensor parameter;
  double kappa;

  TenonCall(TenonLayerShellGetTensor(layer, TENON_SHELL_PARAMETER, 0, &parameter));
  TenonCall(Scalar(parameter, &kappa));
  TenonCall(TenonDTensorCopy(x, y));
  TenonCall(TenonLinearOpApply(d->laplacian, x, d->change));
  TenonCall(TenonDTensorAXPBY(kappa, d->change, 1, y));
  return TENON_SUCCESS;
}

/* dx <- dy + kappa L* dy. The derivative with respect to kappa is <dy, L x>; each process adds the
 * contribution of its own cells to the gradient, and Tenon sums them. */
static TenonErrorCode DiffuseAdjoint(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                     TenonDTensor dy, TenonDTensor dx, void* context) {
  const Diffusion* d = (const Diffusion*)context;
  TenonDTensor parameter, gradient;
  const double *change, *cotangent;
  TenonInt count, i;
  double kappa;
  void* array;

  (void)y;
  TenonCall(TenonLayerShellGetTensor(layer, TENON_SHELL_PARAMETER, 0, &parameter));
  TenonCall(TenonLayerShellGetTensor(layer, TENON_SHELL_PARAMETER_GRADIENT, 0, &gradient));
  TenonCall(Scalar(parameter, &kappa));
  TenonCall(TenonLinearOpApply(d->laplacian, x, d->change));
  TenonCall(TenonDTensorGetLocalSize(dy, &count));
  TenonCall(ArrayOf(d->change, &change));
  TenonCall(ArrayOf(dy, &cotangent));
  TenonCall(TenonDTensorGetArray(gradient, TENON_FLOAT64, &array));
  for (i = 0; i < count; ++i)
    *(double*)array += cotangent[i] * change[i];
  TenonCall(TenonDTensorRestoreArray(gradient, &array));
  if (!dx)
    return TENON_SUCCESS;
  TenonCall(TenonDTensorCopy(dy, dx));
  TenonCall(TenonLinearOpApplyAdjoint(d->laplacian, dy, d->change));
  TenonCall(TenonDTensorAXPBY(kappa, d->change, 1, dx));
  return TENON_SUCCESS;
}

static TenonErrorCode CreateDiffusion(MPI_Comm comm, TenonLayout plain, Diffusion* d,
                                      TenonLayer* layer) {
  const TenonLayerShellFunctions functions = {NULL, Diffuse, NULL, DiffuseAdjoint};
  const TenonInt one = 1;

  TenonCall(TenonLayerCreateType(comm, "shell", layer));
  TenonCall(TenonObjectSetName((TenonObject)*layer, "diffusion"));
  TenonCall(TenonLayerShellSetFunctions(*layer, &functions));
  TenonCall(TenonLayerShellSetContext(*layer, d, NULL));
  TenonCall(TenonLayerShellAddParameter(*layer, "kappa", 1, &one, 0, 0));
  TenonCall(TenonLayerShellSetLabels(*layer, "S0"));
  TenonCall(TenonLayerSetDataType(*layer, TENON_FLOAT64));
  TenonCall(TenonLayerSetUp(*layer, plain));
  return TENON_SUCCESS;
}

/* The training data: a field, and the field after a step with kappa = 0.2. */
static TenonErrorCode CreateExample(TenonLayout plain, TenonLinearOp laplacian, TenonDTensor* x,
                                    TenonDTensor* target) {
  TenonCall(TenonDTensorCreate(plain, TENON_FLOAT64, x));
  TenonCall(TenonDTensorCreate(plain, TENON_FLOAT64, target));
  TenonCall(TenonDTensorFillUniform(*x, 1, 0, -1, 1));
  TenonCall(TenonDTensorCopy(*x, *target));
  TenonCall(TenonLinearOpApplyAdd(laplacian, 0.2, *x, 1, *target));
  return TENON_SUCCESS;
}

/* Minimises the mean squared error by gradient descent. */
static TenonErrorCode Train(MPI_Comm comm, TenonLayer layer, TenonDTensor x, TenonDTensor target) {
  TenonLayer loss = NULL;
  TenonOptimizer optimizer = NULL;
  TenonDTensor y = NULL, dy = NULL, value = NULL, dvalue = NULL, kappa = NULL;
  TenonLayout layout = NULL;
  double error, learned;
  int rank, step;

  MPI_Comm_rank(comm, &rank);
  TenonCall(TenonLayerCreateOutput(layer, 0, &y));
  TenonCall(TenonLayerCreateOutputCotangent(layer, 0, &dy));
  TenonCall(TenonLayerCreateType(comm, "meansquarederror", &loss));
  TenonCall(TenonLayerSetDataType(loss, TENON_FLOAT64));
  TenonCall(TenonLayerGetOutputLayout(layer, 0, &layout));
  TenonCall(TenonLayerSetUp(loss, layout));
  TenonCall(TenonLayerSetTarget(loss, target));
  TenonCall(TenonLayerCreateOutput(loss, 0, &value));
  TenonCall(TenonLayerCreateOutputCotangent(loss, 0, &dvalue));
  TenonCall(TenonDTensorFillConstant(dvalue, 1));
  TenonCall(TenonOptimizerCreate(layer, "sgd", &optimizer));
  TenonCall(TenonOptimizerSetLearningRate(optimizer, 0.02));
  TenonCall(TenonLayerGetParameter(layer, 0, &kappa));
  for (step = 1; step <= kSteps; ++step) {
    TenonCall(TenonLayerApply(layer, x, y));
    TenonCall(TenonLayerApply(loss, y, value));
    TenonCall(TenonLayerApplyAdjoint(loss, dvalue, dy));
    TenonCall(TenonLayerApplyAdjoint(layer, dy, NULL));
    TenonCall(TenonDTensorMaxAbs(value, &error));
    TenonCall(TenonOptimizerStep(optimizer));
    TenonCall(TenonDTensorMaxAbs(kappa, &learned));
    if (rank == 0 && step * 4 % kSteps == 0)
      printf("step %2d: loss before the step %.3e, kappa after it %.6f\n", step, error, learned);
  }
  TenonCall(TenonDTensorDestroy(&kappa));
  TenonCall(TenonOptimizerDestroy(&optimizer));
  TenonCall(TenonDTensorDestroy(&dvalue));
  TenonCall(TenonDTensorDestroy(&value));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonLayerDestroy(&loss));
  TenonCall(TenonDTensorDestroy(&dy));
  TenonCall(TenonDTensorDestroy(&y));
  return TENON_SUCCESS;
}

static TenonErrorCode OwnParts(MPI_Comm comm) {
  const TenonInt cells = kCells;
  TenonPartition partition = NULL;
  TenonLayout plain = NULL;
  TenonLayer layer = NULL;
  TenonDTensor x = NULL, target = NULL;
  Diffusion diffusion;
  double forward, adjoint;
  int rank, size;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  TenonCall(TenonPartitionCreate(comm, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 1, &cells, "S0", &plain));
  TenonCall(CreateLaplacian(plain, &diffusion.laplacian));
  TenonCall(TenonDTensorCreate(plain, TENON_FLOAT64, &diffusion.change));

  TenonCall(TenonLinearOpTestAdjoint(diffusion.laplacian, 1, TENON_TRUE, &forward, &adjoint, NULL));
  if (rank == 0)
    printf("<L x, y> and <x, L* y> are equal: %s\n", forward == adjoint ? "yes" : "no");

  TenonCall(CreateExample(plain, diffusion.laplacian, &x, &target));
  TenonCall(CreateDiffusion(comm, plain, &diffusion, &layer));
  TenonCall(Train(comm, layer, x, target));

  TenonCall(TenonLayerDestroy(&layer));
  TenonCall(TenonDTensorDestroy(&target));
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonDTensorDestroy(&diffusion.change));
  TenonCall(TenonLinearOpDestroy(&diffusion.laplacian));
  TenonCall(TenonLayoutDestroy(&plain));
  TenonCall(TenonPartitionDestroy(&partition));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonInitialize(&argc, &argv, "04 Own parts: your own operator and layer\n"));
  TenonCallAbort(OwnParts(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
