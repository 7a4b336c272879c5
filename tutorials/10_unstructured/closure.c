/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates and evaluates the network of closure.h: message passing between the cells, and the fluxes
 * down the gradient of its output. Each evaluation that waits for its adjoint needs an input tensor
 * of its own, so `depth` tensors are used in turn. */
#include "closure.h"

#include <math.h>
#include <stdlib.h>

enum { kHidden = 16, kMessage = 8, kNormal = 3 };

/* The size of departures from rest, and the unit of the network's output. */
static const double kScale = 0.05, kUnit = 0.02;

static TenonErrorCode CreateMLP(MPI_Comm comm, const TenonInt widths[3], TenonLayer* layer) {
  TenonCall(TenonLayerCreateType(comm, "columnmlp", layer));
  TenonCall(TenonObjectSetIntegers((TenonObject)*layer, "widths", 3, widths));
  TenonCall(TenonObjectSetText((TenonObject)*layer, "activation", "tanh"));
  return TENON_SUCCESS;
}

static TenonErrorCode CreateNetwork(Closure* c) {
  const Mesh* m = c->solver->mesh;
  const TenonInt forMessages[3] = {2 * kFields + kNormal, kHidden, kMessage};
  const TenonInt forCells[3] = {kFields + kMessage, kHidden, kFields};
  const TenonInt shape[2] = {0, kNormal};
  TenonLayout inputs[2];
  TenonLayer f, g;

  TenonCall(CreateMLP(m->comm, forMessages, &f));
  TenonCall(CreateMLP(m->comm, forCells, &g));
  TenonCall(TenonLayerCreateMessagePassing(f, g, 2, "sum", &c->network));
  TenonCall(TenonLayerDestroy(&g));
  TenonCall(TenonLayerDestroy(&f));
  TenonCall(TenonLayerSetEdges(c->network, "", m->edges));
  TenonCall(TenonLayerSetDataType(c->network, TENON_FLOAT64));
  TenonCall(TenonLayerSetStackDepth(c->network, c->depth));
  TenonCall(TenonObjectSetFromOptions((TenonObject)c->network));
  TenonCall(TenonEdgesGetLayout(m->edges, 2, shape, &inputs[1]));
  TenonCall(TenonDTensorCreate(inputs[1], TENON_FLOAT64, &c->normals));
  inputs[0] = m->plain;
  TenonCall(TenonLayerSetUpMany(c->network, 2, inputs));
  TenonCall(TenonLayoutDestroy(&inputs[1]));
  TenonCall(TenonLayerInitialize(c->network, 1));
  TenonCall(TenonOptimizerCreate(c->network, "adam", &c->optimizer));
  return TENON_SUCCESS;
}

/* The rows of edges: unit normals. */
static TenonErrorCode FillNormals(const Mesh* m, TenonDTensor normals) {
  void* array;
  TenonInt s;
  int d;

  TenonCall(TenonDTensorGetArray(normals, TENON_FLOAT64, &array));
  for (s = 0; s < m->owned * kSides; ++s) {
    const double* n = m->normals + s * kNormal;

    for (d = 0; d < kNormal; ++d)
      ((double*)array)[s * kNormal + d] = n[d] / sqrt(Dot3(n, n));
  }
  TenonCall(TenonDTensorRestoreArray(normals, &array));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureCreate(const Solver* solver, int depth, Closure* c) {
  int n;

  c->solver = solver;
  c->depth = depth;
  c->next = 0;
  c->work = MeshCreateFields(solver->mesh, 1);
  TenonCall(CreateNetwork(c));
  TenonCall(FillNormals(solver->mesh, c->normals));
  c->x = (TenonDTensor*)malloc((size_t)depth * sizeof *c->x);
  for (n = 0; n < depth; ++n)
    TenonCall(TenonDTensorCreate(solver->mesh->plain, TENON_FLOAT64, &c->x[n]));
  TenonCall(TenonLayerCreateOutput(c->network, 0, &c->y));
  TenonCall(TenonLayerCreateOutputCotangent(c->network, 0, &c->dy));
  TenonCall(TenonLayerCreateInputCotangent(c->network, 0, &c->dx));
  /* The solver's arrays are on the host, wherever the network runs (-tenon_space device). */
  TenonCall(TenonDTensorSetSpace(c->y, TENON_MEMORY_HOST));
  TenonCall(TenonDTensorSetSpace(c->dy, TENON_MEMORY_HOST));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureDestroy(Closure* c) {
  int n;

  TenonCall(TenonDTensorDestroy(&c->dx));
  TenonCall(TenonDTensorDestroy(&c->dy));
  TenonCall(TenonDTensorDestroy(&c->y));
  for (n = 0; n < c->depth; ++n)
    TenonCall(TenonDTensorDestroy(&c->x[n]));
  TenonCall(TenonDTensorDestroy(&c->normals));
  TenonCall(TenonOptimizerDestroy(&c->optimizer));
  TenonCall(TenonLayerDestroy(&c->network));
  free(c->x);
  free(c->work);
  return TENON_SUCCESS;
}

TenonErrorCode ClosureApply(Closure* c, TenonBool training, const double* q, double* next) {
  const Mesh* m = c->solver->mesh;
  TenonDTensor inputs[2] = {c->x[c->next], c->normals};
  void* array;
  double* x;
  TenonInt n;

  c->next = (c->next + 1) % c->depth;
  TenonCall(TenonDTensorGetArray(inputs[0], TENON_FLOAT64, &array));
  x = (double*)array;
  for (n = 0; n < m->owned * kFields; ++n)
    x[n] = (q[n] - (n % kFields == 0 ? 1 : 0)) / kScale; /* the depth at rest is 1 */
  TenonCall(TenonDTensorRestoreArray(inputs[0], &array));
  TenonCall(MeshPlace(m, c->y, c->work));
  TenonCall(TenonLayerSetTraining(c->network, training));
  TenonCall(TenonLayerApplyMany(c->network, 2, inputs, 1, &c->y));
  TenonCall(SolverDiffuse(c->solver, c->solver->dt * kUnit, c->work, next));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureAdjoint(Closure* c, const double* w, double* gradient) {
  const Mesh* m = c->solver->mesh;
  const TenonDTensor cotangents[2] = {c->dx, NULL};
  const void* array;
  TenonInt n;

  TenonCall(SolverDiffuseAdjoint(c->solver, c->solver->dt * kUnit, w, c->work));
  TenonCall(MeshPlace(m, c->dy, c->work));
  TenonCall(TenonLayerApplyAdjointMany(c->network, 1, &c->dy, 2, cotangents));
  TenonCall(TenonDTensorGetArrayRead(c->dx, TENON_FLOAT64, &array));
  for (n = 0; n < m->owned * kFields; ++n)
    gradient[n] += ((const double*)array)[n] / kScale;
  TenonCall(TenonDTensorRestoreArrayRead(c->dx, &array));
  return TENON_SUCCESS;
}
