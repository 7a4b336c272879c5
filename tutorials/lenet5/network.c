/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the networks of network.h layer by layer. The signature of a layer says what the two axes
 * of the process grid split: "h,w" the rows and the columns of images. */
#include "network.h"

#include <stdio.h>

/* Adds a layer with a name, which is also the prefix of its options: -tenon_<name>_backend and so
 * on. The network keeps a reference to it. */
static TenonErrorCode Add(TenonLayer network, TenonLayer layer, const char* name) {
  char prefix[32];

  snprintf(prefix, sizeof prefix, "%s_", name);
  TenonCall(TenonObjectSetName((TenonObject)layer, name));
  TenonCall(TenonObjectSetOptionsPrefix((TenonObject)layer, prefix));
  TenonCall(TenonLayerSequentialAdd(network, layer));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

/* A 5 x 5 convolution, split over rows (h) and columns (w), with the weights stored on the root. */
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

  TenonCall(TenonLayerCreateType(comm, "maxpooling", &pool));
  TenonCall(TenonObjectSetIntegers((TenonObject)pool, "kernel", 2, kernel));
  TenonCall(Add(network, pool, name));
  return TENON_SUCCESS;
}

static TenonErrorCode AddRelu(MPI_Comm comm, TenonLayer network, const char* name,
                              const char* signature) {
  TenonLayer relu;

  TenonCall(TenonLayerCreateType(comm, "relu", &relu));
  TenonCall(TenonLayerSetSignature(relu, signature));
  TenonCall(Add(network, relu, name));
  return TENON_SUCCESS;
}

static TenonErrorCode AddFlatten(MPI_Comm comm, TenonLayer network, const char* signature) {
  TenonLayer flatten;

  TenonCall(TenonLayerCreateType(comm, "flatten", &flatten));
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
  /* From images split in space to features split over axis 1 and replicated over axis 0. */
  TenonCall(AddFlatten(comm, *network, "B,c"));
  /* An axis that splits the inputs (i) gives partial sums. The next pointwise function needs their
   * sum, which is replicated (B) over that axis, so that the axis can split the outputs (o) of the
   * next affine layer: the two axes alternate. */
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
