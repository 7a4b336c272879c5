// SPDX-License-Identifier: BSD-2-Clause
// The text of a set-up in views: layouts on the process grid, communication, and arrays that calls
// copy. For a convolution in double precision whose rows (dimension 2) are split over 4 processes:
//
//   process grid 4, signature h, backend blas (...)
//   input   [1,1,16,6] S2 + halo of 1 in dim 2: at most 2 messages, 96 B per rank; 288 B total
//   output  [1,8,16,6] S2
//
// The text is derived from the map list (the layer as a program of communication operators and
// kernels on numbered values) alone, so layer types need no code for it. FactsText walks from each
// input through the operators to the first kernel. In a network each layer prints its own lines.
// The functions are declared in setup.hpp.
#include "layer/core/layer.hpp"
#include "layer/core/setup.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// The first map that reads a value, or null.
const Map* readerOf(const MapList& list, ValueId v) {
  const auto reads = [v](const Map& map) {
    return std::find(map.x.begin(), map.x.end(), v) != map.x.end();
  };
  const auto map = std::find_if(list.maps().begin(), list.maps().end(), reads);
  return map == list.maps().end() ? nullptr : &*map;
}

// The first map that writes a value, or null.
const Map* writerOf(const MapList& list, ValueId v) {
  const auto map = std::find_if(list.maps().begin(), list.maps().end(),
                                [v](const Map& map) { return map.y == v; });
  return map == list.maps().end() ? nullptr : &*map;
}

// Whether a kernel, or a copy for a kernel, reads the value.
bool isReadByKernel(const MapList& list, ValueId v) {
  return std::ranges::any_of(list.maps(), [&](const Map& map) {
    return map.kind != Map::Kind::Operator && std::ranges::count(map.x, v) > 0;
  });
}

std::string numbered(std::size_t number, std::size_t count, const char* what = "input") {
  return count == 1 ? what : fmt::format("{} {}", what, number);
}

std::string gridText(const Grid& grid) {
  return "  process grid " + grid.describe();
}

// Collects the lines about layouts and communication of a layer.
class FactsText {
public:
  FactsText(const BoundMaps& maps, const std::string& signature)
      : maps_(maps), list_(maps_.list()), output_(list_.values()[list_.output()].layout),
        grid_(output_.grid()),
        text_(gridText(grid_) + (signature.empty() ? "" : ", signature " + signature)) {}

  std::string layer() {
    addKernels();
    addInputs();
    addMoves();
    addIndexMaps();
    addParameters();
    return text_ +
           viewLine("output", output_, grid_,
                    toOutput_ ? "   sum of contributions: " + trafficText({toOutput_}) : "");
  }

private:
  // Kernels of a layer's pieces have equal texts, which are printed once.
  void addKernels() {
    std::vector<std::string> texts;
    for (const BoundKernel& bound : maps_.kernels())
      if (const std::string kernelText = bound.kernel->describe();
          std::find(texts.begin(), texts.end(), kernelText) == texts.end())
        texts.push_back(kernelText);
    if (texts.size() == 1)
      text_ += ", " + texts.front();
    text_ += '\n';
    if (texts.size() > 1)
      text_ += fmt::format("  kernels {}\n", fmt::join(texts, "; "));
  }

  // The operators that an input passes through before a kernel reads it, in order; none if the
  // kernel reads the input in place.
  struct Route {
    Passage toUse;
    bool isBoundary = false; // the input holds boundary values, not data
  };
  Route routeOf(ValueId v) {
    Route route;
    route.isBoundary = !readerOf(list_, v);
    while (!isReadByKernel(list_, v)) {
      const Map* map = readerOf(list_, v);
      if (!map)
        break;
      const OperatorKind kind = list_.operators()[map->object].kind;
      route.isBoundary |=
          kind == OperatorKind::BoundaryValues || kind == OperatorKind::BoundaryNumber;
      if (route.isBoundary)
        break;
      mapsOnRoutes_.push_back(map);
      if (const LinearOp* conversion = maps_.redistributionOf(*map))
        route.toUse.push_back(conversion);
      v = map->y;
    }
    return route;
  }

  void addInputs() {
    std::vector<std::pair<ValueId, Route>> data, boundary;
    for (ValueId v : list_.inputs()) {
      const Route route = routeOf(v);
      (route.isBoundary ? boundary : data).emplace_back(v, route);
    }
    for (ValueId v = 0; v < static_cast<ValueId>(list_.values().size()); ++v)
      if (list_.values()[v].place == Value::Place::Constant)
        boundary.emplace_back(v, routeOf(v));
    for (std::size_t i = 0; i < data.size(); ++i)
      addLine(numbered(i, data.size()), data[i].first, data[i].second.toUse);
    for (const auto& [v, route] : boundary)
      addLine("boundary values", v, route.toUse);
  }

  void addIndexMaps() {
    for (const OperatorEntry& entry : list_.operators())
      if (entry.map || entry.rule)
        text_ += fmt::format(
            "  {}{}\n", entry.kind == OperatorKind::IndexSum ? "transpose of " : "",
            entry.map ? entry.map->describe() : "links: " + entry.rule->links->describe());
  }

