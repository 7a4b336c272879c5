/* SPDX-License-Identifier: BSD-2-Clause */
#include "network.h"

#include <stdio.h>

/* Adds a layer under a name; its options then begin with -tenon_<name>_. The network keeps it. */
static TenonErrorCode Add(TenonLayer network, TenonLayer layer, const char* name) {
  char prefix[32];

  snprintf(prefix, sizeof prefix, "%s_", name);
  TenonCall(TenonObjectSetName((TenonObject)layer, name));
  TenonCall(TenonObjectSetOptionsPrefix((TenonObject)layer, prefix));
  TenonCall(TenonLayerSequentialAdd(network, layer));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

/* A convolution with a 5 x 5 window, split over rows and columns, weights at the root. */
static TenonErrorCode AddConv(MPI_Comm comm, TenonLayer network, const char* name, TenonInt in,
                              TenonInt out, TenonInt padding) {
  const TenonInt kernel[2] = {5, 5};
  const TenonInt pad[2] = {padding, padding};
  TenonLayer conv;

  TenonCall(TenonLayerCreateConv(comm, 2, in, out, kernel, &conv));
  TenonCall(TenonLayerSetPadding(conv, pad, NULL));
  TenonCall(TenonLayerSetSignature(conv, "h,w"));
  TenonCall(TenonLayerSetStorage(conv, "root"));
  TenonCall(Add(network, conv, name));
  return TENON_SUCCESS;
}

static TenonErrorCode AddPool(MPI_Comm comm, TenonLayer network, const char* name) {
  const TenonInt kernel[2] = {2, 2};
  TenonLayer pool;

  TenonCall(TenonLayerCreatePooling(comm, TENON_POOLING_MAX, 2, kernel, &pool));
  TenonCall(Add(network, pool, name));
  return TENON_SUCCESS;
}

static TenonErrorCode AddRelu(MPI_Comm comm, TenonLayer network, const char* name,
                              const char* signature) {
  TenonLayer relu;

  TenonCall(TenonLayerCreatePointwise(comm, "relu", &relu));
  TenonCall(TenonLayerSetSignature(relu, signature));
  TenonCall(Add(network, relu, name));
  return TENON_SUCCESS;
}

static TenonErrorCode AddFlatten(MPI_Comm comm, TenonLayer network, const char* signature) {
  TenonLayer flatten;

  TenonCall(TenonLayerCreateFlatten(comm, &flatten));
  TenonCall(TenonLayerSetSignature(flatten, signature));
  TenonCall(Add(network, flatten, "flatten"));
  return TENON_SUCCESS;
}

static TenonErrorCode AddAffine(MPI_Comm comm, TenonLayer network, const char* name, TenonInt in,
                                TenonInt out, const char* signature) {
  TenonLayer affine;

  TenonCall(TenonLayerCreateAffine(comm, in, out, &affine));
  TenonCall(TenonLayerSetSignature(affine, signature));
  TenonCall(Add(network, affine, name));
  return TENON_SUCCESS;
}

TenonErrorCode NetworkLeNet5(MPI_Comm comm, TenonLayer* network) {
  TenonCall(TenonLayerCreateSequential(comm, network));
  TenonCall(TenonObjectSetName((TenonObject)*network, "LeNet-5"));
  TenonCall(AddConv(comm, *network, "C1", 1, 6, 2));
  TenonCall(AddRelu(comm, *network, "C1relu", "S2,S3"));
  TenonCall(AddPool(comm, *network, "S2"));
  TenonCall(AddConv(comm, *network, "C3", 6, 16, 0));
  TenonCall(AddRelu(comm, *network, "C3relu", "S2,S3"));
  TenonCall(AddPool(comm, *network, "S4"));
  /* From a split of space to a split of features over axis 1, copies over axis 0. */
  TenonCall(AddFlatten(comm, *network, "B,c"));
  /* An axis that splits inputs (i) leaves sums to come, which the next function needs whole: there
   * the axis turns to copies (B), and can split outputs (o) next. So the axes change roles. */
  TenonCall(AddAffine(comm, *network, "C5", 400, 120, "o,i"));
  TenonCall(AddRelu(comm, *network, "C5relu", "S1,B"));
  TenonCall(AddAffine(comm, *network, "F6", 120, 84, "i,o"));
  TenonCall(AddRelu(comm, *network, "F6relu", "B,S1"));
  TenonCall(AddAffine(comm, *network, "Output", 84, 10, "o,i"));
  return TENON_SUCCESS;
}

TenonErrorCode NetworkLinear(MPI_Comm comm, TenonLayer* network) {
  TenonCall(TenonLayerCreateSequential(comm, network));
  TenonCall(TenonObjectSetName((TenonObject)*network, "linear"));
  TenonCall(AddFlatten(comm, *network, "n,n"));
  TenonCall(AddAffine(comm, *network, "Output", 784, 10, "n,n"));
  return TENON_SUCCESS;
}
