// SPDX-License-Identifier: BSD-2-Clause
// The fake cuDNN of the stand-in for CUDA. A program of cuDNN describes its work in descriptors
// (tensors, operations, a graph of operations), asks heuristics for configurations of engines,
// makes a plan of one of them, and executes the plan with a list of pointers, the variant pack. The
// real cuDNN library does all of this except the execution: it can make and check plans for a
// device that is only described in JSON, without a GPU or a driver. So this file
//   - forwards calls to the real library (REAL()), with the description of an A100 or H200 in place
//     of the handle, and records the attributes of each descriptor (Record)
//   - executes a plan from these records: a convolution in any of its three directions (forward,
//     gradient of the data, gradient of the weights), followed by a bias and a rectifier at most,
//     by loops, as work of the handle's stream
// Before each execution the workspace becomes NaN, because other kernels may use it in between.
#include "standin/calls.hpp"
#include "standin/costs.hpp"
#include "standin/devices.hpp"
#include "standin/failures.hpp"
#include "standin/memory.hpp"
#include "standin/streams.hpp"

#include <cudnn.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace tenon::standin {

namespace {

// The devices, as cuDNN 9.19 describes them (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION).
const char* const kA100 =
    R"({"deviceName":"NVIDIA A100-SXM4-80GB","cudaDeviceId":0,"deviceVer":800,)"
    R"("multiProcessorCount":108,"driverVer":13000,"maxSharedMemoryPerBlockOptin":166912,)"
    R"("totalGlobalMem":85000000000,"maxGridSize":[2147483647,65535,65535],)"
    R"("maxBlockSize":[1024,1024,64],"maxThreadsPerBlock":1024,"maxSharedMemoryPerBlock":49152,)"
    R"("warpSize":32,"l2CacheSize":41943040,"regsPerBlock":65536,"maxThreadsPerSM":2048,)"
    R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,)"
    R"("pciDeviceId":1,"isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":1410000,)"
    R"("memClockRateKHz":1593000})";
const char* const kH200 =
    R"({"deviceName":"NVIDIA H200","cudaDeviceId":0,"deviceVer":900,"multiProcessorCount":132,)"
    R"("driverVer":13000,"maxSharedMemoryPerBlockOptin":232448,"totalGlobalMem":150000000000,)"
    R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)"
    R"("maxThreadsPerBlock":1024,"maxSharedMemoryPerBlock":49152,"warpSize":32,)"
    R"("l2CacheSize":62914560,"regsPerBlock":65536,"maxThreadsPerSM":2048,)"
    R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,)"
    R"("pciDeviceId":1,"isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":1980000,)"
    R"("memClockRateKHz":3201000})";

// Returns the function of this name in the real library, which is loaded at run time because this
// library defines the same names.
template <class Result, class... Arguments>
auto real(const char* name, Result (*)(Arguments...)) {
  static void* const library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? dlsym(library, name) : nullptr;
  if (!found)
    refuse(std::string(name) + " of the real cuDNN: " + dlerror());
  return [function = reinterpret_cast<Result (*)(Arguments...)>(found)](Arguments... arguments) {
    const Untrapped untrapped;
    return function(arguments...);
  };
}
#define REAL(name) real(#name, &name)

// The attributes that were set on a descriptor: by attribute name, the bytes of plain values, and
// the records of descriptors.
struct Record {
  cudnnBackendDescriptorType_t type;
  bool isFinal = false;
  std::map<int, std::vector<char>> values = {};
  std::map<int, std::vector<std::shared_ptr<Record>>> parts = {};
  std::int64_t engine = -1; // global index of the engine, for a plan

  template <class T>
  std::vector<T> list(int name) const {
    const auto found = values.find(name);
    if (found == values.end())
      return {};
    std::vector<T> result(found->second.size() / sizeof(T));
    std::memcpy(result.data(), found->second.data(), found->second.size());
    return result;
  }
  template <class T>
  T value(int name) const {
    return list<T>(name).at(0);
  }
  const Record& part(int name) const { return *parts.at(name).at(0); }
};
using RecordPtr = std::shared_ptr<Record>;

// Protects records(). Recursive, because the real library can call functions of this file.
std::recursive_mutex mutex;

std::map<cudnnBackendDescriptor_t, RecordPtr>& records() {
  static auto* all = new std::map<cudnnBackendDescriptor_t, RecordPtr>;
  return *all;
}

