// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `indexmap`: y = E x, where E is a sparse matrix given by lists
// (geometry/mesh/index_map.hpp), or y = E^T x. For example, x has the nodes of a mesh that this
// rank owns, and y these nodes with copies of nodes of other ranks (ghosts). A row of E has the
// node from which an element is copied, or the weights of an interpolation.
//
// A program sets the map by name, with TenonLayerSetIndexMap(), and the map determines the layouts
// of x and y, that is, the elements that each rank holds. The layer therefore offers no other
// distribution. The index map communicates, without a kernel.
#include "declaration/core/types.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kIndexMap[] = {
    {"index_map", OptionSpec::String, "",
     "name of the index map among those that the program hands over"},
    {"transposed", OptionSpec::Flag, "false",
     "the transpose, which adds elements to those that they were made from"}};

class IndexMapping final : public Declaration {
public:
  IndexMapping() : Declaration("indexmap", kIndexMap) {}
  bool takesLists() const override { return true; }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return elementwiseTable(static_cast<int>(inputs.front().size()), /*linear=*/true);
  }
  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const IndexMapPtr map = this->map();
    const auto [from, to] = map->layoutsOf(withoutJoint(*map, inputs.front()));
    return (flag("transposed") ? from : to).shape();
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    if (!choice.labels.empty())
      throw Error(TENON_ERR_OPTION,
                  fmt::format("{} does not take a signature, but \"{}\" was set; its layouts are "
                              "those of its map",
                              title(), choice.labels));
    const Layout& input = inputs.front();
    const Layout output = outputFor(input);
    return {.signature = Signature::following(rows({input.shape()}), output),
            .inputs = inputs,
            .uses = {input},
            .output = output};
  }
  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const ValueId x = list.input("x", form.inputs.front());
    list.applyMap(map(), flag("transposed"), x, list.output("y", form.output));
    return list;
  }
  std::string summary() const override {
    return fmt::format("{}{}", flag("transposed") ? "transpose of " : "", map()->describe());
  }

private:
  IndexMapPtr map() const {
    const std::string name = text("index_map");
    if (IndexMapPtr map = lists().map(name))
      return map;
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no index map{}; call TenonLayerSetIndexMap() of it or of a "
                            "network that contains it",
                            title(), name.empty() ? "" : fmt::format(" \"{}\"", name)));
  }
  Layout outputFor(const Layout& input) const {
    const IndexMapPtr map = this->map();
    if (!flag("transposed"))
      return map->rangeFor(input);
    // The transpose leads from the dual of the range to the dual of the domain: in a dual layout,
    // ghosts are contributions, which are added to the elements that were copied.
    const Layout domain = map->domainFor(input.dual());
    return domain.dual();
  }
  // A tensor's shape without the extents of the map's own dimensions, which layoutsOf() replaces.
  static Shape withoutJoint(const IndexMap& map, Shape shape) {
    for (int d : map.jointDims())
      shape[static_cast<std::size_t>(d)] = 0;
    return shape;
  }
};

} // namespace

std::unique_ptr<Declaration> declareIndexMapping() {
  return std::make_unique<IndexMapping>();
}

} // namespace tenon
