// SPDX-License-Identifier: BSD-2-Clause
// Reads the tensors of a network in MOM6's layout (ann.hpp) as a ModelProgram, whose operations
// have the names of PyTorch's, as in a .pt2 file: sub and div, linear and relu in turns, mul and
// add. The constants of the normalisation are buffers, which training leaves as they are. For
// layer_sizes 3, 5, 2 and all optional tensors but the means:
//
//   normalized = aten.div(x, input_norms)      linear0 = aten.linear(normalized, A0, b0)
//   relu0 = aten.relu(linear0)                 linear1 = aten.linear(relu0, A1, b1)
//   y = aten.mul(linear1, output_norms)
//
// x_test and y_test become the file's test, with the tolerance that MOM6 has for them.
#include "import/ann/ann.hpp"

#include "sys/errors/error.hpp"
#include "weights/safetensors.hpp"
#include "weights/weights_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

constexpr Index kMaxLayers = 1000, kMaxNeurons = Index(1) << 24;
// Of the largest number of y_test. It is the tolerance of MOM6, which computes in float64; y_test
// is usually from PyTorch in float32.
constexpr double kTolerance64 = 1e-5, kTolerance32 = 1e-4;

class AnnReader {
public:
  explicit AnnReader(const ByteSource& source)
      : source_(source), tensors_(readSafetensors(source).tensors) {
    program_.format = ModelProgram::Format::Ann;
  }

  ModelProgram read() {
    if (!find("num_layers"))
      source_.fail("",
                   "it has no tensor num_layers; networks in NetCDF files are read in the layout "
                   "of MOM6 (doc/import.md), others from torch.export.save() and ONNX");
    readSizes();
    const auto function = std::ranges::find_if(
        tensors_, [](const StoredTensor& tensor) { return tensor.name.starts_with("activation"); });
    if (function != tensors_.end())
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} '{}' has a tensor {}; in MOM6's layout a relu is between the "
                              "products and no function after the last one",
                              source_.kind(), source_.name(), function->name));
    program_.inputs = {{.name = "x", .shape = {std::nullopt, sizes_.front()}}};
    value_ = "x";
    scale("sub", "input_means", sizes_.front());
    scale("div", "input_norms", sizes_.front());
    for (std::size_t n = 0; n + 1 < sizes_.size(); ++n)
      addProduct(n);
    scale("mul", "output_norms", sizes_.back());
    scale("add", "output_means", sizes_.back());
    program_.outputs = {value_};
    program_.outputNames = {"y"};
    readTest();
    return std::move(program_);
  }