// Null for descriptors that the real library has created itself.
RecordPtr recordOf(cudnnBackendDescriptor_t descriptor) {
  const std::scoped_lock lock(mutex);
  const auto found = records().find(descriptor);
  return found == records().end() ? nullptr : found->second;
}

// The JSON of the device that TENON_STANDIN_MODEL selects; a model with a '/' is the path of a
// file.
std::string description() {
  const std::string model = modelOfDevice();
  if (model.find('/') == std::string::npos)
    return model == "A100" ? kA100 : kH200;
  std::ifstream file(model);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The descriptor of the device for the real library.
cudnnBackendDescriptor_t described() {
  static const cudnnBackendDescriptor_t device = [] {
    const std::string text = description();
    cudnnBackendDescriptor_t made = nullptr;
    if (REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &made) !=
            CUDNN_STATUS_SUCCESS ||
        REAL(cudnnBackendSetAttribute)(made, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                       CUDNN_TYPE_CHAR, std::int64_t(text.size()),
                                       text.c_str()) != CUDNN_STATUS_SUCCESS ||
        REAL(cudnnBackendFinalize)(made) != CUDNN_STATUS_SUCCESS)
      refuse("the real cuDNN does not take the description of the device");
    return made;
  }();
  return device;
}

// Sets the described device on a descriptor, in place of a handle.
cudnnStatus_t setDescribed(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name) {
  const cudnnBackendDescriptor_t device = described();
  return REAL(cudnnBackendSetAttribute)(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                        &device);
}

// The text of the latest failure of the stand-in itself; "" after it was read by
// cudnnGetLastErrorString().
thread_local std::string ownFailure;

cudnnStatus_t fail(cudnnStatus_t status, const char* text) {
  ownFailure = std::string("stand-in: ") + text;
  return status;
}

std::size_t sizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_HANDLE:
    return 8;
  case CUDNN_TYPE_CHAR:
  case CUDNN_TYPE_BOOLEAN:
    return 1;
  default: // enumerations, int and float
    return 4;
  }
}

// ---------------------------------------------------------------- convolutions

// A bfloat16: the upper 16 bits of a float.
struct BFloat16 {
  std::uint16_t bits;
  BFloat16() = default;
  // Rounds to nearest, ties to even.
  explicit BFloat16(double x) {
    constexpr int kBits = 8; // significant bits
    int exponent = 0;
    const double part = std::frexp(x, &exponent);
    const auto value = float(std::ldexp(std::nearbyint(std::ldexp(part, kBits)), exponent - kBits));
    std::uint32_t whole = 0;
    std::memcpy(&whole, &value, sizeof whole);
    bits = std::uint16_t(whole >> 16);
  }
  explicit operator double() const {
    const std::uint32_t whole = std::uint32_t(bits) << 16;
    float value = 0;
    std::memcpy(&value, &whole, sizeof value);
    return value;
  }
};

std::size_t sizeOf(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
}

using Numbers = std::vector<std::int64_t>;
using Space = std::array<std::int64_t, 3>;

// Returns the numbers from index `first` on as three, filled with `unit` in front: (8, 5) becomes
// (1, 8, 5). Convolutions of one and two dimensions are computed like those of three.
Space threeOf(const Numbers& numbers, std::size_t first, std::int64_t unit) {
  Space space{unit, unit, unit};
  for (std::size_t d = first; d < numbers.size(); ++d)
    space[3 - (numbers.size() - d)] = numbers[d];
  return space;
}

// The shape of a tensor [extent[0], extent[1], space...] and its strides in elements. The first two
// dimensions are batch and channel, or for weights the channels of output and input.
struct Array {
  std::array<std::int64_t, 2> extent, stride;
  Space space, step;

  explicit Array(const Record& tensor) {
    const auto extents = tensor.list<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    const auto strides = tensor.list<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
    extent = {extents.at(0), extents.at(1)};
    stride = {strides.at(0), strides.at(1)};
    space = threeOf(extents, 2, 1);
    step = threeOf(strides, 2, 0);
  }
  // Offset of an element in memory.
  std::int64_t at(std::int64_t first, std::int64_t second, const Space& p) const {
    return first * stride[0] + second * stride[1] + p[0] * step[0] + p[1] * step[1] +
           p[2] * step[2];
  }
  // Index of an element in row-major order.
  std::int64_t number(std::int64_t first, std::int64_t second, const Space& p) const {
    return (((first * extent[1] + second) * space[0] + p[0]) * space[1] + p[1]) * space[2] + p[2];
  }
  // Number of elements from the first one in memory to the last.
  std::int64_t span() const {
    std::int64_t last = (extent[0] - 1) * stride[0] + (extent[1] - 1) * stride[1];
    for (int d = 0; d < 3; ++d)
      last += (space[d] - 1) * step[d];
    return last + 1;
  }
  std::int64_t elements() const { return extent[0] * extent[1] * space[0] * space[1] * space[2]; }
};

