// SPDX-License-Identifier: BSD-2-Clause
// Runs the test that a model's file holds. float64 finds what is wrong (a weight, an order, a boundary,
// a halo) by orders of magnitude, the run's own precision whether its kernels are right. The results
// are brought to all ranks and compared there, so that all come to the same verdict.
#include "layer/networks/model_proof.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/joint.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"
#include "dtensor/host_view.hpp"
#include "layer/networks/model.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/text/text.hpp"
#include "weights/weights_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// All ranks hold all of a test's arrays.
constexpr Index kMostTestBytes = Index(64) << 20;

std::vector<double> numbersOf(const ByteSource& file, const StoredTensor& tensor) {
  if (tensor.bytes > kMostTestBytes)
    file.fail(tensor.name, fmt::format("its {} bytes are too many for a test; at most {} are read",
                                       tensor.bytes, kMostTestBytes));
  std::vector<WeightsFile::Part> parts(tensor.shape.size());
  Index stride = 1;
  for (std::size_t d = parts.size(); d-- > 0; stride *= tensor.shape[d])
    parts[d] = {0, tensor.shape[d], stride};
  std::vector<double> all(static_cast<std::size_t>(stride));
  readBlock(file, tensor, parts, all.data());
  return all;
}

Layout everywhere(const Layout& like) {
  return Layout({.shape = like.shape(),
                 .grid = like.gridPtr(),
                 .properties = Properties(like.grid().axes(), Property::broadcast())});
}

// The test's numbers in a layout, and back.
Ref<DTensor> spread(const Layer& layer, const Layout& layout, const std::vector<double>& all) {
  const Layout copies = everywhere(layout);
  const Ref<DTensor> whole = makeRef<DTensor>(layer.comm(), copies, layer.dataType());
  if (whole->localElements() > 0)
    visitFloating(layer.dataType(), [&]<class T>(T) {
      std::transform(all.begin(), all.end(), whole->mutableData<T>(),
                     [](double value) { return static_cast<T>(value); });
    });
  const Ref<DTensor> host = makeRef<DTensor>(layer.comm(), layout, layer.dataType());
  makeConversion(layer.comm(), copies, layout, layer.dataType())->apply(*whole, *host);
  const Ref<DTensor> made = makeRef<DTensor>(layer.comm(), layout, layer.dataType(), layer.space());
  copyLocal(*host, *made);
  return made;
}

std::vector<double> collected(const Layer& layer, const DTensor& x) {
  const Ref<DTensor> host = makeRef<DTensor>(layer.comm(), x.layout(), x.dataType());
  copyLocal(x, *host);
  const Layout copies = everywhere(x.layout());
  const Ref<DTensor> whole = makeRef<DTensor>(layer.comm(), copies, x.dataType());
  makeConversion(layer.comm(), x.layout(), copies, x.dataType())->apply(*host, *whole);
  return visitFloating(x.dataType(), [&]<class T>(T) {
    const DTensor& found = *whole;
    return std::vector<double>(found.data<T>(), found.data<T>() + whole->localElements());
  });
}

// The largest difference, as a part of the largest number, and where it is; "" if it is allowed.
std::string differenceOf(const std::string& what, const Shape& shape,
                         const std::vector<double>& found, const std::vector<double>& wanted,
                         double tolerance) {
  if (found.empty()) // a rank outside the grid
    return "";
  std::size_t worst = 0;
  double most = -1, largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::abs(found[i] - wanted[i]);
    largest = std::max(largest, std::abs(wanted[i]));
    if (!(difference <= most)) { // also where it is no number
      most = std::isnan(difference) ? HUGE_VAL : difference;
      worst = i;
    }
  }
  const double relative = most <= 0 ? 0 : most / std::max(largest, 1e-300);
  if (relative <= tolerance)
    return "";
  std::vector<Index> index(shape.size());
  auto rest = static_cast<Index>(worst);
  for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
    index[d] = rest % shape[d];
  return fmt::format("{} differs by {:.1e}, allowed {:.1e}, at [{}]: {:.9g} for {:.9g}", what,
                     relative, tolerance, fmt::join(index, ","), found[worst], wanted[worst]);
}

// The network once more, sharing nothing with the layer but the file.
Ref<Layer> secondInstance(Layer& layer, bool isExact) {
  const Ref<Layer> made = makeModel(layer.comm());
  made->set("path", modelOf(layer)->value<std::string>("path"));
  made->set("model_test", std::string("off"));
  modelOf(*made)->setFile(modelOf(layer)->sharedFile());
  if (isExact) {
    made->setDataType(TENON_FLOAT64);
    return made;
  }
  made->setDataType(layer.dataType());
  made->setSpace(layer.space());
  made->set("backend", layer.declaration().value<std::string>("backend"));
  return made;
}