  // The communication that addInputs() has not printed: halo exchanges for parts of the output
  // (strips) that are computed separately, conversions between kernels, and those to the output.
  void addMoves() {
    int strips = 0;
    for (const Map& map : list_.maps()) {
      if (map.kind != Map::Kind::Operator ||
          std::find(mapsOnRoutes_.begin(), mapsOnRoutes_.end(), &map) != mapsOnRoutes_.end())
        continue;
      const LinearOp* conversion = maps_.redistributionOf(map);
      if (!conversion)
        continue;
      const Map* writer = writerOf(list_, map.x.front());
      if (map.y == list_.output())
        toOutput_ = conversion;
      else if (!writer)
        text_ += fmt::format("  strip {} of the output, computed after its halo exchange: {}\n",
                             strips++, trafficText({conversion}));
      else if (writer->kind == Map::Kind::Kernel)
        addLine(list_.kernels()[writer->object].name, map.x.front(), {conversion});
    }
  }

  void addParameters() {
    if (maps_.kernels().empty())
      return;
    for (const auto& use : *maps_.kernels().front().uses)
      if (const LinearOp* conversion = use->conversion())
        text_ += viewLine(use->parameter().name(), conversion->domain(), {conversion}, grid_);
  }

  void addLine(const std::string& label, ValueId v, const Passage& toUse) {
    text_ += viewLine(label, list_.values()[v].layout, toUse, grid_);
  }

  const BoundMaps& maps_;
  const MapList& list_;
  const Layout& output_;
  const Grid& grid_;
  std::string text_;
  std::vector<const Map*> mapsOnRoutes_; // operators that addInputs() has printed
  const LinearOp* toOutput_ = nullptr;   // the conversion that sums contributions to the output
};

} // namespace

std::string describeLayer(const BoundMaps& maps, const std::string& signature) {
  return FactsText(maps, signature).layer();
}

std::string describeNetwork(const Layouts& inputs, const Layouts& outputs, const Setup* setup) {
  const Grid& grid = outputs.front().grid();
  std::string text = gridText(grid) + '\n';
  for (std::size_t i = 0; i < inputs.size(); ++i)
    text += viewLine(numbered(i, inputs.size()), inputs[i], grid);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    text += viewLine(numbered(i, outputs.size(), "output"), outputs[i], grid);
  if (!setup)
    return text;
  // Kernels that replace those of several layers.
  const BoundMaps& maps = setup->maps();
  for (const Map& map : maps.list().maps())
    if (map.kind == Map::Kind::Kernel && maps.list().kernels()[map.object].fused)
      text += fmt::format("  {} with the layers around it: {}\n", maps.layerOf(map).title(),
                          maps.kernel(map.object).kernel->describe());
  return text;
}

// The name of an argument, such as "input 1" or "output cotangent".
std::string Setup::role(ValueId argument, bool cotangents) const {
  std::string name;
  const auto find = [&](const std::vector<ValueId>& values, const char* what) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] == argument)
        name = values.size() == 1 ? what : fmt::format("{} {}", what, i);
  };
  find(maps_.list().inputs(), "input");
  find(maps_.list().outputs(), "output");
  return cotangents ? name + " cotangent" : name;
}

// Lines about the arguments of the caller that the pass copies because kernels need them
// contiguous.
std::string Setup::copiesText(const PassTensors& of, const char* call, bool cotangents) const {
  const MapList& list = maps_.list();
  std::string text;
  for (std::size_t i = 0; i < of.staged.size(); ++i) {
    const ValueId argument = of.pass.values[of.staged[i]].sharesMemoryOf;
    if (of.pass.values[argument].place != Value::Place::Argument)
      continue;
    ValueId argumentOfList = kNoValue;
    const auto find = [&](const std::vector<ValueId>& passValues,
                          const std::vector<ValueId>& listValues) {
      for (std::size_t k = 0; k < passValues.size(); ++k)
        if (passValues[k] == argument)
          argumentOfList = listValues[k];
    };
    find(of.pass.inputs, list.inputs());
    find(of.pass.outputs, list.outputs());
    text += of.copies[i].describe(call, role(argumentOfList, cotangents).c_str(), "strided array");
  }
  return text;
}

std::string Setup::describe() const {
  std::string text;
  if (passes_.empty())
    return text;
  text += copiesText(*lastApply_, "Apply", /*cotangents=*/false);
  for (const Saved& saved : saved_) {
    const ValueId sharesMemoryOf = passes_.front().apply.pass.values[saved.value].sharesMemoryOf;
    text += saved.copy.describe(
        "Apply in training",
        role(sharesMemoryOf == kNoValue ? saved.value : sharesMemoryOf, /*cotangents=*/false)
            .c_str(),
        "saved for the adjoint");
  }
  text += copiesText(*lastAdjoint_, "ApplyAdjoint", /*cotangents=*/true);
  if (lastApply_->recorded)
    text += fmt::format("  CUDA graphs: {} in Apply, {} in ApplyAdjoint\n",
                        lastApply_->recorded->count(), lastAdjoint_->recorded->count());
  if (!viewsInDetail())
    return text;
  return text + "  apply\n" + tenon::describe(maps_.list(), passes_.front().apply.pass) +
         "  adjoint\n" + tenon::describe(maps_.list(), passes_.front().adjoints.front().pass);
}

} // namespace tenon
