// SPDX-License-Identifier: BSD-2-Clause
// Calls that refer to layers by name: layer types, network files, models in files of other formats,
// and the children and parameters of a container by path, such as "encoder/conv1/weight". The calls
// are declared in tenon/layer_network.h, layer_types.h and ext/layer.h.
//
// A signature says how a layer's inputs, parameters and outputs are distributed over a grid axis.
// The signatures of a layer depend on its shapes and settings. The call that lists the signatures
// of a type therefore uses an example: random valid settings and shapes for the type. Programs that
// test every type, such as `tenon check`, use examples too: TenonLayerSetExample() gives a layer
// the settings, and TenonLayerGetExampleTensor() returns the shape and range of each input and
// target.
#include "capi/layer/create.hpp"
#include "declaration/core/types.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/network_file.hpp"
#include "layer/networks/path.hpp"
#include "sys/files/part_file.hpp"
#include "sys/text/text.hpp"

#include <tenon/ext/layer.h>
#include <tenon/layer_network.h>
#include <tenon/layer_types.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

using namespace tenon;

namespace {

// Returns the example of this seed: the same on all ranks and at each call.
Example exampleOf(const Layer& layer, TenonInt seed) {
  ExampleDraw draw(static_cast<std::uint64_t>(seed));
  return layer.declaration().example(draw);
}

// The numbers that the target of an example holds.
std::pair<double, double> targetRange(const Example& example) {
  if (example.classes > 0)
    return {0, static_cast<double>(example.classes - 1)};
  return {-1, 1};
}

// Returns the first example of a type whose first input has `ndim` dimensions. If ndim is 0: the
// first one with the fewest dimensions.
std::optional<Example> exampleWith(const Declaration& declaration, int ndim) {
  // Enough for each type to draw every number of dimensions that it accepts.
  constexpr TenonInt kExamples = 200;
  std::optional<Example> first;
  for (TenonInt seed = 0; seed < kExamples; ++seed) {
    ExampleDraw draw(static_cast<std::uint64_t>(seed));
    Example example = declaration.example(draw);
    const std::size_t rank = example.inputs.front().size();
    if (ndim == 0 ? !first || rank < first->inputs.front().size()
                  : !first && rank == static_cast<std::size_t>(ndim))
      first = std::move(example);
  }
  return first;
}

// Returns all signatures of a type for an input of `ndim` dimensions; 0 means any number.
SignatureTable tableOfType(const std::string& type, int ndim) {
  const auto declaration = makeDeclaration(type);
  if (!declaration)
    throw Error(TENON_ERR_TYPE, fmt::format("there is no layer type '{}'; did you mean '{}'?", type,
                                            nearest(type, declarationNames())));
  const std::optional<Example> example = exampleWith(*declaration, ndim);
  if (!example)
    throw Error(TENON_ERR_SHAPE, fmt::format("layers of type '{}' take no input of {}", type,
                                             counted(ndim, "dimension")));
  for (const auto& [name, value] : example->settings)
    declaration->set(name, value);
  return declaration->rows(example->inputs);
}

// Formats a signature as "label: inputs [parameters] -> output", with properties of a grid axis for
// each: S0 (splits dimension 0), B (copies), P (partial sums).
std::string lineOf(const SignatureRow& row) {
  return fmt::format("{}: {}{} -> {}\n", row.label, describe(row.inputs),
                     row.parameters.empty() ? "" : fmt::format(" [{}]", describe(row.parameters)),
                     row.output.describe());
}

} // namespace

TenonErrorCode TenonLayerGetTypes(char types[], TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(joined(declarationNames(), ","), {types, length, needed}, "types");
  });
}

TenonErrorCode TenonLayerGetLabels(TenonLayer layer, int ndim, const TenonInt shape[],
                                   char labels[], TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    const Declaration& declaration = deref(layer, "layer").declaration();
    if (declaration.contains())
      throw Error(TENON_ERR_TYPE,
                  fmt::format("{} is a container, which has no index labels; ask its layers",
                              declaration.title()));
    std::vector<std::string> labelList;
    for (const SignatureRow& row : declaration.rows({listOf(shape, ndim, "shape")}))
      labelList.push_back(row.label);
    copyText(joined(labelList, ","), {labels, length, needed}, "labels");
  });
}

