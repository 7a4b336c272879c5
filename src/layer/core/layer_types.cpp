// SPDX-License-Identifier: BSD-2-Clause
// The types of layers by name, and what sets each up. Most are one local kernel between conversions,
// for which one maker serves; the others make the kernels of a list of maps of their own. The table
// is that of the declarations (types.inc), so a type cannot be in one and not in the other.
#include "layer/core/layer_types.hpp"

#include "declaration/core/types.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/setup.hpp"
#include "layer/types/shell.hpp"
#include "machine/link.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

std::string composedFacts(const Setup& setup) {
  const BoundMaps& maps = setup.maps();
  const Layout& input = setup.inputs().front();
  const Grid& grid = input.grid();
  return fmt::format("  process grid {}, signature {}\n", grid.describe(), setup.signature()) +
         viewLine("input", input, maps.conversionFrom(maps.list().inputs().front()), grid) +
         viewLine("output", setup.output(), grid);
}

} // namespace

std::unique_ptr<Setup> setUpComposed(Layer& layer, const Form& form, const MakeKernel& make) {
  return std::make_unique<Setup>(BoundMaps(layer, form, make), form.signature.describe(),
                                 composedFacts);
}

namespace {

// The values that each kernel reads.
std::vector<std::vector<ValueId>> valuesRead(const MapList& list) {
  std::vector<std::vector<ValueId>> values;
  for (const Map& map : list.maps())
    if (map.kind == Map::Kind::Kernel)
      values.push_back(map.x);
  return values;
}

// The value that the caller gives at the boundary: an input that no kernel reads, or a constant;
// kNoValue where there is neither.
ValueId boundaryOf(const MapList& list, std::size_t inputsRead) {
  if (list.inputs().size() > inputsRead)
    return list.inputs()[inputsRead];
  for (ValueId v = 0; v < static_cast<ValueId>(list.values().size()); ++v)
    if (list.values()[v].place == Value::Place::Constant)
      return v;
  return kNoValue;
}

std::string kernelFacts(const Setup& setup) {
  const BoundMaps& maps = setup.maps();
  const MapList& list = maps.list();
  const Grid& grid = setup.output().grid();
  const std::vector<std::vector<ValueId>> read = valuesRead(list);
  const std::vector<ValueId>& inputs = read.front();
  std::string text = fmt::format("  process grid {}, signature {}, {}\n", grid.describe(),
                                 setup.signature(), maps.kernels().front().kernel->describe());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    text += viewLine(inputs.size() == 1 ? "input" : fmt::format("input {}", i), setup.inputs()[i],
                     maps.conversionTo(inputs[i]), grid);
  if (const ValueId boundary = boundaryOf(list, inputs.size()); boundary != kNoValue)
    text += viewLine("boundary values", list.values()[boundary].layout,
                     maps.conversionFrom(boundary), grid);
  for (std::size_t s = 1; s < read.size(); ++s)
    text += fmt::format("  strip {} of the output, computed after its halo exchange: {}\n", s - 1,
                        trafficText(*maps.conversionTo(read[s].front())));
  for (const auto& use : *maps.kernels().front().uses)
    if (const LinearOp* conversion = use->conversion())
      text += viewLine(use->parameter().name(), conversion->domain(), conversion, grid);
  const LinearOp* sum = maps.conversionTo(list.output());
  return text + viewLine("output", setup.output(), grid,
                         sum ? "   addends of neighbours: " + trafficText(*sum) : "");
}

// The seconds of one more kernel call, with what oneDNN does around it.
constexpr double kStripSeconds = 1e-5;

// The most that pieces can save: the interior waits neither for the copy of the largest part nor for
// a message.
double secondsSaved(const Layout& plain, Index cellBytes) {
  Index most = 1;
  for (int d = 0; d < plain.rank(); ++d) {
    Index widest = 0;
    for (int part = 0; part < plain.parts(d); ++part)
      widest = std::max(widest, plain.owned(d, part).size());
    most *= widest;
  }
  const LinkRates rates = LinkRates::fromOptions();
  return rates.latency + double(most * cellBytes) / rates.copyBandwidth;
}

// In pieces where the user says so, or where that is predicted to save time.
Form chosenForm(const Layer& layer, const Layouts& inputs) {
  const Declaration& declaration = layer.declaration();
  const bool canOverlap = declaration.settings().has("overlap");
  const std::string asked = canOverlap ? declaration.value<std::string>("overlap") : "off";
  // What pieces save was measured on the host.
  if (asked == "off" || (asked == "auto" && layer.space() == Space::Device))
    return layer.form(inputs);
  Form form = layer.form(inputs, true);
  const std::size_t strips = form.pieces.empty() ? 0 : form.pieces.size() - 1;
  const bool saves = strips > 0 && secondsSaved(form.uses.front(), dataTypeSize(layer.dataType())) >
                                       double(strips) * kStripSeconds;
  return asked == "on" || saves || strips == 0 ? form : layer.form(inputs);
}

} // namespace

std::unique_ptr<Setup> setUpKernel(Layer& layer, const Layouts& inputs, KernelMaker make) {
  const Form form = chosenForm(layer, inputs);
  const int here = form.output.grid().position(layer.comm()->rank());
  const auto kernel = [&](int k, const Sources&) {
    return madeFor(layer,
                   [&] { return make(layer, form, form.useOf(k), form.outputsOf(k, here)); });
  };
  return std::make_unique<Setup>(BoundMaps(layer, form, kernel), form.signature.describe(),
                                 kernelFacts);
}

namespace {

template <KernelMaker make>
std::unique_ptr<Setup> setUpWith(Layer& layer, const Layouts& inputs) {
  return setUpKernel(layer, inputs, make);
}

struct KnownType {
  const char* name;
  std::unique_ptr<Setup> (*setUp)(Layer& layer, const Layouts& inputs);
};
#define TENON_SET_UP_KERNEL(Name) setUpWith<make##Name##Kernel>
#define TENON_SET_UP_COMPOSED(Name) setUp##Name
#define TENON_LAYER_TYPE(name, Name, kind) {#name, TENON_SET_UP_##kind(Name)},
constexpr KnownType kKnownTypes[] = {
#include "declaration/core/types.inc"
};
#undef TENON_LAYER_TYPE
#undef TENON_SET_UP_COMPOSED
#undef TENON_SET_UP_KERNEL

void addOwnTypes(TypeRegistry<LayerMaker>& types) {
  const auto add = [&](const std::string& name, const SetUpFunction& setUp) {
    types.add(name, [=](CommPtr comm) {
      return makeRef<Layer>(std::move(comm), makeDeclaration(name), setUp);
    });
  };
  for (const KnownType& known : kKnownTypes)
    add(known.name, known.setUp);
  for (const std::string& name : pointwiseNames())
    add(name, setUpWith<makePointwiseKernel>);
  types.add("shell", [](CommPtr comm) { return makeShell(std::move(comm), "shell"); });
}

} // namespace

TypeRegistry<LayerMaker>& layerTypes() {
  static TypeRegistry<LayerMaker>* types = [] {
    auto* made = new TypeRegistry<LayerMaker>("layer type");
    addOwnTypes(*made);
    return made;
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
