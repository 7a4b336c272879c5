// SPDX-License-Identifier: BSD-2-Clause
// Registers the layer types by name, and sets up layers. types.inc is included here and in the
// declarations, so each type has both a declaration and a function make<Name>Kernel, which creates
// the kernels of the type's map list one by one. Most types have a single kernel.
#include "layer/core/layer_types.hpp"

#include "declaration/core/pieces.hpp"
#include "declaration/core/types.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/setup.hpp"
#include "layer/networks/model.hpp"
#include "layer/types/shell.hpp"
#include "machine/link.hpp"
#include "sys/errors/error.hpp"
#include "sys/memory/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The form (layouts of all arrays) with which the layer runs: with its output in one piece, or in
// pieces that overlap the halo exchange. The rates of the links are used to predict which is
// faster.
Form chosenForm(const Layer& layer, const Layouts& inputs, const NodeChoice* choice,
                const std::optional<Layout>& computedHalo) {
  std::optional<PieceRates> rates;
  if (const LinkRates links = LinkRates::fromOptions(); layer.space() == Space::Host)
    rates = {links.latency, links.copyBandwidth};
  return formThatRuns(
      layer.declaration(), dataTypeSize(layer.dataType()), rates,
      [&](bool inPieces) { return layer.form(inputs, choice, inPieces, computedHalo); });
}

// The bytes of this rank's array of a tensor in the layout.
double bytesOf(const Layout& layout, int rank, Index elementBytes) {
  double bytes = static_cast<double>(elementBytes);
  for (const Interval& side : layout.boxOfRank(rank))
    bytes *= static_cast<double>(side.size());
  return bytes;
}

// Throws if an array would not fit into the memory of the machine. This is checked before kernels
// are created, because they allocate index lists with an entry per element before any tensor.
void checkMemory(const Layer& layer, const Form& form) {
  const int rank = layer.comm()->rank();
  const auto machineBytes = static_cast<double>(machineMemory());
  const auto check = [&](const char* what, const Layout& layout) {
    if (const double bytes = bytesOf(layout, rank, dataTypeSize(layer.dataType()));
        bytes > machineBytes)
      throw Error(
          TENON_ERR_MEMORY,
          fmt::format("{} of {} would have {:.4g} GB on rank {}, of a tensor of shape [{}]; "
                      "this machine has {:.4g} GB: check the settings, or use more processes",
                      what, layer.title(), bytes / 1e9, rank, fmt::join(layout.shape(), ","),
                      machineBytes / 1e9));
  };
  for (const Layout& use : form.uses)
    check("an input", use);
  check("the output", form.output);
  for (const ParameterForm& parameter : form.parameters)
    check("a parameter", parameter.use);
}

} // namespace

std::unique_ptr<Setup> setUpMaps(Layer& layer, const Layouts& inputs, const NodeChoice* choice,
                                 const std::optional<Layout>& computedHalo, KernelMaker make) {
  const Form form = chosenForm(layer, inputs, choice, computedHalo);
  checkMemory(layer, form);
  return std::make_unique<Setup>(BoundMaps(layer, form, make, choice && choice->recomputes),
                                 form.signature.describe());
}

namespace {

// The types of the library by name.
struct KnownType {
  const char* name;
  KernelMaker make; // null for types without kernels
};
#define TENON_LAYER_TYPE(name, Name) {#name, make##Name##Kernel},
#define TENON_TYPE_WITHOUT_KERNELS(name, Name) {#name, nullptr},
constexpr KnownType kKnownTypes[] = {
#include "declaration/core/types.inc"
};
#undef TENON_TYPE_WITHOUT_KERNELS
#undef TENON_LAYER_TYPE

void addOwnTypes(TypeRegistry<LayerMaker>& types) {
  const auto add = [&](const std::string& name, KernelMaker make) {
    types.add(name, [=](CommPtr comm) {
      return makeRef<Layer>(std::move(comm), makeDeclaration(name), make);
    });
  };
  for (const KnownType& known : kKnownTypes)
    add(known.name, known.make);
  for (const std::string& name : pointwiseNames())
    add(name, makePointwiseKernel);
  types.add("model", makeModel);
  types.add("shell", [](CommPtr comm) { return makeShell(std::move(comm), "shell"); });
}

} // namespace

// All types, also those that a program registers. The registry is never destroyed, because layers
// can exist until the program ends.
TypeRegistry<LayerMaker>& layerTypes() {
  static TypeRegistry<LayerMaker>* types = [] {
    auto* registry = new TypeRegistry<LayerMaker>("layer type");
    addOwnTypes(*registry);
    return registry;
  }();
  return *types;
}

Ref<Layer> makeLayer(CommPtr comm, const std::string& type) {
  return layerTypes().find(type)(std::move(comm));
}

Backend backendOf(const Layer& layer) {
  return parseBackend(layer.declaration().value<std::string>("backend"));
}

Backend resolvedBackend(const Layer& layer) {
  return visitFloating(layer.dataType(), [&]<class T>(T) {
    return resolveBackend<T>(backendOf(layer), layer.space());
  });
}

} // namespace tenon