void runTest(Layer& layer, const Layouts& inputs, bool isExact) {
  const ModelFile& model = *modelOf(layer)->file();
  const ModelTest& test = *model.program().test;
  const Ref<Layer> second = secondInstance(layer, isExact);
  Layouts layouts;
  collectively(*layer.comm(), [&] {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Layout& run = inputs[i];
      if (test.inputs[i].shape.size() != run.shape().size())
        throw Error(TENON_ERR_FORMAT, fmt::format("{}: the test's input {} has another number of "
                                                  "dimensions than the model's",
                                                  model.path(), i));
      layouts.push_back(Layout(
          {.shape = test.inputs[i].shape, .grid = run.gridPtr(), .properties = run.properties()}));
    }
    return true;
  });
  second->setUp(layouts);
  const Layouts outputs = second->outputLayouts();
  struct Arrays {
    std::vector<Ref<DTensor>> x, dx, y, dy;
    std::vector<std::vector<double>> inputs, gradients, outputs, cotangents;
  } arrays;
  collectively(*layer.comm(), [&] {
    const std::unique_ptr<ByteSource> file = model.open();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      arrays.inputs.push_back(numbersOf(*file, test.inputs[i]));
      arrays.gradients.push_back(test.gradients[i] ? numbersOf(*file, *test.gradients[i])
                                                   : std::vector<double>());
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      arrays.outputs.push_back(numbersOf(*file, test.outputs[i]));
      arrays.cotangents.push_back(numbersOf(*file, test.cotangents[i]));
      if (elements(outputs[i].shape()) != elements(test.outputs[i].shape))
        throw Error(TENON_ERR_FORMAT,
                    fmt::format("{}: the test's output has shape [{}], but the network gives [{}]",
                                model.path(), fmt::join(test.outputs[i].shape, ","),
                                fmt::join(outputs[i].shape(), ",")));
    }
    return true;
  });
  std::vector<const DTensor*> x, dy;
  std::vector<DTensor*> dx, y;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    arrays.x.push_back(spread(*second, layouts[i], arrays.inputs[i]));
    arrays.dx.push_back(
        makeRef<DTensor>(layer.comm(), layouts[i].dual(), second->dataType(), second->space()));
    x.push_back(arrays.x.back().get());
    dx.push_back(arrays.gradients[i].empty() ? nullptr : arrays.dx.back().get());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    arrays.y.push_back(
        makeRef<DTensor>(layer.comm(), outputs[i], second->dataType(), second->space()));
    arrays.dy.push_back(spread(*second, outputs[i].dual(), arrays.cotangents[i]));
    y.push_back(arrays.y.back().get());
    dy.push_back(arrays.dy.back().get());
  }
  second->apply(Inputs(x.data(), x.size()), Outputs(y.data(), y.size()));
  second->applyAdjoint(OutputCotangents(dy.data(), dy.size()),
                       InputCotangents(dx.data(), dx.size()));
  const double tolerance =
      second->dataType() == TENON_FLOAT64 ? test.tolerance64 : test.tolerance32;
  std::vector<std::string> differences;
  const std::vector<std::string> names = second->outputNames();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    differences.push_back(differenceOf(names[i], outputs[i].shape(), collected(*second, *y[i]),
                                       arrays.outputs[i], tolerance));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (dx[i])
      differences.push_back(differenceOf("dL/d" + model.program().inputs[i].name,
                                         layouts[i].shape(), collected(*second, *dx[i]),
                                         arrays.gradients[i], tolerance));
  std::erase(differences, "");
  collectively(*layer.comm(), [&] {
    if (!differences.empty())
      throw Error(
          TENON_ERR_TEST,
          fmt::format("{} does not give its own results on this run ({}, inputs {}): {}. Run "
                      "it on one process: if that fails too, the file was changed or does "
                      "not say what the model computes; otherwise report it as a fault of "
                      "Tenon. -tenon_model_test off goes on without the test",
                      model.path(), dataTypeName(second->dataType()), layouts.front().describe(),
                      joined(differences, "; ")));
    return true;
  });
}

} // namespace

bool proveModel(Layer& layer, const Layouts& inputs, const std::string& how) {
  if (!modelOf(layer)->file()->program().test)
    return false;
  // It runs within the set-up of the layer, whose communicators are made at its end.
  const ApartFromJoint apart(*layer.comm());
  // The weights once more in float64: not where they are most of a node's memory.
  constexpr Index kMostBytes = Index(256) << 20;
  Index elementsOfWeights = 0;
  for (const Ref<Parameter>& parameter : layer.parameters())
    elementsOfWeights += elements(parameter->storage().shape());
  const bool isSmall = elementsOfWeights <= kMostBytes / Index(sizeof(double));
  if (how == "both" && isSmall)
    runTest(layer, inputs, true);
  // In float64 on the host the run is what was just tested.
  const bool isSame = layer.dataType() == TENON_FLOAT64 && layer.space() == Space::Host &&
                      layer.declaration().value<std::string>("backend") == "auto";
  if (how != "both" || !isSmall || !isSame)
    runTest(layer, inputs, false);
  return true;
}

} // namespace tenon