private:
  const StoredTensor* find(const std::string& name) const {
    const auto found = std::ranges::find(tensors_, name, &StoredTensor::name);
    return found == tensors_.end() ? nullptr : &*found;
  }

  // A tensor of these extents. `what` says why it must have them.
  const StoredTensor& needed(const std::string& name, const std::vector<Index>& shape,
                             const std::string& what) const {
    const StoredTensor* tensor = find(name);
    if (!tensor)
      source_.fail(name,
                   fmt::format("it is missing; expected [{}], {}", fmt::join(shape, ","), what));
    if (tensor->shape != shape || !isReal(tensor->type))
      source_.fail(name,
                   fmt::format("it has type {} and shape [{}]; expected real numbers [{}], {}",
                               elementTypeName(tensor->type), fmt::join(tensor->shape, ","),
                               fmt::join(shape, ","), what));
    return *tensor;
  }

  // The numbers of a tensor of one dimension, or of none; each must be a whole number above 0.
  std::vector<Index> counts(const std::string& name, Index count, Index most) const {
    const StoredTensor* tensor = find(name);
    const std::vector<Index> shape = {count};
    if (!tensor || !isReal(tensor->type) ||
        !(tensor->shape == shape || (count == 1 && tensor->shape.empty())))
      source_.fail(name, tensor ? fmt::format("it has shape [{}]; expected [{}]",
                                              fmt::join(tensor->shape, ","), count)
                                : fmt::format("it is missing; expected [{}]", count));
    std::vector<double> numbers(static_cast<std::size_t>(count));
    readBlock(source_, *tensor, std::vector<WeightsFile::Part>(tensor->shape.size(), {0, count, 1}),
              numbers.data());
    std::vector<Index> result;
    for (const double number : numbers) {
      if (!(number >= 1 && number <= static_cast<double>(most)) || number != std::floor(number))
        source_.fail(name, fmt::format("it has the number {}; expected a whole one from 1 to {}",
                                       number, most));
      result.push_back(static_cast<Index>(number));
    }
    return result;
  }

  void readSizes() {
    const Index layers = counts("num_layers", 1, kMaxLayers).front();
    if (layers < 2)
      source_.fail("num_layers", "it is 1; the inputs and the outputs are two layers");
    sizes_ = counts("layer_sizes", layers, kMaxNeurons);
  }

  // Adds a tensor as a constant of the program. Its dimensions are those of the file in the order
  // `axes`.
  void addConstant(const StoredTensor& stored, std::vector<int> axes, ModelTensor::Role role) {
    program_.constants.emplace_back(stored.name, program_.tensors.size());
    program_.tensors.push_back(
        {.name = stored.name, .stored = stored, .axes = std::move(axes), .role = role});
  }

  // Adds an operation of the present value, whose result becomes the present value.
  void add(const std::string& type, const std::string& label,
           std::vector<std::pair<std::string, ModelArgument>> arguments) {
    arguments.insert(arguments.begin(), {"input", ModelArgument::ofValue(value_)});
    program_.operations.push_back({.type = "aten." + type + ".default",
                                   .label = label,
                                   .where = "",
                                   .arguments = std::move(arguments),
                                   .results = {label}});
    value_ = label;
  }

  // One operation of the normalisation, if the file has its numbers.
  void scale(const std::string& type, const std::string& name, Index count) {
    if (!find(name))
      return;
    addConstant(needed(name, {count}, "a number for each neuron of layer_sizes"), {0},
                ModelTensor::Role::Buffer);
    add(type, type + "_" + name, {{"other", ModelArgument::ofValue(name)}});
  }

  void addProduct(std::size_t n) {
    const std::string a = fmt::format("A{}", n), b = fmt::format("b{}", n);
    const Index before = sizes_[n], after = sizes_[n + 1];
    addConstant(needed(a, {before, after},
                       "the neurons before it and after it; PyTorch's weight is "
                       "transposed in this layout"),
                {1, 0}, ModelTensor::Role::Parameter);
    addConstant(needed(b, {after}, "a number for each neuron after it"), {0},
                ModelTensor::Role::Parameter);
    add("linear", fmt::format("linear{}", n),
        {{"weight", ModelArgument::ofValue(a)}, {"bias", ModelArgument::ofValue(b)}});
    if (n + 2 < sizes_.size())
      add("relu", fmt::format("relu{}", n), {});
  }

  // One vector of a test, as a batch of one.
  StoredTensor testVector(const std::string& name, Index count) const {
    StoredTensor tensor = needed(name, {count}, "a number for each neuron");
    tensor.shape = {1, count};
    return tensor;
  }

  void readTest() {
    if (!find("x_test") && !find("y_test"))
      return;
    program_.test = ModelTest{.about = "x_test and y_test, within MOM6's tolerance",
                              .tolerance64 = kTolerance64,
                              .tolerance32 = kTolerance32,
                              .inputs = {testVector("x_test", sizes_.front())},
                              .outputs = {testVector("y_test", sizes_.back())},
                              .cotangents = {},
                              .gradients = {std::nullopt}};
  }

  const ByteSource& source_;
  const std::vector<StoredTensor> tensors_;
  std::vector<Index> sizes_; // neurons of each layer
  std::string value_;        // name of the value after the operations so far
  ModelProgram program_;
};

} // namespace

bool hasTensorsOnly(const ByteSource& source) {
  constexpr Index kLengthBytes = 8;
  if (source.size() <= kLengthBytes)
    return false;
  const std::vector<std::byte> bytes = source.readPart(0, kLengthBytes + 1, "the first bytes");
  return bytes.back() == std::byte('{') &&
         littleEndian(bytes.data(), kLengthBytes) <=
             static_cast<std::uint64_t>(source.size() - kLengthBytes);
}

ModelProgram readAnn(const ByteSource& source) {
  return AnnReader(source).read();
}

} // namespace tenon
