/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the network of equations.h as a graph, term by term of the equations in solver.h. Each
 * function adds the layers for one term and sets `node` to the number of the node that computes it.
 * */
#include "equations.h"

#include "solver.h"

#include <stdlib.h>
#include <string.h>

/* Where values lie, in y and x: at centres of cells, on their left or lower sides, at their lower
 * left corners. All are as many as cells, since the domain has a period. */
static const TenonFaces kLeft[2] = {TENON_FACES_NONE, TENON_FACES_LOWER};
static const TenonFaces kLower[2] = {TENON_FACES_LOWER, TENON_FACES_NONE};
static const TenonFaces kCorner[2] = {TENON_FACES_LOWER, TENON_FACES_LOWER};
static const TenonBoundary kRing[2] = {TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC};

typedef struct Builder {
  const Grid* grid;
  TenonLayer graph;
} Builder;

static TenonErrorCode Add(Builder* b, TenonLayer layer, int count, const int reads[], int* node) {
  TenonCall(TenonLayerGraphAddNode(b->graph, layer, count, reads, node));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

/* A component of q. */
static TenonErrorCode Component(Builder* b, TenonInt number, int* node) {
  const TenonInt channels = 1, end = number + 1;
  const int q = -1;
  TenonLayer layer;

  TenonCall(TenonLayerCreateType(b->grid->comm, "slice", &layer));
  TenonCall(TenonObjectSetIntegers((TenonObject)layer, "dim", 1, &channels));
  TenonCall(TenonObjectSetIntegers((TenonObject)layer, "begin", 1, &number));
  TenonCall(TenonObjectSetIntegers((TenonObject)layer, "end", 1, &end));
  TenonCall(Add(b, layer, 1, &q, node));
  return TENON_SUCCESS;
}

/* Means to the left sides, the lower sides or the corners; or back from there. */
static TenonErrorCode Stagger(Builder* b, const TenonFaces to[2], int value, int* node) {
  TenonLayer layer;

  TenonCall(TenonLayerCreateStagger(b->grid->comm, 2, to, &layer));
  TenonCall(TenonLayerSetBoundary(layer, kRing, NULL));
  TenonCall(Add(b, layer, 1, &value, node));
  return TENON_SUCCESS;
}

static TenonErrorCode Collocate(Builder* b, const TenonFaces from[2], int value, int* node) {
  TenonLayer layer;

  TenonCall(TenonLayerCreateCollocate(b->grid->comm, 2, from, &layer));
  TenonCall(TenonLayerSetBoundary(layer, kRing, NULL));
  TenonCall(Add(b, layer, 1, &value, node));
  return TENON_SUCCESS;
}

/* A product, a quotient or a sum. */
static TenonErrorCode Combine(Builder* b, const char* type, int first, int second, int* node) {
  const int reads[2] = {first, second};
  TenonLayer layer;

  TenonCall(TenonLayerCreateType(b->grid->comm, type, &layer));
  TenonCall(Add(b, layer, 2, reads, node));
  return TENON_SUCCESS;
}

/* Differences: a convolution of 3 x 3, whose weights are set when the network is set up. */
static TenonErrorCode Differences(Builder* b, const char* name, TenonInt in, TenonInt out,
                                  int value, int* node) {
  const TenonInt kernel[2] = {3, 3}, padding[2] = {1, 1};
  TenonLayer layer;

  TenonCall(TenonLayerCreateConv(b->grid->comm, 2, in, out, kernel, &layer));
  TenonCall(TenonObjectSetName((TenonObject)layer, name));
  TenonCall(TenonObjectSetBool((TenonObject)layer, "bias", TENON_FALSE));
  TenonCall(TenonLayerSetPadding(layer, padding, NULL));
  TenonCall(TenonLayerSetBoundary(layer, kRing, NULL));
  TenonCall(Add(b, layer, 1, &value, node));
  return TENON_SUCCESS;
}

/* One weight: `factor` times the input channel `from`, `up` rows above and `right` columns to the
 * right. */
typedef struct Weight {
  int to, from, up, right;
  double factor;
} Weight;

static TenonErrorCode SetWeights(TenonLayer graph, const char* path, int in, int out, int count,
                                 const Weight weights[]) {
  TenonDTensor parameter;
  void* array;
  double* values;
  int n;

  TenonCall(TenonLayerGetParameterAt(graph, path, &parameter));
  TenonCall(TenonDTensorGetArray(parameter, TENON_FLOAT64, &array));
  values = (double*)array;
  memset(values, 0, (size_t)(9 * in * out) * sizeof *values);
  for (n = 0; n < count; ++n) {
    const Weight* w = &weights[n];

    values[((w->to * in + w->from) * 3 + 1 + w->up) * 3 + 1 + w->right] += w->factor;
  }
  TenonCall(TenonDTensorRestoreArray(parameter, &array));
  TenonCall(TenonDTensorDestroy(&parameter));
  return TENON_SUCCESS;
}

/* Of u, v, h: dv/dx - du/dy at the corners. */
static TenonErrorCode SetVorticity(const Grid* g, TenonLayer graph) {
  const double r = 1 / g->spacing;
  const Weight weights[] = {{0, 1, 0, 0, r}, {0, 1, 0, -1, -r}, {0, 0, 0, 0, -r}, {0, 0, -1, 0, r}};

  TenonCall(SetWeights(graph, "vorticity/weight", 3, 1, 4, weights));
  return TENON_SUCCESS;
}

/* Of u, v, h, the mean u^2 + v^2, U, V, and the means of P V and P U: the rates of u, v and h. */
static TenonErrorCode SetRates(const Grid* g, TenonLayer graph) {
  enum { u, v, h, K, U, V, PV, PU, kInputs };
  const double r = 1 / g->spacing, nu = kViscosity * r * r;
  const Weight weights[] = {{u, PV, 0, 0, 1},
                            {u, h, 0, 0, -kGravity * r},
                            {u, h, 0, -1, kGravity * r},
                            {u, K, 0, 0, -r / 2},
                            {u, K, 0, -1, r / 2},
                            {u, u, 0, -1, nu},
                            {u, u, 0, 1, nu},
                            {u, u, -1, 0, nu},
                            {u, u, 1, 0, nu},
                            {u, u, 0, 0, -4 * nu},
                            {v, PU, 0, 0, -1},
                            {v, h, 0, 0, -kGravity * r},
                            {v, h, -1, 0, kGravity * r},
                            {v, K, 0, 0, -r / 2},
                            {v, K, -1, 0, r / 2},
                            {v, v, 0, -1, nu},
                            {v, v, 0, 1, nu},
                            {v, v, -1, 0, nu},
                            {v, v, 1, 0, nu},
                            {v, v, 0, 0, -4 * nu},
                            {h, U, 0, 0, r},
                            {h, U, 0, 1, -r},
                            {h, V, 0, 0, r},
                            {h, V, 1, 0, -r}};

  TenonCall(SetWeights(graph, "rates/weight", kInputs, kFields,
                       (int)(sizeof weights / sizeof weights[0]), weights));
  return TENON_SUCCESS;
}

/* P = (f + dv/dx - du/dy) / h at the corners. */
static TenonErrorCode AddPotentialVorticity(Builder* b, int h, int* P) {
  TenonLayer shift;
  int vorticity, absolute, depth;

  TenonCall(Differences(b, "vorticity", kFields, 1, -1, &vorticity));
  TenonCall(TenonLayerCreateType(b->grid->comm, "scale", &shift));
  TenonCall(TenonObjectSetReal((TenonObject)shift, "shift", kCoriolis));
  TenonCall(Add(b, shift, 1, &vorticity, &absolute));
  TenonCall(Stagger(b, kCorner, h, &depth));
  TenonCall(Combine(b, "divide", absolute, depth, P));
  return TENON_SUCCESS;
}

/* The mean at the centres of u^2 + v^2, whose squares are on the sides. */
static TenonErrorCode AddSquare(Builder* b, int u, int v, int* K) {
  int uu, vv;

  TenonCall(Combine(b, "multiply", u, u, &uu));
  TenonCall(Combine(b, "multiply", v, v, &vv));
  TenonCall(Collocate(b, kLeft, uu, &uu));
  TenonCall(Collocate(b, kLower, vv, &vv));
  TenonCall(Combine(b, "add", uu, vv, K));
  return TENON_SUCCESS;
}

/* flux <- u times h on its side; and P times the mean of the flux at the corners, at the other
 * component's sides. */
static TenonErrorCode AddFlux(Builder* b, int P, int u, int h, const TenonFaces side[2],
                              const TenonFaces across[2], int* flux, int* turned) {
  int mean;

  TenonCall(Stagger(b, side, h, &mean));
  TenonCall(Combine(b, "multiply", u, mean, flux));
  TenonCall(Stagger(b, across, *flux, &mean));
  TenonCall(Combine(b, "multiply", P, mean, turned));
  TenonCall(Collocate(b, side, *turned, turned));
  return TENON_SUCCESS;
}

TenonErrorCode EquationsCreate(const Grid* g, TenonLayer* equations) {
  Builder b = {g, NULL};
  TenonLayer all;
  int u, v, h, P, reads[6] = {-1}, joined;

  TenonCall(TenonLayerCreateGraph(g->comm, &b.graph));
  TenonCall(Component(&b, 0, &u));
  TenonCall(Component(&b, 1, &v));
  TenonCall(Component(&b, 2, &h));
  TenonCall(AddPotentialVorticity(&b, h, &P));
  TenonCall(AddSquare(&b, u, v, &reads[1]));
  TenonCall(AddFlux(&b, P, u, h, kLeft, kLower, &reads[2], &reads[5]));
  TenonCall(AddFlux(&b, P, v, h, kLower, kLeft, &reads[3], &reads[4]));
  TenonCall(TenonLayerCreateType(g->comm, "concatenate", &all));
  TenonCall(TenonObjectSetIntegers((TenonObject)all, "dim", 1, (TenonInt[]){1}));
  TenonCall(Add(&b, all, 6, reads, &joined));
  TenonCall(Differences(&b, "rates", 8, kFields, joined, NULL));
  TenonCall(TenonLayerSetDataType(b.graph, TENON_FLOAT64));
  TenonCall(TenonLayerSetUp(b.graph, g->plain));
  TenonCall(SetVorticity(g, b.graph));
  TenonCall(SetRates(g, b.graph));
  *equations = b.graph;
  return TENON_SUCCESS;
}