TenonErrorCode TenonLayerGetTypeSignatures(const char* type, int ndim, char signatures[],
                                           TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    std::string lines;
    for (const SignatureRow& row : tableOfType(textOf(type, "type"), ndim))
      lines += lineOf(row);
    copyText(lines, {signatures, length, needed}, "signatures");
  });
}

TenonErrorCode TenonLayerSetExample(TenonLayer layer, TenonInt seed, int* inputs,
                                    TenonInt* classes) noexcept {
  return guard(__func__, [&] {
    Layer& l = deref(layer, "layer");
    const Example example = exampleOf(l, seed);
    required(inputs, "inputs") = static_cast<int>(example.inputs.size());
    required(classes, "classes") = example.classes;
    // specify() stores a failure, which TenonLayerSetUp() then returns on all ranks.
    l.specify("TenonLayerSetExample", [&] {
      l.checkBeforeSetUp("TenonLayerSetExample");
      for (const auto& [name, value] : example.settings)
        l.set(name, value);
    });
  });
}

TenonErrorCode TenonLayerGetExampleTensor(TenonLayer layer, TenonInt seed, int tensor,
                                          TenonInt length, TenonInt shape[], int* ndim, double* low,
                                          double* high) noexcept {
  return guard(__func__, [&] {
    const Example example = exampleOf(deref(layer, "layer"), seed);
    const int inputs = static_cast<int>(example.inputs.size());
    if (tensor < 0 || tensor > inputs)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("tensor is {}, but the example has {}; pass 0 to {}, the last for the "
                      "target",
                      tensor, counted(inputs, "input"), inputs));
    const bool isTarget = tensor == inputs;
    const Shape& extents = isTarget ? example.target : example.inputs[tensor];
    const auto [least, largest] =
        isTarget ? targetRange(example) : std::pair<double, double>(example.low, example.high);
    if (ndim)
      *ndim = static_cast<int>(extents.size());
    if (low)
      *low = least;
    if (high)
      *high = largest;
    copyUpTo(extents, length, shape, "the shape");
  });
}

TenonErrorCode TenonLayerTestModel(TenonLayer layer) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("layer", layer);
    runCollectively(*comm, [&] { testModel(deref(layer, "layer")); });
  });
}

TenonErrorCode TenonLayerCreateFromModel(MPI_Comm comm, const char* path,
                                         TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [&](const CommPtr& communicator) {
    auto model = makeModel(communicator);
    model->set("path", textOf(path, "path"));
    readModel(*model);
    return model;
  });
}

TenonErrorCode TenonLayerCreateFromFile(MPI_Comm comm, const char* nameOrPath,
                                        TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [&](const CommPtr& communicator) {
    return readNetwork(communicator, textOf(nameOrPath, "nameOrPath"));
  });
}

TenonErrorCode TenonLayerSaveNetwork(TenonLayer layer, const char* path) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("layer", layer);
    runCollectively(*comm, [&] {
      // All ranks compose the text, so a network that cannot be written is an error on all of them;
      // rank 0 writes the file.
      const Layer& l = deref(layer, "layer");
      const std::string text = networkText(describeNetwork(l)), target = textOf(path, "path");
      if (comm->rank() != 0)
        return;
      NewFile file(target);
      file.write(text);
      file.commit();
    });
  });
}

TenonErrorCode TenonLayerGetChild(TenonLayer layer, const char* path, TenonLayer* child) noexcept {
  return guard(__func__, [&] {
    Layer& l = deref(layer, "layer");
    required(child, "child");
    giveHandle(child, Ref<Layer>::share(&childAt(l, textOf(path, "path"))));
  });
}

TenonErrorCode TenonLayerGetChildCount(TenonLayer layer, int* count) noexcept {
  return guard(__func__, [&] {
    const Layer& l = deref(layer, "layer");
    required(count, "count") = static_cast<int>(l.children().size());
  });
}

TenonErrorCode TenonLayerGetParameterAt(TenonLayer layer, const char* path,
                                        TenonDTensor* parameter) noexcept {
  return guard(__func__, [&] {
    Layer& l = deref(layer, "layer");
    required(parameter, "parameter");
    // expose() marks the parameter: the caller can write its values at any time, so each use
    // converts the values again to the layout that the layer needs.
    giveHandle(parameter, parameterAt(l, textOf(path, "path")).expose());
  });
}