// Calls visit(p) for the positions of a box.
template <class Visit>
void forEach(const Space& extent, Visit visit) {
  Space p;
  for (p[0] = 0; p[0] < extent[0]; ++p[0])
    for (p[1] = 0; p[1] < extent[1]; ++p[1])
      for (p[2] = 0; p[2] < extent[2]; ++p[2])
        visit(p);
}

// The numbers of the attributes of a convolution in one direction, which cuDNN numbers differently
// for each direction.
struct ConvolutionAttributes {
  int alpha, beta, convolution, x, w, y;
};

// Returns null for an operation that is not a convolution.
const ConvolutionAttributes* namesOf(cudnnBackendDescriptorType_t type) {
#define NAMES(kind, x, w, y)                                                                       \
  {                                                                                                \
    CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_ALPHA,                                               \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_BETA,                                            \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_CONV_DESC,                                       \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_##x,                                             \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_##w,                                             \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_##y                                              \
  }
  static const ConvolutionAttributes forward = NAMES(FORWARD, X, W, Y),
                                     data = NAMES(BWD_DATA, DX, W, DY),
                                     weights = NAMES(BWD_FILTER, X, DW, DY);
#undef NAMES
  switch (type) {
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    return &forward;
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    return &data;
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    return &weights;
  default:
    return nullptr;
  }
}

// A run of `count` products of a convolution, by one tap (an element of the kernel): output o + j
// reads input i + j * step, for j = 0 ... count-1 along the last dimension. `input` and `output`
// are the positions for j = 0.
struct ReadRow {
  std::int64_t batch, outChannel, channelOfGroup, inChannel;
  Space input, tap, output;
  std::int64_t count, step;
};

// Calls visit(row) for all products of a convolution; products with padding are omitted.
template <class Visit>
void forEachRow(const Record& convolution, const Array& x, const Array& w, const Array& y,
                Visit visit) {
  const auto numbers = [&](int name, std::int64_t unit) {
    return threeOf(convolution.list<std::int64_t>(name), 0, unit);
  };
  const Space low = numbers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0),
              step = numbers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1),
              dilation = numbers(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1);
  const auto isRead = [&](int d, std::int64_t i) { return i >= 0 && i < x.space[d]; };
  const std::int64_t inOfGroup = w.extent[1];
  const std::int64_t outOfGroup = w.extent[0] / (x.extent[1] / inOfGroup);
  const Space rows{y.space[0], y.space[1], 1};
  for (std::int64_t n = 0; n < y.extent[0]; ++n)
    for (std::int64_t k = 0; k < y.extent[1]; ++k)
      for (std::int64_t c = 0; c < inOfGroup; ++c)
        forEach(w.space, [&](const Space& t) {
          forEach(rows, [&](const Space& row) {
            Space o = row, i;
            const auto setInput = [&] { // the input that output o reads by tap t
              for (int d = 0; d < 3; ++d)
                i[d] = o[d] * step[d] - low[d] + t[d] * dilation[d];
            };
            for (setInput(); o[2] < y.space[2] && i[2] < 0; ++o[2], setInput())
              ;
            if (!isRead(0, i[0]) || !isRead(1, i[1]) || !isRead(2, i[2]))
              return;
            const std::int64_t count =
                std::min(y.space[2] - o[2], (x.space[2] - 1 - i[2]) / step[2] + 1);
            visit(ReadRow{n, k, c, k / outOfGroup * inOfGroup + c, i, t, o, count, step[2]});
          });
        });
}

