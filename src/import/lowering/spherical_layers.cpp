// SPDX-License-Identifier: BSD-2-Clause
// Methods of Mapper for spherical harmonic transforms and convolutions, and for convolutions with
// filters of compact support (canonical/sphere). Settings are listed only where they differ from a
// layer's defaults; the weights of equidistant rows are plain ones, since tables with others are
// not recognised. Class Mapper is in mapper.hpp.
#include "import/canonical/model_builder.hpp"
#include "import/lowering/mapper.hpp"

#include <fmt/format.h>

namespace tenon {

Mapper::NodeSettings Mapper::sphereSettings(const ModelSphere& sphere, bool isAnalysis) {
  NodeSettings settings = {{"degrees", sphere.degrees}};
  if (sphere.orders != sphere.degrees)
    settings.emplace_back("orders", sphere.orders);
  if (sphere.grid != "gauss")
    settings.emplace_back("grid", sphere.grid);
  if (isAnalysis && sphere.grid != "gauss")
    settings.emplace_back("quadrature", std::string("plain"));
  if (sphere.isSchmidt)
    settings.emplace_back("norm", std::string("schmidt"));
  if (!sphere.hasSign)
    settings.emplace_back("sign", false);
  if (sphere.southFirst)
    settings.emplace_back("first_row", std::string("south"));
  return settings;
}

Mapper::OrderedNode Mapper::makeHarmonics(const ModelValue& v) {
  network_.computesTables = true;
  const bool isAnalysis = v.op == ModelOp::HarmonicTransform;
  NodeSettings settings = sphereSettings(*v.sphere, isAnalysis);
  if (!isAnalysis)
    settings.emplace_back("size", v.sphere->size);
  return emitInPlainOrder(v, isAnalysis ? "sht" : "inversesht", std::move(settings));
}

Mapper::OrderedNode Mapper::makeSphericalConvolution(const ModelValue& v) {
  const int x = nodeInOrder(v.inputs[0]);
  if (x == kNoNode)
    return refused(v);
  if (hasWeightInputs(v))
    return refuse(v, "a spherical convolution whose weights are read elsewhere too",
                  "parameters that this convolution alone reads");
  network_.computesTables = true;
  const ModelSphere& sphere = *v.sphere;
  NodeSettings settings = {{"in_channels", v.inputs[0]->shape[1]}, {"out_channels", v.shape[1]}};
  const NodeSettings shared = sphereSettings(sphere, /*isAnalysis=*/true);
  settings.insert(settings.end(), shared.begin(), shared.end());
  if (sphere.weights != "degree")
    settings.emplace_back("weights", sphere.weights);
  if (v.groups != 1)
    settings.emplace_back("groups", v.groups);
  settings.emplace_back("bias", false);
  if (sphere.outputGrid != sphere.grid)
    settings.emplace_back("output_grid", sphere.outputGrid);
  if (sphere.size != Shape(v.inputs[0]->shape.begin() + 2, v.inputs[0]->shape.end()))
    settings.emplace_back("size", sphere.size);
  return {emit({x}, "sphericalconv", std::move(settings), moduleOf(v.inputs[1]),
               {{"weight", v.inputs[1]->asConstant()}}),
          plainOrder(v.ndim())};
}

// Without weights the layer's are the identity of the basis functions of each channel.
Mapper::OrderedNode Mapper::makeFilter(const ModelValue& v) {
  constexpr double kRoundedTable = 1e-11; // fewer digits than float64 keeps through sums
  const int x = nodeInOrder(v.inputs[0]);
  if (x == kNoNode)
    return refused(v);
  if (hasWeightInputs(v))
    return refuse(v, "a convolution on the sphere whose weights are read elsewhere too",
                  "parameters that this convolution alone reads");
  const ModelFilter& filter = *v.filter;
  network_.computesTables |= filter.difference > kRoundedTable;
  NodeSettings settings = {{"in_channels", v.inputs[0]->shape[1]},
                           {"out_channels", v.shape[1]},
                           {"kernel", filter.kernel},
                           {"cutoff", filter.cutoff}};
  const auto add = [&](const char* name, const auto& value, const auto& otherwise) {
    if (value != otherwise)
      settings.emplace_back(name, value);
  };
  add("basis", filter.basis, "linear");
  add("normalisation", filter.normalisation, "nodal");
  add("grid", filter.grid, "gauss");
  add("output_grid", filter.outputGrid, filter.grid);
  add("size", filter.size, Shape(v.inputs[0]->shape.begin() + 2, v.inputs[0]->shape.end()));
  add("groups", v.groups, Index(1));
  add("bias", v.inputs.size() > 2, true);
  const char* type = filter.isTransposed ? "transposeddisco" : "disco";
  if (v.inputs.size() == 1) {
    const Index k = filter.functions;
    identities_ += double(v.groups) * double(k * k);
    if (identities_ > double(kMaxModelNumbers))
      return refuse(
          v, fmt::format("sums of {} channels with {} filters each, without weights", v.groups, k),
          fmt::format("filters with weights, or channels and filters whose identities "
                      "have at most {} numbers",
                      kMaxModelNumbers));
    std::vector<double> identity(static_cast<std::size_t>(v.groups * k * k), 0);
    for (Index i = 0; i < v.groups * k; ++i)
      identity[static_cast<std::size_t>(i * k + i % k)] = 1;
    const Shape shape = filter.isTransposed ? Shape{v.groups, k, k} : Shape{v.groups * k, 1, k};
    return {emit({x}, type, std::move(settings), "",
                 {{"weight", ModelConstant::ofNumbers(shape, std::move(identity))}}),
            plainOrder(v.ndim())};
  }
  NodeParameters parameters = {{"weight", v.inputs[1]->asConstant()}};
  if (v.inputs.size() > 2)
    parameters.emplace_back("bias", v.inputs[2]->asConstant());
  return {emit({x}, type, std::move(settings), moduleOf(v.inputs[1]), std::move(parameters)),
          plainOrder(v.ndim())};
}

} // namespace tenon
