// SPDX-License-Identifier: BSD-2-Clause
// Methods of Mapper for spherical harmonic transforms and convolutions (canonical/spherical.cpp).
// Settings are listed only where they differ from a layer's defaults; the weights of equidistant
// rows are plain ones, since tables with others are not recognised. Class Mapper is in mapper.hpp.
#include "import/lowering/mapper.hpp"

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

} // namespace tenon