// Computes one convolution. `sum` is the operation that adds a bias to the result, `rectifier` the
// operation after it; null if there is none. `arrays` has the address of each tensor by its unique
// id. Products are added in float64.
template <class T>
void convolve(const Record& op, const ConvolutionAttributes& names, const Record* sum,
              const Record* rectifier, const std::map<std::int64_t, void*>& arrays) {
  const auto elementsOf = [&](const Record& tensor) {
    return static_cast<T*>(arrays.at(tensor.value<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)));
  };
  const bool isForward = op.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  const bool isData = op.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const Record* const last = rectifier ? rectifier : sum;
  const Record& result = last ? last->part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC) : op.part(names.y);
  const Array x(op.part(names.x)), w(op.part(names.w)), y(result);
  T *const xs = elementsOf(op.part(names.x)), *const ws = elementsOf(op.part(names.w)),
           *const ys = elementsOf(result);
  const Record* const added = sum ? &sum->part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC) : nullptr;
  const Array& target = isForward ? y : isData ? x : w;
  std::vector<double> sums(std::size_t(target.elements()));
  forEachRow(op.part(names.convolution), x, w, y, [&](const ReadRow& row) {
    const T* const in = xs + x.at(row.batch, row.inChannel, row.input);
    const T* const out = ys + y.at(row.batch, row.outChannel, row.output);
    const double weight = double(ws[w.at(row.outChannel, row.channelOfGroup, row.tap)]);
    const std::int64_t stepIn = row.step * x.step[2], stepOut = y.step[2];
    double* const rowSum =
        sums.data() + (isForward ? y.number(row.batch, row.outChannel, row.output)
                       : isData  ? x.number(row.batch, row.inChannel, row.input)
                                 : w.number(row.outChannel, row.channelOfGroup, row.tap));
    for (std::int64_t j = 0; j < row.count; ++j)
      if (isForward)
        rowSum[j] += double(in[j * stepIn]) * weight;
      else if (isData)
        rowSum[j * row.step] += weight * double(out[j * stepOut]);
      else
        *rowSum += double(in[j * stepIn]) * double(out[j * stepOut]);
  });
  const double alpha = op.value<double>(names.alpha), beta = op.value<double>(names.beta);
  T* const values = isForward ? ys : isData ? xs : ws;
  for (std::int64_t a = 0; a < target.extent[0]; ++a)
    for (std::int64_t b = 0; b < target.extent[1]; ++b)
      forEach(target.space, [&](const Space& p) {
        T& value = values[target.at(a, b, p)];
        const double product = alpha * sums[target.number(a, b, p)];
        const double bias = added ? double(elementsOf(*added)[Array(*added).at(0, b, {})]) : 0;
        const double whole = beta == 0 ? product + bias : product + beta * double(value);
        value = T(rectifier && whole < 0 ? 0 : whole);
      });
}

// ---------------------------------------------------------------- plans

// One execution of a plan: its convolution, the operations that add a bias and rectify (or null),
// and the arrays by the tensors' unique ids.
struct Execution {
  RecordPtr operation, sum, rectifier;
  const ConvolutionAttributes* names;
  std::map<std::int64_t, void*> arrays;
  void* workspace;
  std::int64_t workspaceBytes;

  void run() const {
    if (workspaceBytes > 0)
      std::memset(workspace, 0xff, std::size_t(workspaceBytes));
    switch (typeOf()) {
    case CUDNN_DATA_DOUBLE:
      return convolve<double>(*operation, *names, sum.get(), rectifier.get(), arrays);
    case CUDNN_DATA_BFLOAT16:
      return convolve<BFloat16>(*operation, *names, sum.get(), rectifier.get(), arrays);
    default:
      return convolve<float>(*operation, *names, sum.get(), rectifier.get(), arrays);
    }
  }
  // The descriptions of all arrays.
  std::vector<const Record*> tensors() const {
    std::vector<const Record*> all{&operation->part(names->x), &operation->part(names->w)};
    if (sum)
      all.push_back(&sum->part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
    const Record* const last = rectifier ? rectifier.get() : sum.get();
    all.push_back(last ? &last->part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)
                       : &operation->part(names->y));
    return all;
  }
  // The suffix of the name by which tests set the time of such a plan (costs.hpp).
  const char* costSuffix() const {
    const auto steps = operation->part(names->x).list<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
    return typeOf() == CUDNN_DATA_BFLOAT16 ? " in bfloat16"
           : steps.at(1) == 1              ? " with channels last"
           : rectifier                     ? " with a bias and a rectifier"
           : sum                           ? " with a bias"
                                           : "";
  }
  cudnnDataType_t typeOf() const {
    return operation->part(names->x).value<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  }
};

// Whether a pointwise operation of this mode has the tensor `between` as its input, which is
// virtual: it exists inside the plan only.
bool worksOn(const Record& between, const Record& operation, cudnnPointwiseMode_t mode) {
  const auto numberOf = [](const Record& tensor) {
    return tensor.value<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  };
  return operation.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR &&
         operation.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
                 .value<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE) == mode &&
         between.value<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0 &&
         numberOf(between) == numberOf(operation.part(CUDNN_ATTR_OPERATION_POINTWISE_XDESC));
}

