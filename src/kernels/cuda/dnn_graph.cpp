// SPDX-License-Identifier: BSD-2-Clause
// Describes a convolution to cuDNN, descriptor by descriptor: arrays, the convolution, the
// operations that follow it, and the graph of these operations. The numbers kX, kW, ... identify
// the arrays in the graph; their addresses are given when its plan runs (dnn_plan.cpp).
#include "kernels/cuda/dnn_graph.hpp"

#include "kernels/cuda/dnn_staging.hpp"

namespace tenon::cuda {

namespace {

struct AttributeNames {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t alpha, beta, convolution, x, w, y;
  const char* text;
};

// cuDNN has separate attribute names for each kind of convolution.
const AttributeNames& namesOf(ConvolutionKind kind) {
#define TENON_NAMES(type, prefix, x, w, y, text)                                                   \
  {                                                                                                \
    CUDNN_BACKEND_OPERATION_CONVOLUTION_##type##_DESCRIPTOR,                                       \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_ALPHA,                                         \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_BETA,                                          \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_CONV_DESC,                                     \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_##x,                                           \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_##w,                                           \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_##y, text                                      \
  }
  static constexpr AttributeNames names[] = {
      TENON_NAMES(FORWARD, FORWARD, X, W, Y, "the convolution"),
      TENON_NAMES(BACKWARD_DATA, BWD_DATA, DX, W, DY, "the convolution's adjoint in its input"),
      TENON_NAMES(BACKWARD_FILTER, BWD_FILTER, X, DW, DY,
                  "the convolution's adjoint in its weights")};
#undef TENON_NAMES
  return names[static_cast<int>(kind)];
}

Descriptor arrayDescriptor(Index number, const ConvolutionGraph& g, const ArrayBox& box) {
  const bool isVirtual = number >= kSum;
  Descriptor array(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  array.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, {number})
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &g.type)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {g.alignment > 0 ? g.alignment : bytesOfElement(g)})
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, box.extent)
      .set(CUDNN_ATTR_TENSOR_STRIDES, box.strides)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &isVirtual)
      .finalize("the description of an array");
  return array;
}

Descriptor convolutionDescriptor(const ConvolutionGraph& g) {
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const cudnnDataType_t sums = g.type == CUDNN_DATA_DOUBLE ? g.type : CUDNN_DATA_FLOAT;
  Descriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {static_cast<Index>(g.stride.size())})
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, g.padLow)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, g.padHigh)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, g.stride)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, g.dilation)
      .finalize("the description of a convolution");
  const AttributeNames& names = namesOf(g.kind);
  const double alpha = 1;
  Descriptor operation(names.operation);
  operation.set(names.alpha, CUDNN_TYPE_DOUBLE, 1, &alpha)
      .set(names.beta, CUDNN_TYPE_DOUBLE, 1, &g.beta)
      .set(names.convolution, convolution)
      .set(names.x, arrayDescriptor(kX, g, g.x))
      .set(names.w, arrayDescriptor(kW, g, g.w))
      .set(names.y, arrayDescriptor(g.epilogue == Epilogue::None ? kY : kSum, g, g.y))
      .finalize(names.text);
  return operation;
}

// An elementwise operation on x, which has the shape of y.
Descriptor pointwise(cudnnPointwiseMode_t mode, const ConvolutionGraph& g, Index x, Index y,
                     const ArrayBox* added = nullptr) {
  Descriptor function(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  function.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &g.type);
  const cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN; // as the rectifier of layers does
  if (mode == CUDNN_POINTWISE_RELU_FWD)
    function.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, 1, &nan);
  function.finalize("the description of a function");
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, arrayDescriptor(x, g, g.y))
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, arrayDescriptor(y, g, g.y));
  if (added)
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, arrayDescriptor(kBias, g, *added));
  operation.finalize(added ? "the sum with a bias" : "the rectifier");
  return operation;
}

// Adds the operations that follow the convolution.
void addEpilogue(const ConvolutionGraph& g, std::vector<Descriptor>& operations) {
  if (g.epilogue == Epilogue::None)
    return;
  const Index channels = g.y.extent[1];
  ArrayBox bias{std::vector<Index>(g.y.extent.size(), 1), std::vector<Index>(g.y.extent.size(), 1)};
  bias.extent[1] = bias.strides[0] = channels;
  const bool isLast = g.epilogue == Epilogue::Bias;
  operations.push_back(pointwise(CUDNN_POINTWISE_ADD, g, kSum, isLast ? kY : kBiasedSum, &bias));
  if (!isLast)
    operations.push_back(pointwise(CUDNN_POINTWISE_RELU_FWD, g, kBiasedSum, kY));
}

} // namespace

const char* textOf(ConvolutionKind kind) {
  return namesOf(kind).text;
}

Index bytesOfElement(const ConvolutionGraph& g) {
  return g.type == CUDNN_DATA_DOUBLE ? 8 : 4;
}

// It is never destroyed, since the library can be unloaded before static destructors run.
cudnnHandle_t planningHandle() {
  static const cudnnHandle_t handle = makeDnnHandle(Stream::make());
  return handle;
}

Descriptor graphDescriptor(const ConvolutionGraph& graph) {
  const ConvolutionGraph g = graph.staging == Staging::None ? graph : staged(graph);
  std::vector<Descriptor> operations;
  operations.push_back(convolutionDescriptor(g));
  addEpilogue(g, operations);
  std::vector<cudnnBackendDescriptor_t> descriptors;
  for (const Descriptor& operation : operations)
    descriptors.push_back(operation.get());
  const cudnnHandle_t handle = planningHandle();
  Descriptor described(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  described.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, descriptors.size(),
           descriptors.data())
      .finalize("a graph");
  return described;
}

bool allows(const ConvolutionGraph& graph, cudnnBackendNumericalNote_t note) {
  switch (note) {
  // In float32, tensor cores mean TF32; in float64 they are exact, and in bfloat16 they lose
  // nothing beyond the rounding of the inputs. FFT and Winograd engines round more than the sums of
  // the definition.
  case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
    return graph.type == CUDNN_DATA_DOUBLE || graph.mayUseTf32 ||
           graph.staging == Staging::BFloat16;
  case CUDNN_NUMERICAL_NOTE_FFT:
  case CUDNN_NUMERICAL_NOTE_WINOGRAD:
  case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
  case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
  case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
    return graph.type == CUDNN_DATA_DOUBLE || graph.mayUseTf32;
  case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
    return graph.mayBeNondeterministic;
  case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
  case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
    return false;
  default:
    return true;
  }
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  checkDnn(dnn().cudnnBackendCreateDescriptor(type, &handle_), "cudnnBackendCreateDescriptor");
}

Descriptor::~Descriptor() {
  if (handle_)
    dnn().cudnnBackendDestroyDescriptor(handle_);
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                            std::size_t count, const void* values) {
  checkDnn(dnn().cudnnBackendSetAttribute(handle_, name, type, static_cast<Index>(count), values),
           "cudnnBackendSetAttribute");
  return *this;
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const std::vector<Index>& values) {
  return set(name, CUDNN_TYPE_INT64, values.size(), values.data());
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const Descriptor& other) {
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.handle_);
}

void Descriptor::finalize(const char* what) {
  checkDnn(dnn().cudnnBackendFinalize(handle_), what);
}

} // namespace tenon::cuda