// Whether `sum` adds one number per channel to the result of a forward convolution.
bool addsBias(const Record& convolution, const Record& sum) {
  if (convolution.type != CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
    return false;
  const Record& between = convolution.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  if (!worksOn(between, sum, CUDNN_POINTWISE_ADD))
    return false;
  const Array bias(sum.part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
  return bias.elements() == Array(between).extent[1] && bias.extent[1] == bias.elements();
}

// Whether `rectifier` is max(x, 0) of the result of `sum`, with NaN for NaN.
bool rectifies(const Record& sum, const Record& rectifier) {
  return worksOn(sum.part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC), rectifier,
                 CUDNN_POINTWISE_RELU_FWD) &&
         rectifier.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
                 .value<cudnnNanPropagation_t>(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION) ==
             CUDNN_PROPAGATE_NAN;
}

// Returns the three operations of a plan: a convolution, the sum with a bias, and a rectifier; the
// last two can be null. Ends the program for other plans.
std::vector<RecordPtr> operationsOf(const Record& plan) {
  const Record& graph = plan.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
                            .part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  std::vector<RecordPtr> operations = graph.parts.at(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  operations.resize(std::max<std::size_t>(operations.size(), 3));
  if (operations.size() > 3 || !namesOf(operations[0]->type) ||
      (operations[1] && !addsBias(*operations[0], *operations[1])) ||
      (operations[2] && !rectifies(*operations[1], *operations[2])))
    refuse("a plan of cuDNN that is not one convolution, a bias and a rectifier at most");
  return operations;
}

// Returns the global index of a configuration's engine.
std::int64_t engineOf(cudnnBackendDescriptor_t configuration) {
  cudnnBackendDescriptor_t engine = nullptr;
  REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine);
  std::int64_t count = 0, number = -1;
  REAL(cudnnBackendGetAttribute)
  (configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine);
  REAL(cudnnBackendGetAttribute)
  (engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count, &number);
  REAL(cudnnBackendDestroyDescriptor)(engine);
  return number;
}

std::int64_t workspaceOf(cudnnBackendDescriptor_t plan) {
  std::int64_t count = 0, bytes = 0;
  REAL(cudnnBackendGetAttribute)
  (plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes);
  return bytes;
}

// Checks the arrays like the real library, and ends the program if they are not in device memory.
cudnnStatus_t checkArrays(const Execution& e) {
  const DeviceMemory& memory = DeviceMemory::get();
  const auto bytes = std::size_t(e.workspaceBytes);
  if (bytes > 0 && !e.workspace)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "the plan needs a workspace");
  if (bytes > 0)
    memory.checkRange(e.workspace, bytes, "the workspace of cuDNN");
  for (const Record* described : e.tensors()) {
    const Record& tensor = *described;
    const auto array = e.arrays.find(tensor.value<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID));
    if (array == e.arrays.end() || !array->second)
      return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "an array of the plan is missing");
    const auto aligned = tensor.value<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
    if (reinterpret_cast<std::uintptr_t>(array->second) % std::uintptr_t(aligned) != 0)
      return fail(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                  "an array is not aligned as described");
    const auto type = tensor.value<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
    if (type != e.typeOf() ||
        (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_DOUBLE && type != CUDNN_DATA_BFLOAT16))
      refuse("a convolution of cuDNN whose arrays are not all float, double or bfloat16");
    memory.checkRange(array->second, std::size_t(Array(tensor).span()) * sizeOf(type),
                      "an array of cuDNN");
  }
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

} // namespace tenon::standin

using namespace tenon::standin;

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (isToFail(__func__))
    return fail(CUDNN_STATUS_INTERNAL_ERROR, "a handle that is to fail");
  const Call call;
  if (!hasRoomForLibraries())
    return fail(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, "no memory for a handle");
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

size_t cudnnGetVersion() {
  return REAL(cudnnGetVersion)();
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return REAL(cudnnGetErrorString)(status);
}

void cudnnGetLastErrorString(char* text, size_t size) {
  if (ownFailure.empty())
    return REAL(cudnnGetLastErrorString)(text, size);
  std::strncpy(text, ownFailure.c_str(), size);
  text[size - 1] = '\0';
  ownFailure.clear();
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  const cudnnStatus_t status = REAL(cudnnBackendCreateDescriptor)(type, descriptor);
  if (status == CUDNN_STATUS_SUCCESS) {
    const std::scoped_lock lock(mutex);
    records()[*descriptor] = std::make_shared<Record>(Record{type});
  }
  return status;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  {
    const std::scoped_lock lock(mutex);
    records().erase(descriptor);
  }
  return REAL(cudnnBackendDestroyDescriptor)(descriptor);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  const RecordPtr record = recordOf(descriptor);
  if (record && record->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR && isToFail("graph"))
    return fail(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "a graph without memory");
  if (record && record->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR && isToFail("plan"))
    return fail(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, "a plan without memory");
  if (record && record->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR && isToFail("heuristics"))
    return fail(CUDNN_STATUS_INTERNAL_ERROR, "heuristics that are to fail");
  if (record && record->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
    const auto graph = record->parts.find(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    if (graph == record->parts.end() ||
        graph->second.at(0)->values.count(CUDNN_ATTR_OPERATIONGRAPH_HANDLE) == 0)
      return fail(CUDNN_STATUS_BAD_PARAM, "heuristics of a graph without a handle");
    if (const auto set = setDescribed(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
        set != CUDNN_STATUS_SUCCESS)
      return set;
  }
  const cudnnStatus_t status = REAL(cudnnBackendFinalize)(descriptor);
  if (record)
    record->isFinal = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  if (const RecordPtr record = recordOf(descriptor)) {
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      auto& parts = record->parts[name];
      parts.clear();
      for (std::int64_t i = 0; i < count; ++i)
        parts.push_back(recordOf(static_cast<const cudnnBackendDescriptor_t*>(values)[i]));
      if (name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
        record->engine = engineOf(*static_cast<const cudnnBackendDescriptor_t*>(values));
    } else {
      const char* const bytes = static_cast<const char*>(values);
      record->values[name].assign(bytes, bytes + std::size_t(count) * sizeOf(type));
    }
  }
  if (name == CUDNN_ATTR_DEVICEPROP_DEVICE_ID)
    return REAL(cudnnBackendSetAttribute)(descriptor, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                          CUDNN_TYPE_CHAR, std::int64_t(description().size()),
                                          description().c_str());
  // A graph gets no device: heuristics and plans get the description.
  if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE)
    return CUDNN_STATUS_SUCCESS;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE)
    return setDescribed(descriptor, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
  return REAL(cudnnBackendSetAttribute)(descriptor, name, type, count, values);
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t requested,
                                       int64_t* count, void* values) {
  const cudnnStatus_t status =
      REAL(cudnnBackendGetAttribute)(descriptor, name, type, requested, count, values);
  const RecordPtr record = recordOf(descriptor);
  if (status != CUDNN_STATUS_SUCCESS || !values || !record || name != CUDNN_ATTR_ENGINEHEUR_RESULTS)
    return status;
  // Records the graph of each configuration that the heuristics return, for operationsOf().
  for (std::int64_t i = 0; i < *count; ++i)
    recordOf(static_cast<cudnnBackendDescriptor_t*>(values)[i])
        ->parts[CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH] =
        record->parts[CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH];
  return status;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  const Call call;
  const RecordPtr planned = recordOf(plan), given = recordOf(pack);
  if (!planned || !given || !planned->isFinal || !given->isFinal)
    return fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "plan or arrays are not finalized");
  // The real library executes a plan only if it was made with a handle.
  if (planned->values.count(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) == 0)
    return fail(CUDNN_STATUS_BAD_PARAM, "the plan was made without a handle");
  const auto operations = operationsOf(*planned);
  Execution execution{.operation = operations[0],
                      .sum = operations[1],
                      .rectifier = operations[2],
                      .names = namesOf(operations[0]->type),
                      .arrays = {},
                      .workspace = nullptr,
                      .workspaceBytes = workspaceOf(plan)};
  const auto numbers = given->list<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = given->list<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    execution.arrays[numbers[i]] = pointers.at(i);
  for (void* workspace : given->list<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE))
    execution.workspace = workspace;
  if (const cudnnStatus_t status = checkArrays(execution); status != CUDNN_STATUS_SUCCESS)
    return status;
  CUstream_st* const stream = streamHere(handle->stream, "cudnnBackendExecute");
  if (!stream || isToFail(__func__))
    return fail(CUDNN_STATUS_EXECUTION_FAILED, "the plan cannot be executed");
  const double seconds =
      costOf(("engine " + std::to_string(planned->engine) + execution.costSuffix()).c_str());
  ++calls().libraries;
  enqueue(*stream, [execution, stream, seconds] {
    execution.run();
    stream->seconds += seconds;
  });
  return CUDNN_STATUS_SUCCESS;
}

} // extern "C"
